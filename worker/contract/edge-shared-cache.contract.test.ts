/** What phones of one edge share, and what they never do, on both runtimes with the platform's own cache. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { SHARED_CACHE, STORED_BODY } from "../../shared/http/phone-fields.ts";
import { navigation, scriptFetch } from "../../shared/testing/http/request-heads.ts";
import { noise } from "../testing/contract.ts";
import { edgeOfTests } from "../testing/edge-of-tests.ts";
import { pairPhone, TestPhone } from "../testing/test-phone.ts";

const PUBLIC = { "cache-control": "public, max-age=600", "access-control-allow-origin": "*" };
const TEXT = Buffer.from("some text that is worth to be coded. ".repeat(500));
const LARGE = noise(3 * 1024 * 1024);

const textOf = (body: Uint8Array) => Buffer.from(body).toString();

describe.each(["workerd", "deno"] as const)("an edge on %s", (runtime) => {
  const edge = edgeOfTests(runtime);

  /** Paired anew: another phone, with another object and jar. */
  async function newPhone(): Promise<TestPhone> {
    const phone = new TestPhone(edge.url, await pairPhone(edge.url, edge.accessKey));
    await phone.connect();
    phone.session.sendSessionHead([[STORED_BODY, "1"]]);
    return phone;
  }

  /** What was asked of it, by path. */
  async function countingOrigin(answer: (request: IncomingMessage, response: ServerResponse) => void) {
    const asked: Record<string, number> = {};
    const origin = await edge.originOf((request, response) => {
      const path = request.url ?? "";
      asked[path] = (asked[path] ?? 0) + 1;
      answer(request, response);
    });
    return { origin, asked };
  }

  const isHit = (headers: readonly (readonly [string, string])[]) => headers.some(([name]) => name === SHARED_CACHE);

  /** Until the cache has it: it is stored behind the response, and a platform may take its time. */
  async function untilHit(phone: TestPhone, url: string) {
    for (;;) {
      const response = await phone.fetch(url, scriptFetch(new URL(url).origin));
      if (isHit(response.head.headers)) return response;
    }
  }

  it("has for a second phone what the first was given, byte for byte, in whatever coding it came", async () => {
    const { origin, asked } = await countingOrigin(({ url = "" }, response) => {
      const kind = url.split("?")[0];
      const coded = kind === "/gzip" ? gzipSync(TEXT) : kind === "/br" ? brotliCompressSync(TEXT) : undefined;
      const coding = coded === undefined ? {} : { "content-encoding": kind?.slice(1) };
      response.writeHead(200, { ...PUBLIC, ...coding, "content-type": "text/plain", "x-own": "of the origin" });
      if (kind === "/pieces") response.write(TEXT.subarray(0, 100));
      response.end(coded ?? (kind === "/pieces" ? TEXT.subarray(100) : TEXT));
    });
    const [first, second] = [await newPhone(), await newPhone()];
    const ask = async (path: string) => {
      const { body } = await untilHit(first, origin + path);
      const before = asked[path];
      const hot = await second.fetch(origin + path, scriptFetch(origin));
      expect([path, TEXT.equals(body), TEXT.equals(hot.body)]).toEqual([path, true, true]);
      return { hot, isAsked: asked[path] !== before };
    };
    for (const kind of ["/plain", "/gzip", "/br", "/pieces"]) {
      let attempt = 0;
      let answer = await ask(kind);
      // A busy disk is waited for a tenth of a second. Then the origin is asked: so all over again, for another URL.
      while (!isHit(answer.hot.head.headers)) answer = await ask(`${kind}?${attempt++}`);
      const fields = Object.fromEntries(answer.hot.head.headers);
      expect([answer.isAsked, fields["x-own"], Number(fields.age) >= 0, fields["content-encoding"]]).toEqual([
        false,
        "of the origin",
        true,
        undefined,
      ]);
    }
    await Promise.all([first.close(), second.close()]);
  });

  it("asks the origin once for what a phone asks for several times at once", async () => {
    // Its head comes at once, for which nobody waits long, and its end when all have asked.
    const { origin, asked } = await countingOrigin((_request, response) => {
      response.writeHead(200, PUBLIC).write(TEXT.subarray(0, 100));
      setTimeout(() => response.end(TEXT.subarray(100)), 200);
    });
    const phone = await newPhone();
    const all = await Promise.all(Array.from("1234", () => phone.fetch(`${origin}/once`, scriptFetch(origin))));
    expect([all.every(({ body }) => TEXT.equals(body)), asked["/once"]]).toEqual([true, 1]);
    await phone.close();
  });

  it("keeps cookies, and all who have some, out of it", async () => {
    const { origin, asked } = await countingOrigin(({ url, headers }, response) => {
      const cookie = url === "/login" ? { "set-cookie": "who=first" } : {};
      response.writeHead(200, { ...PUBLIC, ...cookie }).end(headers.cookie ?? "nobody");
    });
    const [first, second] = [await newPhone(), await newPhone()];
    const ask = async (phone: TestPhone, path: string) =>
      textOf((await phone.fetch(origin + path, scriptFetch(origin))).body);
    await untilHit(second, `${origin}/page`);
    for (const _ of "12") await ask(first, "/login");
    expect(asked["/login"]).toBe(2);
    expect([await ask(first, "/page"), await ask(second, "/page")]).toEqual(["who=first", "nobody"]);
    expect([await ask(first, "/other"), await ask(second, "/other")]).toEqual(["who=first", "nobody"]);
    await Promise.all([first.close(), second.close()]);
  });

  it("lets no page poison it by what others do not send", async () => {
    const { origin } = await countingOrigin((request, response) => {
      const told = { ...request.headers, connection: undefined };
      response.writeHead(200, PUBLIC).end(JSON.stringify(told));
    });
    const [evil, victim] = [await newPhone(), await newPhone()];
    const fields = [
      ["x-forwarded-host", "evil.example"],
      ["x-original-url", "/evil"],
      ["x-http-method-override", "evil"],
      ["accept", "text/evil"],
      ["accept-language", "evil"],
      ["cache-control", "evil"],
    ] as const;
    for (const field of fields) {
      for (const _ of "12") await evil.fetch(`${origin}/`, { ...scriptFetch(origin), headers: [field] });
    }
    await evil.fetch(`${origin}/`, { ...scriptFetch(origin), referrer: `${origin}/?evil` });
    const { body } = await victim.fetch(`${origin}/`, scriptFetch(origin));
    expect(textOf(body)).toContain('"sec-fetch-site"');
    expect(textOf(body)).not.toContain("evil");
    await Promise.all([evil.close(), victim.close()]);
  });

  it("stores no part, no broken body, and none that is too large", async () => {
    const { origin, asked } = await countingOrigin(({ url = "", headers, method }, response) => {
      const range = /^bytes=0-9$/.test(headers.range ?? "");
      if (url === "/range" && range) {
        response.writeHead(206, { ...PUBLIC, "content-range": `bytes 0-9/${TEXT.length}`, "content-length": 10 });
        return response.end(TEXT.subarray(0, 10));
      }
      if (url === "/large") return response.writeHead(200, PUBLIC).end(LARGE);
      if (url === "/short" || url === "/dies" || url === "/cut") {
        const coded = gzipSync(LARGE.subarray(0, 100_000));
        const length = url === "/short" ? { "content-length": 200_000 } : {};
        const coding = url === "/cut" ? { "content-encoding": "gzip" } : {};
        response.writeHead(200, { ...PUBLIC, ...length, ...coding });
        response.write(coded.subarray(0, 50_000), () => setTimeout(() => response.destroy(), 50));
        return;
      }
      return response.writeHead(200, PUBLIC).end(method === "HEAD" ? undefined : TEXT);
    });
    const phone = await newPhone();
    const ask = (path: string, headers: readonly (readonly [string, string])[] = []) =>
      phone.fetch(origin + path, { ...scriptFetch(origin), headers });
    const part = await ask("/range", [["range", "bytes=0-9"]]);
    expect([part.head.status, part.body.length]).toEqual([206, 10]);
    expect((await ask("/range")).body.length).toBe(TEXT.length);
    await untilHit(phone, `${origin}/range`);
    expect((await ask("/range", [["range", "bytes=0-9"]])).head.status).toBe(206);
    for (const path of ["/short", "/dies", "/cut"]) {
      for (const _ of "12") await expect(ask(path)).rejects.toThrow();
      expect(asked[path]).toBeGreaterThanOrEqual(2);
    }
    for (const count of [1, 2]) {
      expect([LARGE.equals((await ask("/large")).body), asked["/large"]]).toEqual([true, count]);
    }
    const head = await phone.fetch(`${origin}/head`, { ...scriptFetch(origin), method: "HEAD" });
    expect([head.head.status, head.body.length]).toEqual([200, 0]);
    expect((await ask("/head")).body.length).toBe(TEXT.length);
    await phone.close();
  });

  it("shows documents and follows redirects from it as from their origin", async () => {
    const { origin } = await countingOrigin(({ url }, response) => {
      if (url === "/moved") return response.writeHead(301, { ...PUBLIC, location: "/page" }).end();
      return response.writeHead(200, { ...PUBLIC, "content-type": "text/html" }).end("<p>page</p>");
    });
    const [first, second] = [await newPhone(), await newPhone()];
    await untilHit(first, `${origin}/moved`);
    for (const phone of [first, second]) {
      const { head, body } = await phone.fetch(`${origin}/moved`, navigation(`${origin}/moved`));
      expect([head.status, head.url, textOf(body)]).toEqual([200, `${origin}/page`, "<p>page</p>"]);
    }
    await Promise.all([first.close(), second.close()]);
  });
});
