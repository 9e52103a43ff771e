import { describe, expect, it } from "vitest";
import type { PortRequestHead } from "../../messages/port-messages.ts";
import { slotContext } from "../slot-exchange.ts";
import { requestHead } from "./slot-request.ts";

const SLOT = "http://s1.localhost:8787";

function context(origin: string, topLevel = true) {
  return slotContext(new URL(SLOT), { origin, topLevelOrigin: origin, topLevel });
}

interface Asked {
  readonly url: string;
  readonly from?: string;
  readonly headers?: Record<string, string>;
  readonly referrer?: string;
  readonly documentUrl?: string | null;
  readonly bodyLength?: number;
  readonly request?: Partial<Request>;
  readonly topLevel?: boolean;
}

/** As a fetch event has it; Node makes no requests of mode navigate. */
function headOf(asked: Asked): PortRequestHead {
  const request = {
    url: asked.url,
    method: "GET",
    headers: new Headers(asked.headers),
    destination: "image",
    mode: "no-cors",
    credentials: "include",
    redirect: "follow",
    referrer: asked.referrer ?? "",
    referrerPolicy: "",
    ...asked.request,
  } as Request;
  return requestHead(request, asked.url, context(asked.from ?? "https://example.org", asked.topLevel), {
    documentUrl: asked.documentUrl ?? null,
    bodyLength: asked.bodyLength ?? null,
  });
}

describe("requestHead", () => {
  it.each([
    [`${SLOT}/a?b#c`, "https://example.org/a?b"],
    [`${SLOT}/go?next=${encodeURIComponent(`${SLOT}/x`)}`, "https://example.org/go?next=https%3A%2F%2Fexample.org%2Fx"],
    ["https://cdn.example/x.js", "https://cdn.example/x.js"],
  ])("asks for %s by its real URL", (url, real) => expect(headOf({ url }).url).toBe(real));

  it("never tells an origin that somebody wanted a picture as it is", () => {
    const url = `${SLOT}/a.jpg?b&ropeway-original`;
    const of = (request: Partial<Request>) => headOf({ url, request });
    const real = "https://example.org/a.jpg?b";
    expect(of({ destination: "image" })).toMatchObject({ url: real, wantsOriginal: true });
    expect(of({ destination: "video" })).toMatchObject({ url: real, wantsOriginal: true });
    expect(of({ destination: "", mode: "cors" }).url).toBe(real);
    expect(of({ destination: "", mode: "cors" }).wantsOriginal).toBeUndefined();
  });

  it("leaves a script its own languages", () => {
    const headers = { "accept-language": "tlh, en;q=0.1" };
    expect(headOf({ url: `${SLOT}/`, headers }).headers).toEqual([["accept-language", "tlh, en;q=0.1"]]);
  });

  it("keeps to itself what browser and edge set", () => {
    const headers = {
      accept: "image/*",
      "user-agent": "UA",
      "accept-language": `${navigator.languages.join(",")};q=0.9`,
      "sec-purpose": "x",
      "ropeway-upload": "7",
      range: "bytes=0-",
    };
    expect(headOf({ url: `${SLOT}/`, headers, bodyLength: 3 }).headers).toEqual([
      ["accept", "image/*"],
      ["range", "bytes=0-"],
      ["content-length", "3"],
    ]);
  });

  it.each(["no-cache", "reload", "force-cache"] as const)(
    "passes on the cache mode %s, which is a reload's or the history's",
    (cache) => {
      expect(headOf({ url: `${SLOT}/`, request: { cache } }).cache).toBe(cache);
      expect(headOf({ url: `${SLOT}/`, request: { cache: "default" } }).cache).toBeUndefined();
    },
  );

  it("lets redirects of a navigation out of the origin come back", () => {
    const request = { mode: "navigate", destination: "iframe", redirect: "manual" } as const;
    const page = { destination: "document", mode: "navigate", redirect: "same-origin", credentials: "include" };
    expect(headOf({ url: `${SLOT}/`, request })).toMatchObject(page);
    expect(headOf({ url: `${SLOT}/`, request, topLevel: false })).toMatchObject({ ...page, destination: "iframe" });
  });

  it.each([
    [
      "upgrades what an https: page loads",
      "https://example.org",
      "http://cdn.example/x.png",
      "https://cdn.example/x.png",
    ],
    ["keeps a port that is named", "https://example.org", "http://cdn.example:81/", "https://cdn.example:81/"],
    ["leaves this machine as it is", "https://example.org", "http://127.0.0.1:81/", "http://127.0.0.1:81/"],
    ["upgrades nothing for an http: page", "http://example.org", "http://cdn.example/", "http://cdn.example/"],
  ])("%s", (_what, from, url, asked) => expect(headOf({ from, url }).url).toBe(asked));

  it("upgrades no navigation", () => {
    expect(headOf({ url: "http://b.example/", request: { mode: "navigate" } }).url).toBe("http://b.example/");
  });

  it("sends the referrer that the real page would have", () => {
    const page = { documentUrl: `${SLOT}/dir/page?q`, referrer: `${SLOT}/dir/page?q` };
    expect(headOf({ url: `${SLOT}/a`, ...page }).referrer).toBe("https://example.org/dir/page?q");
    expect(headOf({ url: "https://b.example/", ...page }).referrer).toBe("https://example.org/");
    expect(headOf({ url: `${SLOT}/a`, documentUrl: page.documentUrl }).referrer).toBe("");
  });

  it("completes a referrer that the browser cut for the slot", () => {
    const cut = { url: "https://b.example/", referrer: `${SLOT}/`, documentUrl: `${SLOT}/dir/page` };
    expect(headOf({ ...cut, request: { referrerPolicy: "unsafe-url" } }).referrer).toBe("https://example.org/dir/page");
    expect(headOf({ ...cut, url: `${SLOT}/a`, documentUrl: "about:srcdoc" }).referrer).toBe("https://example.org/");
  });
});
