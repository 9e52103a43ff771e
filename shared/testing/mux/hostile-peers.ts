import { expect } from "vitest";
import * as limits from "../../limits.ts";
import type { HeaderField } from "../../wire/frame.ts";
import { data, ScriptedPeer } from "./scripted-peer.ts";
import { StreamLog } from "./stream-log.ts";

export const GET: readonly HeaderField[] = [[":method", "GET"]];

export interface Edge extends ScriptedPeer {
  readonly streams: StreamLog[];
}

/** An edge whose phone is played by the test; streams consume nothing unless told to. */
export function edge(consume = false): Edge {
  const streams: StreamLog[] = [];
  const peer = new ScriptedPeer("edge", { onStream: (stream) => streams.push(new StreamLog(stream, consume)) });
  return Object.assign(peer, { streams });
}

/** An edge that has 5,000 bytes to answer to stream 1, which has so much credit. */
export function respondingEdge(credit: number): Edge {
  const peer = edge();
  peer.say({ type: "settings", entries: [[1, credit]] }, peer.head(1, GET));
  const stream = peer.streams[0]?.stream;
  stream?.sendHead([[":status", "200"]], false);
  stream?.write(new Uint8Array(5000)).catch(() => {});
  return peer;
}

/** A phone with one request under way; its edge is played by the test. */
export function phone(): { peer: ScriptedPeer; log: StreamLog } {
  const peer = new ScriptedPeer("phone");
  const log = new StreamLog(peer.session.streams.openNow());
  log.stream.sendHead(GET, true);
  peer.heard();
  return { peer, log };
}

/** How much session credit the phone may still use up: sends on a closed stream, which the edge discards. */
export function creditIsWhole(peer: Edge, streamId: number): void {
  const answers: number[] = [];
  for (let sent = 0; sent < limits.uploadSessionCreditBytes; sent += 16_384) {
    for (const frame of peer.say(data(streamId, 16_384))) if (frame.type === "credit") answers.push(frame.increment);
  }
  expect(peer.errors).toEqual([]);
  expect(answers.reduce((sum, increment) => sum + increment, 0)).toBeGreaterThanOrEqual(
    limits.uploadSessionCreditBytes / 2,
  );
}
