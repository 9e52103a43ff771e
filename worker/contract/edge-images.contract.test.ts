/** Pictures as the phone wishes them: what every edge sends, with the codecs that its runtime loads. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RunningEdge, startEdge } from "../../scripts/edge-process.ts";
import { headerValue } from "../../shared/http/head-fields.ts";
import type { ImageWish, RequestHead } from "../../shared/http/heads.ts";
import { imageWishField, ORIGINAL, parseImageNote } from "../../shared/http/phone-fields.ts";
import { jpegOf, photograph, pngOf } from "../delivery/images/testing/pictures.ts";
import { pairPhone, TestPhone } from "../testing/test-phone.ts";
import { startLocalOrigin } from "../upstream/testing/local-origin.ts";

const FILM_BYTES = 3_000_000;

describe.each(["workerd", "deno"] as const)("an edge on %s", (runtime) => {
  const closers: (() => unknown)[] = [];
  const files = new Map<string, { readonly type: string; readonly body: Uint8Array }>();
  let edge: RunningEdge;
  let phone: TestPhone;
  let site: string;
  const asked: IncomingMessage["headers"][] = [];

  function answer({ url = "", headers }: IncomingMessage, response: ServerResponse): void {
    asked.push(headers);
    const file = files.get(url);
    if (file === undefined) return void response.writeHead(404).end();
    const fields = { "content-type": file.type, "access-control-allow-origin": "*", etag: '"1"' };
    response.writeHead(200, { ...fields, "content-length": file.body.length }).end(file.body);
  }

  beforeAll(async () => {
    files.set("/small.jpg", { type: "image/jpeg", body: await jpegOf(photograph(400, 300)) });
    files.set("/large.jpg", { type: "image/jpeg", body: await jpegOf(photograph(1300, 900)) });
    files.set("/drawing.png", { type: "image/png", body: await pngOf(photograph(200, 200)) });
    files.set("/film.mp4", { type: "video/mp4", body: new Uint8Array(FILM_BYTES) });
    const own = await startLocalOrigin(answer);
    site = own.origin;
    edge = await startEdge({ runtime, port: 0, allowPrivate: true, log: () => {} });
    phone = new TestPhone(edge.url, await pairPhone(edge.url, edge.accessKey));
    await phone.connect();
    closers.push(
      () => phone.close(),
      () => edge.close(),
      own.close,
    );
  });
  afterAll(async () => {
    for (const close of closers) await close();
  });

  const ask = async (path: string, change: Partial<RequestHead> = {}) => {
    const { head, body } = await phone.fetch(site + path, { destination: "image", mode: "no-cors", ...change });
    const [type, length] = ["content-type", "content-length"].map((name) => headerValue(head.headers, name));
    return { type, body, note: parseImageNote(head.headers), isWhole: Number(length) === body.length };
  };
  const wish = (images: ImageWish) => phone.session.sendSessionHead([imageWishField(images)]);

  it("sends pictures as they are to phones that wish nothing", async () => {
    const { body, note, type } = await ask("/small.jpg");
    expect(Buffer.from(body)).toEqual(Buffer.from(files.get("/small.jpg")?.body ?? []));
    expect([type, note]).toEqual(["image/jpeg", null]);
  });

  it("codes them anew, each by the codec that pays", async () => {
    wish({ recoding: "balanced", most: null });
    for (const [path, type] of [
      ["/small.jpg", "image/avif"],
      ["/drawing.png", "image/avif"],
      ["/large.jpg", "image/webp"],
    ] as const) {
      const answered = await ask(path);
      expect(answered).toMatchObject({ type, isWhole: true, note: { kind: "recoded" } });
      expect(answered.body.length).toBeLessThan((files.get(path)?.body.length ?? 0) * 0.7);
    }
    expect((await ask("/small.jpg", { mode: "cors", credentials: "omit" })).type).toBe("image/jpeg");
    expect((await ask("/small.jpg", { images: ORIGINAL })).type).toBe("image/jpeg");
    expect(asked.some((fields) => Object.keys(fields).some((name) => name.includes("ropeway")))).toBe(false);
  });

  it("sends a placeholder of the same size for what is too large", async () => {
    wish({ recoding: "none", most: 0 });
    const { type, body, note } = await ask("/large.jpg");
    expect([type, note?.kind]).toEqual(["image/svg+xml", "held"]);
    expect(Buffer.from(body).toString()).toContain('width="1300" height="900"');
    expect((await ask("/large.jpg", { images: ORIGINAL })).note).toBeNull();
  });

  it("holds back films of requests that say so", async () => {
    const film: Partial<RequestHead> = { destination: "video", headers: [["range", "bytes=0-"]] };
    const { body, note } = await ask("/film.mp4", { ...film, images: { recoding: "none", most: 0 } });
    expect([body.length, note]).toEqual([0, { kind: "held", bytes: FILM_BYTES }]);
    expect((await ask("/film.mp4", film)).body.length).toBe(FILM_BYTES);
    expect((await ask("/film.mp4", { ...film, images: ORIGINAL })).body.length).toBe(FILM_BYTES);
  });
});
