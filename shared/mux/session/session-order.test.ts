/** What the person waits for overtakes what is large, on a simulated link (issue: "a stylesheet under a download"). */
import { describe, expect, test } from "vitest";
import { SimulatedSessions, type SimulationSettings } from "../../testing/simulation/simulated-sessions.ts";

const MBIT = 1_000_000;
const STYLESHEET_BYTES = 20_000;
const STYLE = { urgency: 1, incremental: false } as const;
const DOWNLOAD = { urgency: 5, incremental: true } as const;

function styleTime(simulation: SimulatedSessions): number {
  const style = simulation.request(STYLESHEET_BYTES, STYLE);
  simulation.time.runTo(simulation.time.now() + 20_000, () => style.endAt !== null);
  return (style.endAt ?? Number.POSITIVE_INFINITY) - style.askedAt;
}

function warm(settings: SimulationSettings): SimulatedSessions {
  const simulation = new SimulatedSessions(settings);
  simulation.request(300_000);
  simulation.time.runTo(20_000);
  return simulation;
}

describe.each([
  ["cubic", 70],
  ["bbr", 70],
  ["cubic", 300],
  ["bbr", 300],
  ["cubic", 600],
  ["bbr", 600],
] as const)("at 1 Mbit/s (%s, %d ms)", (congestion, rtt) => {
  const settings = { down: { rate: MBIT, delay: rtt / 2 }, congestion };

  test("a stylesheet under a download of 20 MB takes 1.5 times as long as alone and a round trip", () => {
    const idle = styleTime(warm(settings));
    const busy = warm(settings);
    const download = busy.request(20_000_000, DOWNLOAD);
    for (const wait of [15_000, 5_000, 5_000]) {
      busy.time.runTo(busy.time.now() + wait);
      expect(styleTime(busy)).toBeLessThan(1.5 * idle + rtt);
    }
    expect(download.endAt).toBeNull();
  });

  test("a download that is asked for with more urgency goes first from then on", () => {
    const simulation = warm(settings);
    const [first, second] = [simulation.request(9_000_000, DOWNLOAD), simulation.request(3_000_000, DOWNLOAD)];
    simulation.time.runTo(simulation.time.now() + 20_000);
    const before = first.bytes;
    simulation.act(() => second.stream.reprioritize(STYLE));
    simulation.time.runTo(simulation.time.now() + 60_000, () => second.endAt !== null);
    // What was under way when it was said still comes.
    expect(first.bytes - before).toBeLessThan(1.5 * (MBIT / 8000) * rtt + 20_000);
  });
});

test("small pages after each other on a warm link wait for no credit", () => {
  const settings = { down: { rate: 12 * MBIT, delay: 300 }, congestion: "fixed", congestionWindow: 1_000_000 } as const;
  const page = (simulation: SimulatedSessions): number => {
    const started = simulation.time.now();
    const images = Array.from({ length: 150 }, () => simulation.request(1517));
    simulation.time.runTo(started + 30_000, () => images.every(({ endAt }) => endAt !== null));
    return simulation.time.now() - started;
  };
  const measured = new SimulatedSessions(settings);
  const fixed = new SimulatedSessions({ ...settings, credit: "fixed" });
  page(measured);
  page(fixed);
  for (let round = 0; round < 3; round += 1) expect(page(measured)).toBeLessThan(1.01 * page(fixed));
});
