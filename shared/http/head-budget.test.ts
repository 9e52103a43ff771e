/** What heads cost on the link: the reason for HPACK, `:context` and varints. */
import { expect, test } from "vitest";
import * as limits from "../limits.ts";
import { data, ScriptedPeer } from "../testing/mux/scripted-peer.ts";
import { encodeFrame, type Frame } from "../wire/frame.ts";
import { HpackDecoder } from "../wire/hpack/header-decoder.ts";
import { fieldsToRequest, requestToFields, responseToFields } from "./head-fields.ts";
import type { RequestHead, ResponseHead } from "./heads.ts";

const PAGE = "http://demo.localhost:8788/150/";
const IMAGES = Array.from({ length: 150 }, (_, index) => `${PAGE}img/${String(index + 1).padStart(3, "0")}.png`);

const image: RequestHead = {
  method: "GET",
  url: "",
  headers: [["accept", "image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8"]],
  destination: "image",
  mode: "no-cors",
  credentials: "include",
  redirect: "follow",
  referrer: PAGE,
  origin: "http://demo.localhost:8788",
  topLevelOrigin: "http://demo.localhost:8788",
};

function frameBytes(frames: readonly Frame[]): number {
  return frames.reduce((sum, frame) => sum + (frame.type === "unknown" ? 0 : encodeFrame(frame).length), 0);
}

test("150 image requests take at most 25 bytes of head each, the first included", () => {
  const peer = new ScriptedPeer("phone");
  for (const url of IMAGES) peer.session.streams.openNow().sendHead(requestToFields({ ...image, url }), true);
  // One PING for the round trip rides along.
  const frames = peer.heard().filter((frame) => frame.type !== "ping");
  expect(frames).toHaveLength(150);
  expect(frameBytes(frames) / 150).toBeLessThanOrEqual(25);
  const decoder = new HpackDecoder({
    maxTableBytes: limits.hpackTableBytes,
    maxListBytes: limits.headListBytes,
    maxFields: limits.headFields,
  });
  const urls = frames.map((frame) => (frame.type === "head" ? fieldsToRequest(decoder.decode(frame.block)).url : ""));
  expect(urls).toEqual(IMAGES);
  // What statistics say is what was sent, give or take the length of ids.
  expect(Math.abs(peer.session.streams.headBytes.sent - frameBytes(frames))).toBeLessThanOrEqual(300);
});

test("150 image responses take at most 40 bytes of head each", () => {
  const peer = new ScriptedPeer("edge", {
    onStream(stream) {
      stream.handler = {
        onHead() {
          const response: ResponseHead = {
            status: 200,
            headers: [
              ["content-type", "image/png"],
              ["content-length", "1517"],
              ["etag", `"${stream.id.toString(16)}-5ed"`],
              ["cache-control", "public, max-age=600"],
              ["date", "Tue, 18 Nov 2025 10:00:00 GMT"],
            ],
            url: "",
            redirected: false,
            coding: "identity",
            scriptCookies: [],
          };
          stream.sendHead(responseToFields(response), false);
        },
        onData() {},
        onEnd() {},
        onReset() {},
      };
    },
  });
  const heads: Frame[] = [];
  for (const [index, url] of IMAGES.entries()) {
    const request = peer.head(2 * index + 1, requestToFields({ ...image, url }));
    heads.push(...peer.say(request).filter((frame) => frame.type === "head"));
  }
  expect(heads).toHaveLength(150);
  expect(frameBytes(heads) / 150).toBeLessThanOrEqual(40);
});

test("a body costs less than a thousandth for its frames", () => {
  expect(encodeFrame(data(301, limits.batchBytes)).length - limits.batchBytes).toBeLessThan(limits.batchBytes / 1000);
});
