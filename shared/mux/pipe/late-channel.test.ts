/** A channel that joins in the middle of a page: PROTOCOL.md section 4.6. */
import { expect, test } from "vitest";
import { type SimulatedResponse, SimulatedSessions } from "../../testing/simulation/simulated-sessions.ts";

const PICTURES = 150;

/** Milliseconds that a document and its small pictures take in an app that was closed. @param joins in round trips. */
function load(delay: number, joins: readonly number[]): number {
  const link = { rate: 20e6, delay, queueBytes: 1_500_000 };
  const simulation = new SimulatedSessions({ down: link, up: link, congestion: "bbr" });
  const { time } = simulation;
  for (const [index, at] of joins.entries()) time.in(at * 2 * delay, () => simulation.connect(index + 1));
  const document = simulation.request(9_000, { urgency: 0, incremental: true });
  let pictures: SimulatedResponse[] | null = null;
  time.runTo(60_000, () => {
    if (pictures === null && document.endAt !== null) {
      pictures = Array.from({ length: PICTURES }, () => simulation.request(1_517));
    }
    return pictures?.every(({ endAt }) => endAt !== null) ?? false;
  });
  if (time.now() >= 60_000) throw new Error("The page has not ended within a minute");
  return time.now();
}

test.each([
  ["3G", { rate: 1.6e6, delay: 150, queueBytes: 128_000 }],
  ["1 Mbit/s, RTT 600 ms", { rate: 1e6, delay: 300, queueBytes: 200_000 }],
])("makes no queue before what is urgent (%s)", (_name, link) => {
  const roundTrip = 2 * link.delay;
  for (const joins of [[2.5], [2, 3, 4, 5], [3, 4, 5, 6]]) {
    const simulation = new SimulatedSessions({ down: link, up: link, congestion: "bbr" });
    const { time } = simulation;
    for (const [index, at] of joins.entries()) time.in(at * roundTrip, () => simulation.connect(index + 1));
    const document = simulation.request(9_000, { urgency: 0, incremental: true });
    let pictures: SimulatedResponse[] | null = null;
    const styles: SimulatedResponse[] = [];
    for (const at of [4, 5, 6, 7, 9]) {
      time.in(at * roundTrip, () => styles.push(simulation.request(5_000, { urgency: 0, incremental: false })));
    }
    time.runTo(60_000, () => {
      if (document.endAt !== null) pictures ??= Array.from({ length: 40 }, () => simulation.request(20_000));
      return styles.length === 5 && [...styles, ...(pictures ?? [])].every(({ endAt }) => endAt !== null);
    });
    for (const { askedAt, endAt } of styles) {
      expect(((endAt ?? Number.NaN) - askedAt) / roundTrip, `joining after ${joins.join(", ")}`).toBeLessThan(4);
    }
  }
});

test.each([100, 200, 300])("gets no more than it can bring while the others grow (%i ms one way)", (delay) => {
  const alone = load(delay, []);
  for (const joins of [[2.2], [2.5], [3], [3.2], [3.4], [3.6], [3.8], [4], [2, 3], [3, 4], [2, 3, 4, 5]]) {
    expect(load(delay, joins) / alone, `joining after ${joins.join(", ")} round trips`).toBeLessThan(1.07);
  }
});
