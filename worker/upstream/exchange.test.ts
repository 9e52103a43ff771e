import { describe, expect, it } from "vitest";
import { ErrorCode } from "../../shared/errors.ts";
import type { ServerResponse } from "../../shared/http/server-exchange.ts";
import { REPLAYABLE_BODY_BYTES } from "./body/request-body.ts";
import { MAX_REDIRECTS } from "./fetch-rules/redirects.ts";
import { fakeWeb, fetchOf, navigationTo, redirect, requestFor } from "./testing/fake-web.ts";

const A = "https://a.example";
const failsWith = (code: ErrorCode) => expect.objectContaining({ code, scope: "stream" });

function textOf({ body }: ServerResponse): Promise<string> {
  return new Response(body as BodyInit | null).text();
}

function streamOf(text: string): ReadableStream<Uint8Array> {
  return new Response(text).body as ReadableStream<Uint8Array>;
}

describe("an exchange", () => {
  it("brings a page: status, fields and body, as it is", async () => {
    const page = "<p>hello</p>".repeat(100);
    const { upstream } = fakeWeb({
      "https://a.example/": () =>
        new Response(page, {
          status: 404,
          headers: { "content-type": "text/html", "content-length": `${page.length}`, "cf-ray": "x", etag: '"1"' },
        }),
    });
    const response = await upstream(navigationTo("https://a.example/#part"));
    expect(response.head).toEqual({
      status: 404,
      headers: [
        ["content-length", `${page.length}`],
        ["content-type", "text/html"],
        ["etag", '"1"'],
      ],
      url: "https://a.example/",
      redirected: false,
      coding: "identity",
      scriptCookies: [],
    });
    expect(await textOf(response)).toBe(page);
  });

  it("leaves an image as it is", async () => {
    const { upstream } = fakeWeb({
      "https://a.example/x.png": () => new Response(new Uint8Array(1517), { headers: { "content-type": "image/png" } }),
    });
    const { head, body } = await upstream(requestFor({ url: "https://a.example/x.png" }));
    expect(head.coding).toBe("identity");
    expect((await new Response(body as BodyInit).arrayBuffer()).byteLength).toBe(1517);
  });

  it.each([
    ["HEAD", 200],
    ["GET", 204],
    ["GET", 304],
  ])("has no body for %s with %i", async (method, status) => {
    const { upstream } = fakeWeb({
      "https://a.example/": () =>
        new Response(null, { status, headers: { "content-length": "500", "content-type": "text/html" } }),
    });
    const { head, body } = await upstream(fetchOf("https://a.example/", { method }));
    expect(body).toBeNull();
    expect(head).toMatchObject({ status, coding: "identity" });
    expect(head.headers).toContainEqual(["content-length", "500"]);
  });

  it("sends a form with its type, length and origin", async () => {
    const { upstream, asked } = fakeWeb({ "https://a.example/login": () => new Response("ok") });
    await upstream({
      ...navigationTo("https://a.example/login", {
        method: "POST",
        origin: A,
        referrer: "https://a.example/form",
        headers: [["content-type", "application/x-www-form-urlencoded"]],
      }),
      body: streamOf("user=me"),
    });
    expect(asked[0]).toMatchObject({
      method: "POST",
      body: "user=me",
      headers: {
        "content-type": "application/x-www-form-urlencoded",
        origin: A,
        referer: "https://a.example/form",
        "sec-fetch-site": "same-origin",
      },
    });
  });

  it("refuses what is no URL, and closes the body", async () => {
    const { upstream } = fakeWeb({});
    const body = streamOf("x");
    await expect(upstream({ ...requestFor({ url: "nonsense" }), body })).rejects.toEqual(
      failsWith(ErrorCode.PROTOCOL_ERROR),
    );
    expect((await body.getReader().read()).done).toBe(true);
  });

  it("sends the credentials of an address as Basic authentication, to that origin alone", async () => {
    const { upstream, asked } = fakeWeb({
      "https://a.example/": () => redirect(302, "/next"),
      "https://a.example/next": () => redirect(302, "https://b.example/"),
    });
    const { head } = await upstream(navigationTo("https://us%40er:p%3Ass@a.example/"));
    expect(asked.map(({ headers }) => headers.authorization)).toEqual([
      `Basic ${btoa("us@er:p:ss")}`,
      `Basic ${btoa("us@er:p:ss")}`,
      undefined,
    ]);
    expect(head.url).toBe("https://b.example/");
  });
});

describe("redirects", () => {
  it("are followed with their method rules, and the response tells the last URL", async () => {
    const { upstream, asked } = fakeWeb({
      "https://a.example/form": () => redirect(302, "/done#part"),
      "https://a.example/done": () => new Response("done"),
    });
    const { head } = await upstream({
      ...navigationTo("https://a.example/form", {
        method: "POST",
        origin: A,
        headers: [["content-type", "text/plain"]],
      }),
      body: streamOf("body"),
    });
    expect(head).toMatchObject({ url: "https://a.example/done", fragment: "#part", redirected: true, status: 200 });
    expect(asked[1]).toMatchObject({ method: "GET", body: "" });
    expect(asked[1]?.headers).not.toHaveProperty("content-type");
  });

  it("send the body again for 307", async () => {
    const { upstream, asked } = fakeWeb({
      "https://a.example/1": () => redirect(307, "/2"),
      "https://a.example/2": () => redirect(308, "https://b.example/3"),
      "https://b.example/3": () => new Response("ok"),
    });
    await upstream({
      ...navigationTo("https://a.example/1", { method: "POST", origin: A }),
      body: streamOf("payload"),
    });
    expect(asked.map(({ method, body }) => `${method} ${body}`)).toEqual(Array(3).fill("POST payload"));
    expect(asked[2]?.headers.origin).toBe(A);
  });

  it("are announced once, when the body is there and nothing of it has left", async () => {
    const { upstream, asked } = fakeWeb({
      "https://a.example/1": () => redirect(307, "/2"),
      "https://a.example/2": () => new Response("ok"),
    });
    let isRead = false;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        controller.enqueue(Buffer.from("payload"));
        controller.close();
        isRead = true;
      },
    });
    const announced: (readonly [boolean, number])[] = [];
    const beforeSend = async () => void announced.push([isRead, asked.length]);
    await upstream({ ...fetchOf("https://a.example/1", { method: "POST" }), body, beforeSend });
    expect(announced).toEqual([[true, 0]]);

    const refusal = new Error("no");
    const refused = upstream({ ...fetchOf("https://a.example/2"), beforeSend: () => Promise.reject(refusal) });
    await expect(refused).rejects.toThrow("no");
    expect(asked).toHaveLength(2);
  });

  it("say that a large body cannot be sent again", async () => {
    const { upstream } = fakeWeb({ "https://a.example/1": () => redirect(307, "/2") });
    const body = streamOf("x".repeat(REPLAYABLE_BODY_BYTES + 1));
    await expect(upstream({ ...fetchOf("https://a.example/1", { method: "PUT" }), body })).rejects.toEqual(
      failsWith(ErrorCode.BODY_NOT_REPLAYABLE),
    );
  });

  it("end after twenty", async () => {
    const { upstream, asked } = fakeWeb({ "https://a.example/loop": () => redirect(302, "/loop") });
    await expect(upstream(navigationTo("https://a.example/loop"))).rejects.toEqual(
      failsWith(ErrorCode.TOO_MANY_REDIRECTS),
    );
    expect(asked).toHaveLength(MAX_REDIRECTS + 1);
  });

  it("are given back or refused where the page asked for that", async () => {
    const { upstream, asked } = fakeWeb({ "https://a.example/1": () => redirect(302, "/2") });
    const { head } = await upstream(navigationTo("https://a.example/1", { redirect: "manual" }));
    expect(head).toMatchObject({ status: 302, redirected: false });
    expect(head.headers).toContainEqual(["location", "/2"]);
    await expect(upstream(fetchOf("https://a.example/1", { redirect: "error" }))).rejects.toEqual(
      failsWith(ErrorCode.TOO_MANY_REDIRECTS),
    );
    expect(asked).toHaveLength(2);
  });

  it.each([
    ["http://10.0.0.1/", ErrorCode.DESTINATION_FORBIDDEN],
    ["http://localhost/", ErrorCode.DESTINATION_FORBIDDEN],
    ["ftp://b.example/", ErrorCode.UNSUPPORTED_SCHEME],
  ])("do not lead to %s", async (location, code) => {
    const { upstream, asked } = fakeWeb({ "https://a.example/": () => redirect(302, location) });
    await expect(upstream(navigationTo("https://a.example/"))).rejects.toEqual(failsWith(code));
    expect(asked).toHaveLength(1);
  });

  it("take authorization and a full referrer to no other origin", async () => {
    const { upstream, asked } = fakeWeb({
      "https://a.example/1": () => redirect(302, "https://b.example/2"),
      "https://b.example/2": () => new Response("", { headers: { "access-control-allow-origin": "*" } }),
    });
    await upstream(fetchOf("https://a.example/1", { headers: [["authorization", "Bearer x"]], credentials: "omit" }));
    expect(asked.map(({ headers }) => [headers.authorization, headers.referer])).toEqual([
      ["Bearer x", "https://a.example/page"],
      [undefined, "https://a.example/"],
    ]);
  });

  it("take no referrer from https to http", async () => {
    const { upstream, asked } = fakeWeb({
      "https://a.example/1": () => redirect(302, "http://a.example/2"),
      "http://a.example/2": () => new Response(""),
    });
    await upstream(navigationTo("https://a.example/1", { referrer: "https://a.example/page", origin: A }));
    expect(asked.map(({ headers }) => headers.referer)).toEqual(["https://a.example/page", undefined]);
  });

  it.each([
    ["an image", requestFor({ url: "https://a.example/1" })],
    ["a fetch", fetchOf("https://a.example/1", { credentials: "omit" })],
    ["a document without an origin", fetchOf("https://a.example/1", { origin: null, credentials: "omit" })],
  ])("load nothing in clear for an https page: %s", async (_what, request) => {
    const open = { "access-control-allow-origin": "*" };
    const { upstream, asked } = fakeWeb({
      "https://a.example/1": () => redirect(302, "http://b.example/2", open),
      "https://b.example/2": () => new Response("safe", { headers: open }),
      "http://b.example/2": () => new Response("anybody's", { headers: open }),
    });
    await upstream(request);
    expect(asked.map(({ url }) => url)).toEqual(["https://a.example/1", "https://b.example/2"]);
  });

  it.each([
    ["a navigation", navigationTo("http://a.example/1"), "http://b.example/2"],
    [
      "an http page's image",
      requestFor({ url: "http://a.example/1", origin: "http://a.example" }),
      "http://b.example/2",
    ],
  ])("lead to http: where a browser would go there: %s", async (_what, request, target) => {
    const { upstream, asked } = fakeWeb({
      "http://a.example/1": () => redirect(302, target),
      [target]: () => new Response(""),
    });
    await upstream(request);
    expect(asked.at(-1)?.url).toBe(target);
  });

  it("keep the fragment of the last that had one", async () => {
    const { upstream } = fakeWeb({
      "https://a.example/1": () => redirect(302, "/2#one"),
      "https://a.example/2": () => redirect(302, "/3"),
      "https://a.example/3": () => new Response(""),
      "https://a.example/4": () => redirect(302, "/3"),
    });
    expect((await upstream(navigationTo("https://a.example/1"))).head).toMatchObject({
      url: "https://a.example/3",
      fragment: "#one",
    });
    expect((await upstream(navigationTo("https://a.example/4"))).head).not.toHaveProperty("fragment");
  });

  it("follow the referrer policy that they carry", async () => {
    const { upstream, asked } = fakeWeb({
      "https://a.example/1": () => redirect(302, "/2", { "referrer-policy": "no-referrer" }),
      "https://a.example/2": () => new Response(""),
    });
    await upstream(requestFor({ url: "https://a.example/1" }));
    expect(asked[1]?.headers).not.toHaveProperty("referer");
  });
});

describe("Clear-Site-Data", () => {
  const clears = { "clear-site-data": '"cache"' };

  it("is told of redirects that were followed", async () => {
    const { upstream } = fakeWeb({
      [`${A}/logout`]: () => redirect(302, "https://b.example/", clears),
      "https://b.example/": () => new Response("home"),
    });
    const { head } = await upstream(navigationTo(`${A}/logout`));
    expect(head.headers).toContainEqual(["ropeway-cleared", A]);
  });

  it("is told of other origins, whose fields are not shown", async () => {
    const allows = { "access-control-allow-origin": A, "access-control-allow-credentials": "true" };
    const { upstream } = fakeWeb({
      "https://b.example/x": () => new Response("x", { headers: { ...allows, ...clears } }),
      "https://img.a.example/x": () =>
        new Response("GIF89a\0", { headers: { "content-type": "image/gif", ...clears } }),
      "http://old.a.example/x": () => new Response("GIF89a\0", { headers: { "content-type": "image/gif", ...clears } }),
    });
    const read = await upstream(fetchOf("https://b.example/x", { credentials: "include" }));
    expect(read.head.headers).toContainEqual(["ropeway-cleared", "https://b.example"]);
    expect(read.head.headers.map(([name]) => name)).not.toContain("clear-site-data");
    const anonymous = await upstream(fetchOf("https://b.example/x"));
    expect(anonymous.head.headers.map(([name]) => name)).not.toContain("ropeway-cleared");
    const image = await upstream(requestFor({ url: "https://img.a.example/x" }));
    expect(image.head.headers).toContainEqual(["ropeway-cleared", "https://img.a.example"]);
    expect(image.head.headers.map(([name]) => name)).not.toContain("clear-site-data");
    const insecure = await upstream(requestFor({ url: "http://old.a.example/x" }));
    expect(insecure.head.headers.map(([name]) => name)).not.toContain("ropeway-cleared");
  });

  it("takes the site's cookies, those of the same response too, and tells its scripts", async () => {
    const clearing = { "clear-site-data": '"cookies"', "set-cookie": "late=1" };
    const { upstream, asked } = fakeWeb({
      [`${A}/in`]: () => new Response("", { headers: { "set-cookie": "sid=1; Path=/; Secure; HttpOnly" } }),
      [`${A}/out`]: () => new Response("", { headers: clearing }),
      [`${A}/`]: () => new Response(""),
    });
    await upstream(requestFor({ url: `${A}/in` }));
    const { head } = await upstream(requestFor({ url: `${A}/out` }));
    expect(asked.at(-1)?.headers.cookie).toBe("sid=1");
    expect(head.scriptCookies.at(-1)).toMatchObject({ name: "late", expires: 0 });
    await upstream(requestFor({ url: `${A}/` }));
    expect(asked.at(-1)?.headers).not.toHaveProperty("cookie");
  });
});

describe("cookies", () => {
  const fields = (...lines: string[]) => new Headers(lines.map((line): [string, string] => ["set-cookie", line]));

  it("are stored on every hop and used on the next", async () => {
    const { upstream, asked } = fakeWeb({
      "https://a.example/login": () =>
        new Response(null, {
          status: 303,
          headers: [...fields("sid=1; HttpOnly; Path=/", "seen=1; Path=/"), ["location", "/home"]],
        }),
      "https://a.example/home": () => new Response("home", { headers: fields("seen=2; Path=/", "deep=1; Path=/deep") }),
    });
    const { head } = await upstream(navigationTo("https://a.example/login", { method: "POST", origin: A }));
    expect(asked.map(({ headers }) => headers.cookie)).toEqual([undefined, "sid=1; seen=1"]);
    expect(head.headers.map(([name]) => name)).not.toContain("set-cookie");
    expect(head.scriptCookies.map(({ name, value }) => `${name}=${value}`)).toEqual(["seen=2", "deep=1"]);
  });

  it("tell the page of a subresource only what it set and the page may see", async () => {
    const { upstream } = fakeWeb({
      "https://a.example/": () => new Response("", { headers: fields("old=1") }),
      "https://cdn.a.example/x": () =>
        new Response("", {
          headers: fields("shared=1; Domain=a.example", "own=1", "hidden=1; Domain=a.example; HttpOnly"),
        }),
    });
    await upstream(navigationTo("https://a.example/"));
    const { head } = await upstream(requestFor({ url: "https://cdn.a.example/x" }));
    expect(head.scriptCookies.map(({ name }) => name)).toEqual(["shared"]);
  });

  it("do not follow a site into another's pages", async () => {
    const { upstream, asked } = fakeWeb({
      "https://bank.example/": () => new Response("", { headers: fields("sid=1; SameSite=None; Secure; Path=/") }),
      "https://bank.example/api": () =>
        new Response("", {
          headers: {
            "access-control-allow-origin": "https://evil.example",
            "access-control-allow-credentials": "true",
          },
        }),
    });
    await upstream(navigationTo("https://bank.example/"));
    const evil = { origin: "https://evil.example", topLevelOrigin: "https://evil.example" };
    await upstream(fetchOf("https://bank.example/api", { ...evil, credentials: "include" }));
    await upstream(requestFor({ url: "https://bank.example/", ...evil }));
    await upstream(navigationTo("https://bank.example/", evil));
    expect(asked.slice(1).map(({ headers }) => headers.cookie)).toEqual([undefined, undefined, undefined]);
  });

  it("move with a redirected navigation to the next site's partition", async () => {
    const { upstream, asked } = fakeWeb({
      "https://sso.example/": () => new Response("", { headers: fields("sso=1; Path=/") }),
      "https://a.example/login": () => redirect(302, "https://sso.example/auth"),
      "https://sso.example/auth": () => redirect(302, "https://a.example/back"),
      "https://a.example/back": () => new Response("", { headers: fields("a=1") }),
    });
    await upstream(navigationTo("https://sso.example/"));
    const { head } = await upstream(navigationTo("https://a.example/login"));
    expect(asked.find(({ url }) => url.endsWith("/auth"))?.headers.cookie).toBe("sso=1");
    expect(head.scriptCookies.map(({ name }) => name)).toEqual(["a"]);
  });
});

describe("CORS", () => {
  const api = "https://api.example/items";
  const allow = { "access-control-allow-origin": A };

  it("gives a page what the other origin shares, and only the fields it exposes", async () => {
    const { upstream, asked } = fakeWeb({
      [api]: () =>
        new Response("[]", { headers: { ...allow, "x-a": "1", "x-b": "2", "access-control-expose-headers": "x-a" } }),
    });
    const { head } = await upstream(fetchOf(api));
    expect(head.headers.map(([name]) => name)).toEqual(["content-type", "x-a"]);
    expect(asked[0]?.headers).toMatchObject({ origin: A, "sec-fetch-mode": "cors", "sec-fetch-dest": "empty" });
  });

  it("denies a page what the other origin does not share, also after a redirect", async () => {
    const { upstream } = fakeWeb({
      [api]: () => new Response("secret"),
      "https://a.example/1": () => redirect(302, api),
      "https://api.example/1": () => redirect(302, "https://b.example/", allow),
      "https://b.example/": () => new Response("secret", { headers: allow }),
    });
    for (const url of [api, "https://a.example/1", "https://api.example/1"]) {
      await expect(upstream(fetchOf(url))).rejects.toEqual(failsWith(ErrorCode.CORS_DENIED));
    }
  });

  it("asks first for what is not simple, once, and without cookies", async () => {
    const { upstream, asked } = fakeWeb({
      [`OPTIONS ${api}`]: () =>
        new Response(null, {
          headers: { ...allow, "access-control-allow-methods": "PUT", "access-control-allow-headers": "content-type" },
        }),
      [`PUT ${api}`]: () => new Response("ok", { headers: allow }),
    });
    for (let i = 0; i < 2; i++) {
      await upstream({
        ...fetchOf(api, { method: "PUT", headers: [["content-type", "application/json"]] }),
        body: streamOf("{}"),
      });
    }
    expect(asked.map(({ method, body }) => `${method} ${body}`)).toEqual(["OPTIONS ", "PUT {}", "PUT {}"]);
    expect(asked[0]?.headers).toMatchObject({
      accept: "*/*",
      origin: A,
      "access-control-request-method": "PUT",
      "access-control-request-headers": "content-type",
      "sec-fetch-mode": "cors",
    });
    expect(asked[0]?.headers).not.toHaveProperty("cookie");
  });

  it("tells the phone's store, and no page, how old a response is", async () => {
    const now = 1_700_000_000_000;
    const fields = { "access-control-allow-origin": "*", "cache-control": "max-age=600" };
    const { upstream } = fakeWeb({
      "https://b.example/age": () => new Response("x", { headers: { ...fields, age: "500" } }),
      "https://b.example/date": () =>
        new Response("x", { headers: { ...fields, date: new Date(now - 300_000).toUTCString() } }),
      "https://b.example/shown": () =>
        new Response("x", { headers: { ...fields, age: "500", "access-control-expose-headers": "age" } }),
    });
    const ask = async (path: string) => (await upstream(fetchOf(`https://b.example/${path}`))).head;
    expect((await ask("age")).headers).toContainEqual(["ropeway-age", "500"]);
    expect((await ask("age")).headers.map(([name]) => name)).not.toContain("age");
    expect((await ask("date")).headers).toContainEqual(["ropeway-age", "300"]);
    expect((await ask("date")).headers.map(([name]) => name)).not.toContain("date");
    expect((await ask("shown")).headers.map(([name]) => name)).not.toContain("ropeway-age");
  });

  it("asks no other origin for leave of what the phone's store added, and tells it nothing of that", async () => {
    const { upstream, asked } = fakeWeb({
      [`${A}/data`]: () => redirect(302, "https://b.example/data"),
      "https://b.example/data": () => new Response("x", { headers: { "access-control-allow-origin": "*" } }),
    });
    const added = [
      ["if-none-match", '"of a"'],
      ["cache-control", "max-age=0"],
    ] as const;
    const { head } = await upstream(fetchOf(`${A}/data`, { headers: added }));
    expect(head.status).toBe(200);
    expect(asked.map(({ method, url }) => `${method} ${url}`)).toEqual([`GET ${A}/data`, "GET https://b.example/data"]);
    expect(asked[0]?.headers).toMatchObject(Object.fromEntries(added));
    expect(asked[1]?.headers).not.toHaveProperty("if-none-match");
    expect(asked[1]?.headers).not.toHaveProperty("cache-control");
  });

  it("sends nothing that a preflight did not allow", async () => {
    const { upstream, asked } = fakeWeb({ [`OPTIONS ${api}`]: () => new Response(null, { headers: allow }) });
    await expect(upstream(fetchOf(api, { method: "DELETE" }))).rejects.toEqual(failsWith(ErrorCode.CORS_DENIED));
    expect(asked.map(({ method }) => method)).toEqual(["OPTIONS"]);
  });

  it("needs no consent for no-cors, but strips what is not simple", async () => {
    const { upstream, asked } = fakeWeb({ "https://b.example/x": () => new Response("x") });
    await upstream(
      requestFor({
        url: "https://b.example/x",
        headers: [
          ["x-custom", "1"],
          ["accept", "image/*"],
        ],
      }),
    );
    expect(asked[0]?.headers).not.toHaveProperty("x-custom");
    expect(asked[0]?.headers.accept).toBe("image/*");
    await expect(upstream(requestFor({ url: "https://b.example/x", method: "DELETE" }))).rejects.toEqual(
      failsWith(ErrorCode.CORS_DENIED),
    );
  });

  it("follows no redirect with a user name in it", async () => {
    const { upstream } = fakeWeb({ [api]: () => redirect(302, "https://u:p@api.example/x", allow) });
    await expect(upstream(fetchOf(api))).rejects.toEqual(failsWith(ErrorCode.CORS_DENIED));
  });
});

it("sends no referrer of another origin, whatever they are for", async () => {
  for (const destination of ["image", "font", "style", "document"] as const) {
    const { upstream, asked } = fakeWeb({});
    const mode = destination === "document" ? "navigate" : "no-cors";
    await upstream(requestFor({ url: "https://a.example/x", destination, mode, referrer: "https://b.example/s.css" }));
    expect(asked[0]?.headers).not.toHaveProperty("referer");
  }
});
