import { describe, expect, it } from "vitest";
import { ErrorCode, RopewayError } from "../../shared/errors.ts";
import { A, fakeWeb, fetchOf, navigationTo, redirect, requestFor } from "./testing/fake-web.ts";

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

  it("neither go with a navigation without credentials nor come from one, and who asks may end it by its head", async () => {
    const { upstream, asked } = fakeWeb({
      "https://a.example/": () => new Response("", { headers: fields("sid=1; Path=/") }),
      "https://a.example/next": () => new Response("page", { headers: fields("more=1; Path=/") }),
    });
    await upstream(navigationTo("https://a.example/"));
    const next = navigationTo("https://a.example/next", { credentials: "omit" });
    const { body } = await upstream(next);
    await body?.cancel();
    await upstream(navigationTo("https://a.example/"));
    expect(asked.map(({ headers }) => headers.cookie)).toEqual([undefined, undefined, "sid=1"]);
    const seen: (string | null)[] = [];
    const checkResponse = ({ headers }: Response) => {
      seen.push(headers.get("set-cookie"));
      throw new RopewayError(ErrorCode.CANCEL, "stream", "library", "Cannot keep it");
    };
    await expect(upstream({ ...next, checkResponse })).rejects.toMatchObject({ code: ErrorCode.CANCEL });
    expect(seen).toEqual(["more=1; Path=/"]);
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
