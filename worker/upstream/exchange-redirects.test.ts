import { describe, expect, it } from "vitest";
import { ErrorCode } from "../../shared/errors.ts";
import { bodyOf } from "../../shared/testing/http/exchange-rig.ts";
import { MAX_REDIRECTS } from "./redirects.ts";
import { REPLAYABLE_BODY_BYTES } from "./request-body.ts";
import { A, failsWith, fakeWeb, fetchOf, navigationTo, redirect, requestFor } from "./testing/fake-web.ts";

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
      body: bodyOf("body"),
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
      body: bodyOf("payload"),
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
    const body = bodyOf("x".repeat(REPLAYABLE_BODY_BYTES + 1));
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
    ["data:text/html,x", ErrorCode.UNSUPPORTED_SCHEME],
  ])("do not lead to %s", async (location, code) => {
    const { upstream, asked } = fakeWeb({ "https://a.example/": () => redirect(302, location) });
    await expect(upstream(navigationTo("https://a.example/"))).rejects.toEqual(failsWith(code));
    expect(asked).toHaveLength(1);
  });

  it("go back to the phone where they lead a page to another app, and fail what a script fetches", async () => {
    for (const redirectMode of ["follow", "same-origin"] as const) {
      const { upstream, asked } = fakeWeb({ "https://a.example/": () => redirect(302, "tel:+49301234") });
      const { head } = await upstream(navigationTo("https://a.example/", { redirect: redirectMode }));
      expect([head.status, new Map(head.headers).get("location"), head.url]).toEqual([
        302,
        "tel:+49301234",
        "https://a.example/",
      ]);
      expect(asked).toHaveLength(1);
    }
    const { upstream } = fakeWeb({ "https://a.example/": () => redirect(302, "tel:+49301234") });
    await expect(upstream(fetchOf("https://a.example/"))).rejects.toEqual(failsWith(ErrorCode.UNSUPPORTED_SCHEME));
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

  it("take Basic authentication along within an origin, and no digest, which is of one address", async () => {
    for (const [value, there] of [
      ["Basic YTpi", "Basic YTpi"],
      ['Digest username="a", uri="/1"', undefined],
    ] as const) {
      const { upstream, asked } = fakeWeb({
        "https://a.example/1": () => redirect(301, "/1/"),
        "https://a.example/1/": () => new Response(""),
      });
      await upstream(navigationTo("https://a.example/1", { headers: [["authorization", value]] }));
      expect(asked.map(({ headers }) => headers.authorization)).toEqual([value, there]);
    }
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

  it.each([
    [undefined, "https://a.example/"],
    ["unsafe-url", "https://a.example/page"],
    ["same-origin", undefined],
  ] as const)("follow the page's own referrer policy: %s", async (referrerPolicy, referer) => {
    const { upstream, asked } = fakeWeb({
      "https://a.example/1": () => redirect(302, "https://b.example/2"),
      "https://b.example/2": () => new Response(""),
    });
    const page = { origin: "https://a.example", referrer: "https://a.example/page" };
    await upstream(
      requestFor({ url: "https://a.example/1", mode: "no-cors", ...page, ...(referrerPolicy && { referrerPolicy }) }),
    );
    expect(new Headers(asked[1]?.headers as HeadersInit).get("referer") ?? undefined).toBe(referer);
  });
});
