import { describe, expect, it } from "vitest";
import { ErrorCode } from "../../shared/errors.ts";
import type { HeaderList, RequestHead } from "../../shared/http/heads.ts";
import { fakeWeb, redirect, requestFor } from "./testing/fake-web.ts";

const PAGE = { origin: "https://a.example", topLevelOrigin: "https://a.example" };
const CDN = "https://cdn.example";
const stored = { hash: "x".repeat(22), size: 1000, validator: '"1"' };
const DATE = "Sat, 01 Jan 2000 00:00:00 GMT";
const denied = expect.objectContaining({ code: ErrorCode.CORS_DENIED });

/** An origin that says "not modified" where the condition holds. */
function web(fields: Record<string, string>, whenHeld: Record<string, string> = fields) {
  const answer = ({ headers }: { readonly headers: Headers }) => {
    const isHeld = headers.get("if-none-match") === '"1"' || headers.get("if-modified-since") === DATE;
    return isHeld
      ? new Response(null, { status: 304, headers: whenHeld })
      : new Response("GIF89a\0", { headers: { "content-type": "image/gif", ...fields } });
  };
  const { upstream, asked } = fakeWeb({
    [`${CDN}/x`]: (request) => answer({ headers: new Headers(request.headers) }),
    [`${CDN}/moved`]: () => redirect(302, `${CDN}/x`, { "access-control-allow-origin": "*" }),
  });
  const ask = async (head: Partial<RequestHead> = {}, path = "/x") => {
    const response = await upstream(
      requestFor({ url: CDN + path, ...PAGE, mode: "no-cors", destination: "image", ...head }),
    );
    return { ...response.head, text: response.body === null ? null : await new Response(response.body).text() };
  };
  return { ask, asked };
}

const notes = (headers: HeaderList) => headers.filter(([name]) => name.startsWith("ropeway-"));
const CORS = { mode: "cors", credentials: "same-origin", destination: "font" } as const;

describe("what another origin sent", () => {
  it("comes with a validator for the store, where the page is shown none", async () => {
    const fields = { etag: '"1"', "last-modified": DATE, "access-control-allow-origin": "*" };
    const { ask } = web(fields);
    expect(notes((await ask()).headers)).toEqual([["ropeway-etag", '"1"']]);
    expect(notes((await ask(CORS)).headers)).toEqual([["ropeway-etag", '"1"']]);
    expect(notes((await ask({}, "/moved")).headers)).toEqual([]);
    expect(notes((await ask(CORS, "/moved")).headers)).toEqual([]);
    expect(notes((await ask({ origin: CDN })).headers)).toEqual([]);
    expect((await ask({ destination: "" })).headers).toEqual([]);
    const dated = web({ "last-modified": DATE, "access-control-allow-origin": "*" });
    expect(notes((await dated.ask()).headers)).toEqual([["ropeway-last-modified", DATE]]);
    // CORS shows that to everybody.
    expect(notes((await dated.ask(CORS)).headers)).toEqual([]);
  });

  it("is asked about by it, with no leave for that, and the answer is for the store alone", async () => {
    const { ask, asked } = web({ "access-control-allow-origin": "*", "cache-control": "max-age=5" });
    for (const head of [{}, CORS, { stored: { ...stored, validator: DATE } }]) {
      const held = await ask({ stored, ...head });
      expect([held.status, held.text, notes(held.headers)]).toEqual([304, null, []]);
      expect(held.headers).toContainEqual(["cache-control", "max-age=5"]);
    }
    expect(asked.map(({ method }) => method)).toEqual(["GET", "GET", "GET"]);
    expect(JSON.stringify(asked)).not.toContain(stored.hash);
    const whole = await ask({ stored: { ...stored, validator: '"0"' } });
    expect([whole.status, whole.text]).toEqual([200, "GIF89a\0"]);
  });

  it("is asked about at its own URL, as a whole, and where no page has conditions of its own", async () => {
    const { ask, asked } = web({ "access-control-allow-origin": "*", "access-control-allow-headers": "*" });
    const own: Partial<RequestHead>[] = [
      { headers: [["range", "bytes=0-"]] },
      { ...CORS, headers: [["if-none-match", '"page"']] },
      { origin: CDN },
    ];
    for (const head of own) await ask({ stored, ...head });
    await ask({ stored }, "/moved");
    const conditions = asked
      .filter(({ method, url }) => method === "GET" && url === `${CDN}/x`)
      .map(({ headers }) => headers["if-none-match"] ?? null);
    expect(conditions).toEqual([null, '"page"', null, null]);
  });

  it("is refused where the 304 says that it is for others no more, not where it leaves that out", async () => {
    const allowed = { "access-control-allow-origin": "https://a.example" };
    expect(await web(allowed, {}).ask({ stored, ...CORS })).toMatchObject({ status: 304 });
    const elsewhere = { "access-control-allow-origin": "https://b.example" };
    await expect(web(allowed, elsewhere).ask({ stored, ...CORS })).rejects.toEqual(denied);
    await expect(web({}, { "cross-origin-resource-policy": "same-origin" }).ask({ stored })).rejects.toEqual(denied);
    // A whole answer has to say it.
    await expect(web({}).ask({ stored: { ...stored, validator: '"0"' }, ...CORS })).rejects.toEqual(denied);
  });
});
