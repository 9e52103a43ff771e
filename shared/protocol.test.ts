/** PROTOCOL.md says what the code does: its codes, its examples, the limits that it names. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { ErrorCode } from "./errors.ts";
import { fieldsToRequest, requestToFields } from "./http/head-fields.ts";
import type { RequestHead } from "./http/heads.ts";
import * as limits from "./limits.ts";
import { SUBPROTOCOL } from "./subprotocol.ts";
import { DEFAULT_PRIORITY, decodeMessage, encodeFrame, FrameType } from "./wire/frame.ts";
import { HpackDecoder } from "./wire/hpack/header-decoder.ts";
import { HpackEncoder } from "./wire/hpack/header-encoder.ts";

const text = readFileSync(new URL("./PROTOCOL.md", import.meta.url), "utf8");

/** Lines of bytes in hexadecimal at the left of a code block. */
const examples = [...text.matchAll(/^((?:[0-9a-f]{2} )+[0-9a-f]{2})(?: {2,}.*)?$/gm)].map((match) =>
  Uint8Array.from((match[1] as string).split(" "), (byte) => Number.parseInt(byte, 16)),
);

const image: RequestHead = {
  method: "GET",
  url: "",
  headers: [["accept", "image/jxl,image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8"]],
  destination: "image",
  mode: "no-cors",
  credentials: "include",
  redirect: "follow",
  referrer: "http://demo.localhost:8788/150/",
  origin: "http://demo.localhost:8788",
  topLevelOrigin: "http://demo.localhost:8788",
};

test("the version is the one that is spoken", () => {
  expect(text).toContain(`version \`${SUBPROTOCOL}\``);
});

test("section 7 has each error code by its number, and no other", () => {
  const rows = [...text.matchAll(/^\| 0x([0-9a-f]{2}) \| ([A-Z_]+) \|/gm)];
  const table = Object.fromEntries(rows.map((row) => [row[2] as string, Number.parseInt(row[1] as string, 16)]));
  expect(table).toEqual({ ...ErrorCode });
});

test("section 3 has each frame type by its number", () => {
  const rows = [...text.matchAll(/^\| (\d+) \| ([A-Z_]+) \| (?:yes|no|see)/gm)];
  expect(Object.fromEntries(rows.map((row) => [row[2] as string, Number(row[1])]))).toEqual({ ...FrameType });
});

test("all limits that it names are in the table", () => {
  const names = new Set([...text.matchAll(/`limits\.(\w+)`/g)].map((match) => match[1] as string));
  expect(names.size).toBeGreaterThan(10);
  expect([...names].filter((name) => !(name in limits))).toEqual([]);
});

test("each example is one frame, as this code writes it", () => {
  expect(examples.length).toBeGreaterThanOrEqual(14);
  for (const bytes of examples) {
    const [frame, ...more] = [...decodeMessage(bytes)];
    expect(more).toEqual([]);
    if (frame === undefined || frame.type === "unknown") throw new Error("Cannot read the example: unknown type");
    expect(encodeFrame(frame)).toEqual(bytes);
  }
});

test("the image requests of section 5.2 are what this code sends and reads", () => {
  const encoder = new HpackEncoder({ maxTableBytes: limits.hpackTableBytes });
  const decoder = new HpackDecoder({
    maxTableBytes: limits.hpackTableBytes,
    maxListBytes: limits.headListBytes,
    maxFields: limits.headFields,
  });
  const [first, later] = examples.slice(-2) as [Uint8Array, Uint8Array];
  for (const [bytes, number, priority] of [
    [first, 1, DEFAULT_PRIORITY],
    [later, 123, { urgency: 5, incremental: true }],
  ] as const) {
    const head = { ...image, url: `http://demo.localhost:8788/150/tile-${number}.png` };
    const block = encoder.encode(requestToFields(head));
    expect(encodeFrame({ type: "head", streamId: 2 * number - 1, end: true, priority, block })).toEqual(bytes);
    expect(text).toContain(`${first.length} bytes and ${later.length}`);
    const [frame] = [...decodeMessage(bytes)];
    expect(frame?.type === "head" && fieldsToRequest(decoder.decode(frame.block))).toEqual(head);
  }
  expect(later.length).toBeLessThan(22);
});
