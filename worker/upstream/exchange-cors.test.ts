import { describe, expect, it } from "vitest";
import { ErrorCode } from "../../shared/errors.ts";
import { bodyOf } from "../../shared/testing/http/exchange-rig.ts";
import { A, failsWith, fakeWeb, fetchOf, redirect, requestFor } from "./testing/fake-web.ts";

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

  it.each([
    ["no-store", { "cache-control": "no-cache", pragma: "no-cache" }],
    ["reload", { "cache-control": "no-cache", pragma: "no-cache" }],
    ["no-cache", { "cache-control": "max-age=0" }],
  ] as const)("tells caches on the way of the mode %s, without a preflight", async (cache, fields) => {
    const { upstream, asked } = fakeWeb({ [api]: () => new Response("[]", { headers: allow }) });
    await upstream(fetchOf(api, { cache }));
    expect(asked.map(({ method }) => method)).toEqual(["GET"]);
    expect(asked[0]?.headers).toMatchObject(fields);
    await upstream(fetchOf(api));
    expect(asked[1]?.headers).not.toHaveProperty("cache-control");
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
        body: bodyOf("{}"),
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
