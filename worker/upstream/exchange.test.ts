import { describe, expect, it } from "vitest";
import { ErrorCode } from "../../shared/errors.ts";
import type { ServerResponse } from "../../shared/http/exchange.ts";
import { bodyOf } from "../../shared/testing/http/exchange-rig.ts";
import { A, failsWith, fakeWeb, fetchOf, navigationTo, redirect, requestFor } from "./testing/fake-web.ts";

function textOf({ body }: ServerResponse): Promise<string> {
  return new Response(body as BodyInit | null).text();
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

  it("asks for a page as the phone's browser would, on each hop", async () => {
    const { upstream, asked } = fakeWeb({
      "https://a.example/": () => redirect(302, "/next"),
      "https://a.example/next": () => new Response("there"),
    });
    const accept = { image: "image/avif,*/*" };
    await upstream({ ...navigationTo("https://a.example/"), userAgent: "Chrome/140.0.0.0", accept });
    const sent = asked.map(({ headers }) => headers.accept);
    expect(sent).toEqual(Array(2).fill(expect.stringMatching(/^text\/html.*;q=0\.9,image\/avif,.*signed-exchange/)));
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
      body: bodyOf("user=me"),
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
    const body = bodyOf("x");
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

it("sends no referrer of another origin, whatever they are for", async () => {
  for (const destination of ["image", "font", "style", "document"] as const) {
    const { upstream, asked } = fakeWeb({});
    const mode = destination === "document" ? "navigate" : "no-cors";
    await upstream(requestFor({ url: "https://a.example/x", destination, mode, referrer: "https://b.example/s.css" }));
    expect(asked[0]?.headers).not.toHaveProperty("referer");
  }
});
