import { expect, it, vi } from "vitest";
import { ErrorCode, RopewayError } from "../../../../shared/errors.ts";
import { responseHead } from "../../../../shared/testing/http/exchange-rig.ts";
import { onceDecoded } from "./edge-questions.ts";

const errorOf = (code: ErrorCode) => new RopewayError(code, "stream", "peer", "Cannot go on: a test");

function rig() {
  const heard: string[] = [];
  const again = vi.fn();
  const consumer = onceDecoded(
    responseHead,
    {
      onHead: ({ status }) => void heard.push(`head ${status}`),
      onBody: (chunk) => void heard.push(`${chunk.length} bytes`),
      onEnd: () => void heard.push("end"),
      onError: ({ code }) => void heard.push(`error ${code}`),
    },
    again,
  );
  consumer.onHead(responseHead);
  return { heard, again, consumer };
}

it("tells of the head with the first bytes, or with the end", () => {
  const body = rig();
  expect(body.heard).toEqual([]);
  void body.consumer.onBody(new Uint8Array(2));
  void body.consumer.onBody(new Uint8Array(3));
  body.consumer.onEnd();
  expect(body.heard).toEqual(["head 200", "2 bytes", "3 bytes", "end"]);
  const empty = rig();
  empty.consumer.onEnd();
  expect(empty.heard).toEqual(["head 200", "end"]);
});

it("has it asked for anew what cannot be decoded from its beginning on, and only that", () => {
  const broken = rig();
  broken.consumer.onError(errorOf(ErrorCode.COMPRESSION_ERROR));
  expect([broken.heard, broken.again.mock.calls.length]).toEqual([[], 1]);
  const late = rig();
  void late.consumer.onBody(new Uint8Array(2));
  late.consumer.onError(errorOf(ErrorCode.COMPRESSION_ERROR));
  expect([late.heard.at(-1), late.again.mock.calls.length]).toEqual([`error ${ErrorCode.COMPRESSION_ERROR}`, 0]);
  const lost = rig();
  lost.consumer.onError(errorOf(ErrorCode.LINK_LOST));
  expect([lost.heard, lost.again.mock.calls.length]).toEqual([[`error ${ErrorCode.LINK_LOST}`], 0]);
});
