/** How many messages the phone sends for what it gets: PROTOCOL.md sections 4.6 and 6.1. */
import { expect, test } from "vitest";
import { SimulatedSessions } from "../../testing/simulation/simulated-sessions.ts";

const MBIT = 1_000_000;
const BODY_BYTES = 60_000;

/** Of two megabytes in bodies that were asked for at once, on connections that have carried as much before. */
function messagesUp(rate: number, roundTrip: number, channels: number): number {
  const link = { rate, delay: roundTrip / 2, queueBytes: 300_000 };
  const simulation = new SimulatedSessions({ down: link, congestion: "bbr", channels });
  const { time, phone } = simulation;
  const load = (): void => {
    const bodies = Array.from({ length: 35 }, () => simulation.request(BODY_BYTES));
    time.runTo(time.now() + 60_000, () => bodies.every(({ endAt }) => endAt !== null));
    expect(bodies.every(({ bytes }) => bytes === BODY_BYTES)).toBe(true);
  };
  load();
  const before = phone.channels.traffic.messagesUp;
  load();
  return phone.channels.traffic.messagesUp - before;
}

test.each([
  ["LTE", 12 * MBIT, 70, 450],
  ["3G", 1.6 * MBIT, 300, 800],
  ["a satellite", 20 * MBIT, 600, 160],
])("are some hundred for a page, whatever the number of channels (%s)", (_name, rate, roundTrip, most) => {
  for (const channels of [1, 3, 5]) expect(messagesUp(rate, roundTrip, channels)).toBeLessThan(most);
});
