import { Random } from "../random.ts";
import { type SimulatedResponse, SimulatedSessions, type SimulationSettings } from "./simulated-sessions.ts";

export interface PageLoadSettings extends Omit<SimulationSettings, "channels"> {
  /** A fixed number from the start, or null for what the session asks for as it goes. */
  readonly channels: number | null;
}

const DOCUMENT_BYTES = 40_000;
/** Round trips that TCP, TLS and WebSocket take before a channel is there. */
const HANDSHAKE_ROUND_TRIPS = 3;

/** Bytes of 65 subresources, as random as those of pages are: about 1.8 MB. */
export function randomPage(seed: number): number[] {
  const random = new Random(seed);
  return Array.from({ length: 65 }, () => Math.round(3000 * Math.exp((3.6 * random.uint32()) / 2 ** 32)));
}

/**
 * The first page of a sitting, in an app that has been open for a while: a document, and its subresources as soon as a
 * fifth of it is there.
 *
 * @returns milliseconds until all of it is there.
 */
export function loadPage({ channels, ...settings }: PageLoadSettings, subresources: readonly number[]): number {
  const simulation = new SimulatedSessions(channels === null ? settings : { ...settings, channels });
  const { time, phone } = simulation;
  let opened = channels ?? 1;
  const open = (): void => {
    while (channels === null && opened < phone.wantedChannels) {
      const index = opened++;
      time.in(HANDSHAKE_ROUND_TRIPS * 2 * settings.down.delay, () => simulation.connect(index));
    }
  };
  simulation.request(400);
  time.runTo(2000);
  open();
  time.runTo(10_000);
  const document = simulation.request(DOCUMENT_BYTES, { urgency: 0, incremental: true });
  let others: SimulatedResponse[] | null = null;
  const started = time.now();
  time.runTo(started + 600_000, () => {
    open();
    if (others === null && document.bytes > DOCUMENT_BYTES / 5)
      others = subresources.map((size) => simulation.request(size));
    return document.endAt !== null && (others?.every(({ endAt }) => endAt !== null) ?? false);
  });
  return time.now() - started;
}
