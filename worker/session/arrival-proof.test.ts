import { expect, it } from "vitest";
import * as limits from "../../shared/limits.ts";
import { messageOf, ScriptedTransport } from "../../shared/testing/mux/scripted-transport.ts";
import { decodeMessage } from "../../shared/wire/frame.ts";
import { ArrivalProof, PhoneProofs } from "./served-session.ts";

const STEP = limits.proofStepBytes;
const MESSAGE = messageOf({ type: "data", streamId: 1, end: false, payload: new Uint8Array(32 * 1024) });

/** Sends at least so many bytes. @returns tokens of the PINGs that went along. */
function send(proof: ArrivalProof, bytes: number): number[] {
  const tokens: number[] = [];
  for (let sent = 0; sent < bytes; sent += MESSAGE.length) {
    for (const frame of decodeMessage(proof.mark(MESSAGE))) if (frame.type === "ping") tokens.push(frame.token);
  }
  return tokens;
}

it("asks once a step, by tokens that nobody can guess, and that stay whole on the wire", () => {
  const tokens = send(new ArrivalProof(), 20 * STEP);
  expect(tokens.length).toBeGreaterThanOrEqual(18);
  expect(tokens.length).toBeLessThanOrEqual(20);
  expect(new Set(tokens).size).toBe(tokens.length);
  expect(tokens.every((token) => Number.isSafeInteger(token) && token >= 2 ** 52)).toBe(true);
});

it("an answer proves all that went before its question, and each counts once", () => {
  const proof = new ArrivalProof();
  const [first, second, third] = send(proof, 4 * STEP) as [number, number, number];
  const sent = proof.unproved;
  expect(proof.pong(second)).toBe(true);
  expect(proof.unproved).toBeLessThan(sent - 2 * STEP + 1);
  expect(proof.unproved).toBeGreaterThan(sent - 2 * STEP - 3 * MESSAGE.length);
  const left = proof.unproved;
  // A phone may answer the last of several only; what comes of earlier ones proves nothing any more.
  expect([proof.pong(first), proof.pong(second), proof.pong(1), proof.unproved]).toEqual([false, false, false, left]);
  expect(proof.pong(third)).toBe(true);
});

it("HELLO stays first in its message, and a PING of the session last", () => {
  const proof = new ArrivalProof(STEP);
  const sessionId = new Uint8Array(16);
  const hello = messageOf({ type: "hello", sessionId, received: 0, next: 0, link: 0, resume: false });
  expect(proof.mark(hello)).toEqual(hello);
  const types = [...decodeMessage(proof.mark(messageOf({ type: "ping", token: 7 })))];
  expect(types).toMatchObject([{ type: "ping" }, { type: "ping", token: 7 }]);
});

it("a socket counts against its phone until it ends, through hibernation too", () => {
  const proofs = new PhoneProofs();
  const [lost, restored] = [new ScriptedTransport(), new ScriptedTransport()];
  send(proofs.of(lost), STEP);
  const { unproved } = proofs.of(lost);
  proofs.adopt(restored, STEP);
  expect(proofs.unproved).toBe(unproved + STEP);
  proofs.delete(lost);
  expect(proofs.unproved).toBe(STEP);
  const [token] = send(proofs.of(restored), 1) as [number];
  expect(proofs.of(restored).pong(token)).toBe(true);
  expect(proofs.unproved).toBeLessThan(STEP);
});
