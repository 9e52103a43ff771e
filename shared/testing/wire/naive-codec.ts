/** The codec of PROTOCOL.md sections 2 and 3 once more, written for obviousness: what the fast one is tested against. */
import type { EncodableFrame } from "../mux/scripted-transport.ts";

/** RFC 9000 section 16, by big integers. */
export function naiveVarint(value: number): number[] {
  const [prefix, length] =
    value < 2 ** 6
      ? ([0n, 1] as const)
      : value < 2 ** 14
        ? ([1n, 2] as const)
        : value < 2 ** 30
          ? ([2n, 4] as const)
          : ([3n, 8] as const);
  const whole = (prefix << BigInt(length * 8 - 2)) | BigInt(value);
  return Array.from({ length }, (_, index) => Number((whole >> BigInt(8 * (length - 1 - index))) & 0xffn));
}

export function naiveFrame(frame: EncodableFrame): number[] {
  switch (frame.type) {
    case "data":
      return join(0, frame.end ? 1 : 0, frame.streamId, [...frame.payload]);
    case "stripe":
      return join(0, frame.end ? 3 : 2, frame.streamId, [
        ...naiveVarint(frame.home),
        ...naiveVarint(frame.offset),
        ...frame.payload,
      ]);
    case "head": {
      const { urgency, incremental } = frame.priority;
      const isDefault = urgency === 3 && !incremental;
      const payload = isDefault ? [...frame.block] : [urgency * 2 + (incremental ? 1 : 0), ...frame.block];
      return join(1, (frame.end ? 1 : 0) + (isDefault ? 0 : 2), frame.streamId, payload);
    }
    case "reset":
      return join(2, 0, frame.streamId, [...naiveVarint(frame.code), ...new TextEncoder().encode(frame.message)]);
    case "credit":
      return join(3, 0, frame.streamId, naiveVarint(frame.increment));
    case "settings":
      return join(
        4,
        0,
        0,
        frame.entries.flatMap(([id, value]) => [...naiveVarint(id), ...naiveVarint(value)]),
      );
    case "go-away": {
      const message = [...new TextEncoder().encode(frame.message)];
      return join(5, 0, 0, [...naiveVarint(frame.lastStreamId), ...naiveVarint(frame.code), ...message]);
    }
    case "priority":
      return join(6, 0, frame.streamId, [frame.priority.urgency * 2 + (frame.priority.incremental ? 1 : 0)]);
    case "hello":
      return join(8, frame.resume ? 1 : 0, 0, [
        ...frame.sessionId,
        ...naiveVarint(frame.received),
        ...naiveVarint(frame.next),
        ...naiveVarint(frame.link),
      ]);
    case "carry":
      return join(12, 0, frame.channel, naiveVarint(frame.link));
    case "ack":
      return join(9, 0, 0, naiveVarint(frame.received));
    case "ping":
      return join(10, 0, 0, naiveVarint(frame.token));
    case "pong":
      return join(11, 0, 0, naiveVarint(frame.token));
  }
}

function join(type: number, flags: number, streamId: number, payload: readonly number[]): number[] {
  return [type * 16 + flags, ...naiveVarint(streamId), ...naiveVarint(payload.length), ...payload];
}
