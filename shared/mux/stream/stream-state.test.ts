import { expect, test } from "vitest";
import { ErrorCode } from "../../errors.ts";
import { thrownBy } from "../../testing/thrown-by.ts";
import { mayReceive, maySend, nextStreamState, type StreamState, type StreamTransition } from "./stream.ts";

const illegal = null;

test.each<[StreamState, StreamTransition, StreamState | null]>([
  ["open", "end-sent", "half-closed-local"],
  ["open", "end-received", "half-closed-remote"],
  ["open", "reset", "closed"],
  ["half-closed-local", "end-sent", illegal],
  ["half-closed-local", "end-received", "closed"],
  ["half-closed-local", "reset", "closed"],
  ["half-closed-remote", "end-sent", "closed"],
  ["half-closed-remote", "end-received", illegal],
  ["half-closed-remote", "reset", "closed"],
  ["closed", "end-sent", illegal],
  ["closed", "end-received", illegal],
  ["closed", "reset", "closed"],
])("%s, %s: %s", (state, transition, next) => {
  if (next !== illegal) {
    expect(nextStreamState(state, transition)).toBe(next);
    return;
  }
  expect(thrownBy(() => nextStreamState(state, transition))).toMatchObject({
    code: ErrorCode.STREAM_CLOSED,
    scope: "stream",
    initiator: transition === "end-sent" ? "user" : "peer",
  });
});

test.each<[StreamState, boolean, boolean]>([
  ["open", true, true],
  ["half-closed-local", false, true],
  ["half-closed-remote", true, false],
  ["closed", false, false],
])("%s: may send %s, may receive %s", (state, sends, receives) => {
  expect(maySend(state)).toBe(sends);
  expect(mayReceive(state)).toBe(receives);
});
