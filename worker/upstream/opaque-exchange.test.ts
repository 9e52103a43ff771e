/** What a page gets of other origins, as a whole exchange: whatever it claims about its request. */
import { describe, expect, it } from "vitest";
import { ErrorCode } from "../../shared/errors.ts";
import type { RequestHead } from "../../shared/http/heads.ts";
import { SNIFFED_BYTES } from "./opaque.ts";
import { fakeWeb, fetchOf, type Handler, navigationTo, redirect, requestFor } from "./testing/fake-web.ts";

const EVIL = { origin: "https://evil.x.example", topLevelOrigin: "https://evil.x.example" };
const BANK = "https://bank.x.example";
const VIDEO = Uint8Array.from({ length: 5_000 }, (_, at) => "\0\0\0\x18ftypmp42".charCodeAt(at) || at % 251);
const denied = expect.objectContaining({ code: ErrorCode.CORS_DENIED });

function send(type: string, body: string | Uint8Array<ArrayBuffer>, fields: Record<string, string> = {}): Response {
  return new Response(body, { headers: { "content-type": type, ...fields } });
}

async function setUp(handlers: Record<string, Handler>) {
  const web = fakeWeb({
    [`${BANK}/login`]: () =>
      new Response("in", { headers: { "set-cookie": "session=secret; Domain=x.example; Secure; HttpOnly" } }),
    ...handlers,
  });
  await web.upstream(requestFor({ url: `${BANK}/login`, ...EVIL, origin: BANK }));
  web.asked.length = 0;
  const ask = async (path: string, head: Partial<RequestHead> = {}) => {
    const { head: response, body } = await web.upstream(requestFor({ url: BANK + path, ...EVIL, ...head }));
    return { ...response, text: await new Response(body as BodyInit | null).text() };
  };
  return { ...web, ask };
}

describe("a page asks a sibling of its site", () => {
  it("and gets none of its documents, whatever it says they are for", async () => {
    const { ask, asked } = await setUp({ [`${BANK}/account`]: () => send("text/html", "<p>4711") });
    for (const destination of ["image", "script", "style", "video"] as const) {
      await expect(ask("/account", { destination })).rejects.toEqual(denied);
    }
    for (const destination of ["", "object", "embed", "font", "track", "iframe", "document"] as const) {
      expect(await ask("/account", { destination })).toMatchObject({ status: 200, headers: [], text: "" });
    }
    await expect(ask("/account", { destination: "", mode: "cors" })).rejects.toEqual(denied);
    await expect(ask("/account", { mode: "same-origin" })).rejects.toEqual(denied);
    expect(asked[0]?.headers.cookie).toBe("session=secret");
  });

  it("and gets nothing where the resource policy says so, not even that it is there", async () => {
    const policy = { "cross-origin-resource-policy": "same-origin" };
    const { ask } = await setUp({
      [`${BANK}/face`]: () => send("image/gif", "GIF89a\0", policy),
      [`${BANK}/moved`]: () => redirect(302, `${BANK}/open`, policy),
      [`${BANK}/open`]: () => send("image/gif", "GIF89a\0"),
    });
    await expect(ask("/face")).rejects.toEqual(denied);
    await expect(ask("/face", { destination: "" })).rejects.toEqual(denied);
    await expect(ask("/moved")).rejects.toEqual(denied);
    expect(await ask("/face", { origin: BANK })).toMatchObject({ status: 200 });
    expect(await ask("/open")).toMatchObject({ status: 200 });
  });

  it("and is not told for how long an image holds to which it was redirected without knowing", async () => {
    const kept = { "cache-control": "max-age=31536000, immutable", age: "1", expires: "Thu, 01 Jan 2099 00:00:00 GMT" };
    const more = { etag: '"1"', "last-modified": "Sat, 01 Jan 2000 00:00:00 GMT", vary: "accept" };
    const { ask } = await setUp({
      [`${BANK}/avatar`]: () => redirect(302, "https://cdn.example/v1", { "cache-control": "no-store" }),
      "https://cdn.example/v1": () => send("image/gif", "GIF89a\0", { ...kept, ...more }),
    });
    for (const origin of [BANK, EVIL.origin]) {
      const image = await ask("/avatar", { origin });
      expect(image).toMatchObject({ redirected: false, url: `${BANK}/avatar`, text: "GIF89a\0" });
      expect(image.headers).toEqual([
        ["content-type", "image/gif"],
        ["cache-control", "no-store"],
      ]);
      const unused = await ask("/avatar", { origin, destination: "" });
      expect(unused).toMatchObject({ headers: origin === BANK ? [["cache-control", "no-store"]] : [], text: "" });
    }
  });

  it("and is told what an image varies by", async () => {
    const { ask } = await setUp({ [`${BANK}/face`]: () => send("image/gif", "GIF89a\0", { vary: "cookie" }) });
    expect((await ask("/face")).headers).toContainEqual(["vary", "cookie"]);
  });

  it("and is told of an image what shows it, and no more", async () => {
    const fields = { etag: '"4711"', "x-balance": "4711", "cache-control": "max-age=9", server: "bank" };
    const { ask } = await setUp({ [`${BANK}/face`]: () => send("image/gif", "GIF89a\0", fields) });
    const { status, headers, text } = await ask("/face");
    expect([status, text]).toEqual([200, "GIF89a\0"]);
    // The last is for the store: the slot's port keeps it from the page.
    expect(headers.map(([name]) => name).sort()).toEqual(["cache-control", "content-type", "ropeway-etag"]);
  });

  it("and gets text that could be a script as strangers get it", async () => {
    const { ask, asked } = await setUp({
      [`${BANK}/plain`]: (request) => send("text/plain", request.headers.has("cookie") ? "balance=4711" : "run()"),
    });
    expect((await ask("/plain", { destination: "script" })).text).toBe("run()");
    expect(asked.map(({ headers }) => "cookie" in headers)).toEqual([true, false]);
    expect((await ask("/plain", { origin: BANK })).text).toBe("balance=4711");
  });

  it("and hears nothing of what no element asks for", async () => {
    const { ask } = await setUp({
      [`${BANK}/account`]: () => send("text/html", "<p>4711"),
      [`${BANK}/moved`]: () => redirect(303, `${BANK}/plain`),
      [`${BANK}/plain`]: () => send("text/plain", "4711"),
    });
    for (const head of [{ method: "HEAD" }, { method: "POST" }]) {
      expect(await ask("/account", head)).toMatchObject({ status: 200, headers: [], text: "" });
    }
    expect(await ask("/moved", { method: "POST" })).toMatchObject({ status: 200, headers: [], text: "" });
  });

  it("and learns where a redirect led only of what has to know its base", async () => {
    const { ask } = await setUp({
      [`${BANK}/me`]: () => redirect(302, `${BANK}/customers/4711#x`),
      [`${BANK}/customers/4711`]: () => send("image/gif", "GIF89a\0"),
      [`${BANK}/theme`]: () => redirect(302, `${BANK}/themes/dark.css`),
      [`${BANK}/themes/dark.css`]: () => send("text/css", "p { color: red }"),
    });
    for (const destination of ["image", ""] as const) {
      const answered = await ask("/me", { destination });
      expect(answered).toMatchObject({ status: 200, url: `${BANK}/me`, redirected: false });
      expect(answered).not.toHaveProperty("fragment");
    }
    const style = await ask("/theme", { destination: "style" });
    expect(style).toMatchObject({ url: `${BANK}/themes/dark.css`, redirected: true });
  });

  it("and does not see where a redirect leads that is not followed", async () => {
    const allow = { "access-control-allow-origin": EVIL.origin };
    const { upstream, ask } = await setUp({ [`${BANK}/out`]: () => redirect(302, "/account?token=4711", allow) });
    const { head } = await upstream(fetchOf(`${BANK}/out`, { ...EVIL, redirect: "manual" }));
    expect(head).toMatchObject({ status: 302, headers: [], url: `${BANK}/out` });
    for (const redirect of ["manual", "same-origin"] as const) {
      await expect(ask("/out", { redirect })).rejects.toEqual(denied);
    }
  });

  it("and may send it a beacon, of which it hears nothing", async () => {
    const { ask, asked } = await setUp({ [`${BANK}/beacon`]: () => new Response("4711", { status: 500 }) });
    expect(await ask("/beacon", { method: "POST", destination: "" })).toMatchObject({
      status: 200,
      headers: [],
      text: "",
    });
    expect(asked.map(({ method }) => method)).toEqual(["POST"]);
  });
});

describe("ranges", () => {
  const inRanges =
    (type: string, bytes: Uint8Array<ArrayBuffer>): Handler =>
    ({ headers }) => {
      const [, from = "0", to = ""] = /bytes=(\d+)-(\d*)/.exec(headers.get("range") ?? "") ?? [];
      const first = Number(from);
      if (first >= bytes.length) return new Response("4711", { status: 416 });
      const last = Math.min(to === "" ? bytes.length - 1 : Number(to), bytes.length - 1);
      const range = { "content-type": type, "content-range": `bytes ${first}-${last}/${bytes.length}` };
      return new Response(bytes.slice(first, last + 1), { status: 206, headers: range });
    };
  const range = (value: string) => ({ destination: "video", headers: [["range", value]] }) as const;

  it("of audio and video come, the first and the later ones, and also after the edge forgot", async () => {
    const handlers = { [`${BANK}/film`]: inRanges("video/mp4", VIDEO) };
    const { ask, asked } = await setUp(handlers);
    expect(await ask("/film", range("bytes=0-"))).toMatchObject({ status: 206 });
    expect(await ask("/film", range("bytes=4000-"))).toMatchObject({ status: 206 });
    expect(asked).toHaveLength(2);
    const restarted = await setUp(handlers);
    const { status, headers } = await restarted.ask("/film", range("bytes=4000-"));
    expect([status, headers]).toEqual([206, expect.arrayContaining([["content-range", "bytes 4000-4999/5000"]])]);
    expect(restarted.asked.map((request) => request.headers.range)).toEqual([
      "bytes=4000-",
      `bytes=0-${SNIFFED_BYTES - 1}`,
    ]);
    expect(await ask("/film", range("bytes=5000-"))).toMatchObject({ status: 416, text: "" });
  });

  it("of anything else do not", async () => {
    const secret = new TextEncoder().encode(`balance=${"4711".repeat(1_000)}`);
    const { ask } = await setUp({
      [`${BANK}/text`]: inRanges("text/plain", secret),
      [`${BANK}/page`]: inRanges("text/html", VIDEO),
      [`${BANK}/film`]: inRanges("video/mp4", VIDEO),
    });
    for (const value of ["bytes=0-", "bytes=1-1", "bytes=2000-"]) {
      await expect(ask("/text", range(value))).rejects.toEqual(denied);
    }
    await expect(ask("/page", range("bytes=2000-"))).rejects.toEqual(denied);
    await expect(ask("/film", { ...range("bytes=2000-"), destination: "image" })).rejects.toEqual(denied);
  });

  it("that the tunnel goes on with are the rest of what was let in", async () => {
    const picture = Uint8Array.from({ length: 5_000 }, (_, at) => "GIF89a".charCodeAt(at) || at % 251);
    const handler = inRanges("image/gif", picture);
    const { ask } = await setUp({
      [`${BANK}/picture`]: async (request) => {
        const response = await handler(request);
        response.headers.set("etag", '"1"');
        return response;
      },
    });
    const continuation = { first: 4_000, last: 4_999, total: 5_000, validator: '"1"' };
    const delivery = { id: null, isRepeat: false, continuation };
    expect(await ask("/picture", { delivery })).toMatchObject({ status: 206, continues: true });
    const other = { ...delivery, continuation: { ...continuation, validator: '"2"' } };
    await expect(ask("/picture", { delivery: other })).rejects.toEqual(denied);
  });
});

it("leaves documents, and what CORS lets a page read, as they were", async () => {
  const fields = { "access-control-allow-origin": EVIL.origin, "cross-origin-resource-policy": "same-origin" };
  const { upstream, ask } = await setUp({ [`${BANK}/open`]: () => send("application/json", '{"a":1}', fields) });
  const read = { destination: "", mode: "cors", credentials: "same-origin" } as const;
  expect(await ask("/open", read)).toMatchObject({ status: 200, text: '{"a":1}' });
  expect((await upstream(navigationTo(`${BANK}/open`))).head.status).toBe(200);
});
