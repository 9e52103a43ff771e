import { beforeAll, describe, expect, it } from "vitest";
import { setTimer } from "../../../shared/clock.ts";
import { Room } from "../../../shared/fair-shares.ts";
import { headerValue } from "../../../shared/http/head-fields.ts";
import type { HeaderList, ImageWish, RequestHead } from "../../../shared/http/heads.ts";
import { ORIGINAL, parseImageNote, withDefaultAccept } from "../../../shared/http/phone-fields.ts";
import { requestHead } from "../../../shared/testing/http/request-heads.ts";
import { HELD_BYTES } from "../shared-parts.ts";
import type { DecodedResponse } from "../stage.ts";
import { ImageRecoder } from "./image-recoder.ts";
import { ImageStage, MOST_WAIT } from "./image-stage.ts";
import { WasmCodec } from "./picture-codecs.ts";
import { exif, jpegOf, photograph, pngOf, testCodecs, withSegment } from "./testing/pictures.ts";

const BALANCED: ImageWish = { recoding: "balanced", most: null };

const asking: RequestHead = {
  ...requestHead,
  destination: "image",
  mode: "no-cors",
  headers: withDefaultAccept([], "image"),
};

function answer(body: Uint8Array, fields: HeaderList = [], chunk = 10_000): DecodedResponse {
  const headers: HeaderList = [["content-length", String(body.length)], ["etag", '"1"'], ...fields];
  let at = 0;
  return {
    head: {
      status: 200,
      headers,
      url: asking.url,
      redirected: false,
      coding: "identity",
      scriptCookies: [],
      resumption: { range: null, validator: '"1"' },
    },
    body: new ReadableStream({
      pull(controller) {
        if (at >= body.length) return controller.close();
        controller.enqueue(body.slice(at, at + chunk));
        at += chunk;
      },
    }),
  };
}

const bytesOf = async ({ body }: DecodedResponse) => new Uint8Array(await new Response(body).arrayBuffer());

const time = () => new Room(MOST_WAIT, () => 0);
const room = () => new Room(HELD_BYTES, () => 0);

function stage({ cost = 0, waiting = time() } = {}): ImageStage {
  let now = 0;
  const clock = { now: () => (now += cost), setTimer };
  return new ImageStage(new ImageRecoder(new WasmCodec(testCodecs), waiting, clock), room(), setTimer);
}

describe("ImageStage", () => {
  let jpeg: Uint8Array<ArrayBuffer>;
  let png: Uint8Array<ArrayBuffer>;
  beforeAll(async () => {
    jpeg = await jpegOf(photograph(400, 300));
    png = await pngOf(photograph(400, 300));
  });

  const change = async (
    body: Uint8Array,
    wish: ImageWish,
    head: Partial<RequestHead> = {},
    fields: HeaderList = [],
  ) => {
    const response = await stage().apply(answer(body, fields), { ...asking, ...head }, wish);
    return { head: response.head, bytes: await bytesOf(response), note: parseImageNote(response.head.headers) };
  };

  it("codes JPEG and PNG anew, much smaller", async () => {
    for (const body of [jpeg, png]) {
      const { head, bytes, note } = await change(body, BALANCED);
      expect(bytes.length).toBeLessThan(body.length * 0.7);
      expect(Buffer.from(bytes.subarray(4, 12)).toString()).toBe("ftypavif");
      expect(note).toEqual({ kind: "recoded", bytes: body.length });
      expect(headerValue(head.headers, "content-type")).toBe("image/avif");
      expect(headerValue(head.headers, "content-length")).toBe(String(bytes.length));
      expect(headerValue(head.headers, "etag")).toBe('W/"1"');
      expect(head.resumption).toBeUndefined();
    }
    const strong = await change(jpeg, { recoding: "strong", most: null });
    expect(strong.bytes.length).toBeLessThan((await change(jpeg, BALANCED)).bytes.length * 0.7);
  });

  it("gives the same bytes for the same picture", async () => {
    expect((await change(jpeg, BALANCED)).bytes).toEqual((await change(jpeg, BALANCED)).bytes);
  });

  it("turns a picture as EXIF says", async () => {
    const { bytes } = await change(withSegment(jpeg, 0xffe1, exif(6)), BALANCED);
    const view = new DataView(bytes.buffer);
    const ispe = Buffer.from(bytes).indexOf("ispe");
    expect([view.getUint32(ispe + 8), view.getUint32(ispe + 12)]).toEqual([300, 400]);
  });

  it("makes WebP of what is too large for AVIF", async () => {
    const { head, bytes } = await change(await jpegOf(photograph(1300, 900)), BALANCED);
    expect(headerValue(head.headers, "content-type")).toBe("image/webp");
    expect(Buffer.from(bytes.subarray(8, 12)).toString()).toBe("WEBP");
  });

  it("leaves alone what it may not change", async () => {
    const same = async (body: Uint8Array, head: Partial<RequestHead>, fields: HeaderList = []) => {
      const changed = await change(body, BALANCED, head, fields);
      expect(changed.bytes).toEqual(new Uint8Array(body));
      expect(changed.note).toBeNull();
    };
    await same(jpeg, { mode: "cors" });
    await same(jpeg, { destination: "" });
    await same(jpeg, { headers: [...asking.headers, ["range", "bytes=0-"]] });
    await same(jpeg, { headers: [["accept", "image/png,*/*;q=0.5"]] });
    await same(jpeg, {}, [["cache-control", "public, no-transform"]]);
    await same(withSegment(jpeg, 0xffe2, Buffer.from("ICC_PROFILE\0\x01\x01Adobe RGB")), {});
    await same(await jpegOf(photograph(20, 20)), {});
    await same(Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg">${" ".repeat(3000)}</svg>`), {}, [
      ["content-type", "image/svg+xml"],
    ]);
    const scan = Buffer.from("ffda00", "hex");
    await same(new Uint8Array(Buffer.concat([jpeg, ...Array<Buffer>(13).fill(scan)])), {});
    const broken = new Uint8Array([...png.slice(0, 60), ...new Uint8Array(4000)]);
    await same(broken, {});
    expect((await change(jpeg, ORIGINAL)).bytes).toEqual(jpeg);
  });

  it("gives a picture as it is where that takes longer than it saves", async () => {
    const slow = stage({ cost: 4000 });
    // What it measured first says that the next one does not pay.
    const first = await slow.apply(answer(jpeg), asking, BALANCED);
    expect(parseImageNote(first.head.headers)).not.toBeNull();
    const second = await slow.apply(answer(jpeg), asking, BALANCED);
    expect(await bytesOf(second)).toEqual(jpeg);
    const stalled = answer(jpeg);
    const reader = stalled.body.getReader();
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        await new Promise((resolve) => setTimeout(resolve, 150));
        const { value, done } = await reader.read();
        if (done) controller.close();
        else controller.enqueue(value);
      },
    });
    const late = await stage().apply({ head: stalled.head, body }, asking, BALANCED);
    expect(await bytesOf(late)).toEqual(jpeg);
  });

  it("codes pictures again once a busy moment is over", async () => {
    let [now, cost] = [0, 4000];
    const clock = { now: () => (now += cost), setTimer };
    const busy = new ImageStage(new ImageRecoder(new WasmCodec(testCodecs), time(), clock), room(), setTimer);
    const isRecoded = async () =>
      parseImageNote((await busy.apply(answer(jpeg), asking, BALANCED)).head.headers)?.kind === "recoded";
    expect(await isRecoded()).toBe(true);
    expect(await isRecoded()).toBe(false);
    cost = 0;
    expect(await isRecoded()).toBe(false);
    now += 60_000;
    expect(await isRecoded()).toBe(true);
  });

  it("gives a picture as it is while those of other phones wait", async () => {
    const waiting = time();
    const others = {};
    waiting.take(others, MOST_WAIT);
    const busy = stage({ waiting });
    expect(await bytesOf(await busy.apply(answer(jpeg), asking, BALANCED))).toEqual(jpeg);
    waiting.give(others);
    const { head } = await busy.apply(answer(jpeg), asking, BALANCED);
    expect(parseImageNote(head.headers)?.kind).toBe("recoded");
  });

  it("gives pictures as they are where there are no codecs", async () => {
    const codecs = { open: () => Promise.reject(new Error("Cannot open: no memory")), drop() {} };
    const without = new ImageStage(
      new ImageRecoder(new WasmCodec(codecs), time(), { now: () => 0, setTimer }),
      room(),
      setTimer,
    );
    for (let i = 0; i < 3; i++)
      expect(await bytesOf(await without.apply(answer(jpeg), asking, BALANCED))).toEqual(jpeg);
  });

  it("holds back a film where its request says so, and tells how large it is", async () => {
    const images: ImageWish = { recoding: "none", most: 0 };
    const film = { destination: "video", images } as const;
    const body = new Uint8Array(5_000);
    const whole = await change(body, images, film, [["content-length", "5000"]]);
    expect(whole).toMatchObject({ note: { kind: "held", bytes: 5_000 }, bytes: new Uint8Array() });
    expect(headerValue(whole.head.headers, "cache-control")).toBe("no-store");
    const first = answer(body, [
      ["content-range", "bytes 0-4999/9000000"],
      ["content-length", "5000"],
    ]);
    const part = { ...first, head: { ...first.head, status: 206 } };
    const { head } = await stage().apply(part, { ...asking, ...film, mode: "cors", destination: "audio" }, images);
    expect(head.status).toBe(200);
    expect(headerValue(head.headers, "content-range")).toBeNull();
    expect(parseImageNote(head.headers)).toEqual({ kind: "held", bytes: 9_000_000 });

    // A phone that knows only of pictures says it of the session.
    expect((await change(body, images, { destination: "video" })).bytes).toEqual(body);
    expect((await change(body, images, { ...film, images: ORIGINAL })).bytes).toEqual(body);
    const ranged = async (range: string) => {
      const again = { ...answer(body, first.head.headers), head: part.head };
      const asked: RequestHead = { ...asking, ...film, headers: [["range", range]] };
      return (await stage().apply(again, asked, images)).head.status;
    };
    expect([await ranged("bytes=0-"), await ranged("bytes=0-1"), await ranged("bytes=5000-")]).toEqual([200, 200, 206]);
    const missing = { ...first, head: { ...first.head, status: 404 } };
    expect((await stage().apply(missing, { ...asking, ...film }, images)).head.status).toBe(404);
  });

  it("holds back what is larger than wished, with a placeholder of the same size", async () => {
    const off: ImageWish = { recoding: "none", most: 0 };
    const { head, bytes, note } = await change(withSegment(jpeg, 0xffe1, exif(6)), off);
    const text = Buffer.from(bytes).toString();
    expect(text).toContain('width="300" height="400"');
    expect(text).toContain(`${Math.round(jpeg.length / 1000)} kB`);
    expect(note).toEqual({ kind: "held", bytes: jpeg.length + 36 });
    expect(headerValue(head.headers, "cache-control")).toBe("no-store");
    expect(headerValue(head.headers, "etag")).toBeNull();
    expect(bytes.length).toBeLessThan(700);

    expect((await change(jpeg, { recoding: "none", most: jpeg.length })).note).toBeNull();
    const recodedBytes = (await change(jpeg, BALANCED)).bytes.length;
    expect((await change(jpeg, { recoding: "balanced", most: recodedBytes })).note?.kind).toBe("recoded");
    expect((await change(jpeg, { recoding: "balanced", most: recodedBytes - 1 })).note?.kind).toBe("held");
  });

  it("holds back what tells no length", async () => {
    const { head, body } = answer(jpeg);
    const headers = head.headers.filter(([name]) => name !== "content-length");
    const held = await stage().apply({ head: { ...head, headers }, body }, asking, { recoding: "none", most: 5000 });
    expect(parseImageNote(held.head.headers)?.kind).toBe("held");
  });
});
