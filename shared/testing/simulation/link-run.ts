import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ErrorCode } from "../../errors.ts";
import { type LinkSample, plotRun } from "./plot-run.ts";
import { SEGMENT_BYTES } from "./simulated-congestion.ts";
import { SimulatedSessions, type SimulationSettings } from "./simulated-sessions.ts";
import { HEADER_BYTES } from "./simulated-tcp.ts";

export interface LinkRun {
  readonly samples: readonly LinkSample[];
  readonly delivered: number;
  /** Gives all downloads up. @returns bytes that still come. */
  abort(): number;
}

export interface LinkRunSettings extends SimulationSettings {
  readonly name: string;
  /** Milliseconds. */
  readonly for: number;
}

const SAMPLE_TIME = 250;
const DOWNLOADS = 3;

/** Downloads without end over a simulated link, sampled. */
export function runLink(settings: LinkRunSettings): LinkRun {
  const simulation = new SimulatedSessions(settings);
  const { time, down } = simulation;
  const downloads = Array.from({ length: DOWNLOADS }, () => simulation.request(1e9, { urgency: 5, incremental: true }));
  const samples: LinkSample[] = [];
  for (let start = 0; start < settings.for; start += SAMPLE_TIME) {
    const before = simulation.delivered;
    let queued = 0;
    let could = 0;
    for (let step = 1; step <= 10; step += 1) {
      could += (down.rate * SAMPLE_TIME) / 10;
      time.runTo(start + (step * SAMPLE_TIME) / 10);
      queued += simulation.queueTime / 10;
    }
    const rtt = 2 * settings.down.delay;
    samples.push({
      time: start + SAMPLE_TIME,
      carried: simulation.delivered - before,
      could: (could * SEGMENT_BYTES) / (SEGMENT_BYTES + HEADER_BYTES),
      queue: queued / rtt,
      window: simulation.phone.receiver.window.size / (down.rate * rtt),
    });
  }
  const directory = process.env.ROPEWAY_PLOTS;
  if (directory !== undefined) {
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, `${settings.name}.svg`), plotRun(settings.name, samples));
  }
  return {
    samples,
    delivered: simulation.delivered,
    abort() {
      const before = simulation.received;
      simulation.act(() => {
        for (const { stream } of downloads) stream.reset(ErrorCode.CANCEL);
      });
      time.runTo(time.now() + 60_000);
      return simulation.received - before;
    },
  };
}
