import { describe, expect, test } from "vitest";
import * as limits from "../../shared/limits.ts";
import { decodeMessage, encodeFrame } from "../../shared/wire/frame.ts";
import { setUp } from "../testing/server-rig.ts";
import { WiredPhone } from "../testing/wired-phone.ts";
import { FILLED_BYTES, RestedConnection } from "./served-session.ts";

const PONG = encodeFrame({ type: "pong", token: 1 });

test("what comes first after a rest, for a page, is filled up to a segment; what follows is as it is", () => {
  const connection = new RestedConnection(0);
  connection.expectPage(2_000);
  const filled = connection.fill(PONG, 2_001);
  expect(filled).toHaveLength(FILLED_BYTES);
  expect([...decodeMessage(filled)]).toEqual([
    { type: "pong", token: 1 },
    { type: "unknown", sequenced: false },
  ]);
  expect(connection.fill(PONG, 2_002)).toBe(PONG);
});

test("a message that fills a segment by itself, or lacks too little for a frame, is as it is", () => {
  for (const missing of [4, 0, -1, -5_000]) {
    const connection = new RestedConnection(Number.NEGATIVE_INFINITY);
    connection.expectPage(0);
    expect(connection.fill(new Uint8Array(FILLED_BYTES - missing), 1)).toHaveLength(FILLED_BYTES - missing);
  }
});

test("nothing is filled on a connection in use, without a page, or long after it", () => {
  const connection = new RestedConnection(0);
  connection.expectPage(500);
  expect(connection.fill(PONG, 501)).toBe(PONG);
  expect(connection.fill(PONG, 60_000)).toBe(PONG);
  connection.expectPage(70_000);
  expect(connection.fill(PONG, 80_000)).toBe(PONG);
});

describe("a session", () => {
  /** Of the messages that the edge sends on one connection for each of these requests, after a rest of 20 s. */
  async function lengthsOf(phone: WiredPhone, ...destinations: readonly ("document" | "image")[]): Promise<number[][]> {
    const edge = setUp();
    const { transport } = phone.connect(edge.server);
    let lengths: number[] = [];
    const send = transport.send.bind(transport);
    transport.send = (message) => {
      lengths.push(message.length);
      return send(message);
    };
    await phone.fetch("https://a.example/");
    const all = [];
    for (const destination of destinations) {
      lengths = [];
      edge.clock.time += 20_000;
      expect((await phone.fetch("https://a.example/", { destination })).text).toBe("hello");
      all.push(lengths);
    }
    return all;
  }

  test("fills for each document once, and not for what is part of a page", async () => {
    const [image, document, again] = await lengthsOf(new WiredPhone(), "image", "document", "document");
    expect(Math.max(...(image ?? []))).toBeLessThan(100);
    for (const lengths of [document, again]) {
      expect(lengths?.[0]).toBe(FILLED_BYTES);
      expect(Math.max(...(lengths ?? []).slice(1))).toBeLessThan(100);
    }
  });

  test("fills nothing on a link that takes little at once", async () => {
    const [document] = await lengthsOf(new WiredPhone("Phone/1", limits.filledLinkBytes - 1), "document");
    expect(Math.max(...(document ?? []))).toBeLessThan(100);
  });
});
