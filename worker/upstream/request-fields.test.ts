import { describe, expect, it } from "vitest";
import { ErrorCode } from "../../shared/errors.ts";
import type { HeaderList, ReferrerPolicy } from "../../shared/http/heads.ts";
import { buildRequestHeaders, type OutgoingRequest, originField, pageFields, serializedOrigin } from "./fields.ts";

const urls = (...hrefs: [string, ...string[]]) => hrefs.map((href) => new URL(href)) as [URL, ...URL[]];

function build(request: Partial<OutgoingRequest> = {}): Record<string, string> {
  return Object.fromEntries(
    buildRequestHeaders({
      head: { destination: "image", mode: "no-cors", origin: "https://a.example" },
      chain: urls("https://cdn.b.example/x.png"),
      fields: [],
      origin: null,
      referrer: "https://a.example/",
      cookie: "",
      userAgent: "Phone/1.0",
      acceptLanguage: "de",
      ...request,
    }),
  );
}

describe("pageFields", () => {
  it("drops what belongs to the connection, to the browser, or tells about the way", () => {
    const dropped: HeaderList = [
      ["Connection", "keep-alive, X-Secret-Hop"],
      ["x-secret-hop", "1"],
      ["keep-alive", "timeout=5"],
      ["te", "trailers"],
      ["transfer-encoding", "chunked"],
      ["upgrade", "h2c"],
      ["proxy-authorization", "Basic x"],
      ["cf-connecting-ip", "1.2.3.4"],
      ["CF-Ray", "x"],
      ["x-forwarded-for", "1.2.3.4"],
      ["X-Forwarded-Proto", "https"],
      ["forwarded", "for=1.2.3.4"],
      ["x-real-ip", "1.2.3.4"],
      ["host", "s7k2.ropeway.example"],
      ["cookie", "a=b"],
      ["origin", "https://s7k2.ropeway.example"],
      ["referer", "https://s7k2.ropeway.example/"],
      ["user-agent", "x"],
      ["sec-fetch-site", "none"],
      ["sec-ch-ua", "x"],
      ["accept-encoding", "zstd"],
      ["content-length", "5"],
    ];
    expect(pageFields(dropped)).toEqual([]);
  });

  it("keeps the rest, repeated ones too, in lower case", () => {
    expect(
      pageFields([
        ["Accept", "image/avif"],
        ["X-Requested-With", "XMLHttpRequest"],
        ["range", "bytes=0-"],
        ["authorization", "Bearer x"],
        ["x-a", "1"],
        ["x-a", "2"],
      ]),
    ).toEqual([
      ["accept", "image/avif"],
      ["x-requested-with", "XMLHttpRequest"],
      ["range", "bytes=0-"],
      ["authorization", "Bearer x"],
      ["x-a", "1"],
      ["x-a", "2"],
    ]);
  });
});

describe("buildRequestHeaders", () => {
  it("looks like a browser's request for an image", () => {
    expect(build()).toEqual({
      accept: "image/png,image/svg+xml,image/*;q=0.8,*/*;q=0.5",
      "accept-encoding": "gzip, br",
      "accept-language": "de",
      referer: "https://a.example/",
      "sec-fetch-dest": "image",
      "sec-fetch-mode": "no-cors",
      "sec-fetch-site": "cross-site",
      "user-agent": "Phone/1.0",
    });
  });

  it("looks like a browser's navigation", () => {
    expect(
      build({
        head: { destination: "document", mode: "navigate", origin: null },
        chain: urls("https://a.example/"),
        referrer: "",
        cookie: "a=b",
      }),
    ).toEqual({
      accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
      "accept-encoding": "gzip, br",
      "accept-language": "de",
      cookie: "a=b",
      "sec-fetch-dest": "document",
      "sec-fetch-mode": "navigate",
      "sec-fetch-site": "none",
      "sec-fetch-user": "?1",
      "upgrade-insecure-requests": "1",
      "user-agent": "Phone/1.0",
    });
  });

  it.each([
    ["Chromium's, where the hints are its, too", "Chrome/156.0.0.0", {}, "image/jxl,image/avif,image/webp,image/apng,"],
    [
      "that of a Chromium without JPEG XL",
      "Chrome/140.0.0.0",
      { image: "image/avif,*/*" },
      "image/avif,image/webp,image/apng,",
    ],
    ["that of others", "Firefox/153.0", { image: "image/avif,*/*" }, null],
  ])("accepts in a navigation %s", (_browser, browser, accept, images) => {
    const userAgent = `Mozilla/5.0 (X11; Linux x86_64) ${browser}`;
    for (const destination of ["document", "iframe"] as const) {
      const head = { destination, mode: "navigate", origin: null } as const;
      const sent = build({ head, userAgent, accept });
      const signed = images === null ? "" : ",application/signed-exchange;v=b3;q=0.7";
      const expected = `text/html,application/xhtml+xml,application/xml;q=0.9,${images ?? ""}*/*;q=0.8${signed}`;
      expect([sent.accept, sent["sec-ch-ua"] === undefined]).toEqual([expected, images === null]);
      expect(build({ head, userAgent, accept, fields: [["accept", "a/b"]] }).accept).toBe("a/b");
    }
  });

  it("says of a page that nobody has asked for what it is", () => {
    const head = { destination: "document", mode: "navigate", origin: "https://a.example" } as const;
    const warmed = build({ head: { ...head, credentials: "omit" }, chain: urls("https://a.example/x") });
    expect(warmed["sec-purpose"]).toBe("prefetch");
    expect(warmed).not.toHaveProperty("sec-fetch-user");
    expect(build({ head, chain: urls("https://a.example/x") })).not.toHaveProperty("sec-purpose");
    const unasked = build({ head: { ...head, isUnasked: true }, chain: urls("https://a.example/x") });
    expect([unasked["sec-fetch-mode"], unasked["sec-fetch-user"]]).toEqual(["navigate", undefined]);
  });

  it("tells of the browser beside the user agent where the way is safe", () => {
    const userAgent = "Mozilla/5.0 (X11; Linux x86_64) Chrome/156.0.0.0";
    expect(build({ userAgent })["sec-ch-ua-platform"]).toBe(`"Linux"`);
    expect(build({ userAgent, chain: urls("http://a.example/") })["sec-ch-ua-platform"]).toBeUndefined();
  });

  it("keeps what the page asked to accept, and asks for no coding with a range", () => {
    const headers = build({
      fields: [
        ["accept", "image/avif,*/*"],
        ["accept-language", "fr"],
        ["range", "bytes=0-99"],
      ],
    });
    expect(headers).toMatchObject({
      accept: "image/avif,*/*",
      "accept-language": "fr",
      range: "bytes=0-99",
      "accept-encoding": "identity",
    });
  });

  it.each([
    [urls("https://a.example/x"), "same-origin"],
    [urls("https://a.example:444/x"), "same-site"],
    [urls("https://img.a.example/x"), "same-site"],
    [urls("https://b.example/x"), "cross-site"],
    [urls("https://b.example/x", "https://a.example/x"), "cross-site"],
    [urls("https://img.a.example/x", "https://a.example/x"), "same-site"],
  ])("tells the farthest site of the way", (chain, site) => {
    expect(build({ chain })["sec-fetch-site"]).toBe(site);
  });

  it("tells fetch metadata to trustworthy URLs only", () => {
    expect(Object.keys(build({ chain: urls("http://b.example/") })).filter((name) => name.startsWith("sec-"))).toEqual(
      [],
    );
    expect(build({ chain: urls("http://b.localhost/") })["sec-fetch-dest"]).toBe("image");
  });

  it("sends a cookie beyond Latin-1 as UTF-8", () => {
    expect(build({ cookie: "name=日本" }).cookie).toBe("name=\xe6\x97\xa5\xe6\x9c\xac");
    // Cut to their low bits these end the line.
    const cookie = "a=\u010d\u010aX-In: 1; b=\xe9";
    expect(build({ cookie }).cookie).toBe("a=\xc4\x8d\xc4\x8aX-In: 1; b=\xe9");
  });

  it.each([
    ["bad name", "x"],
    ["x-a", "line\nbreak"],
    ["", "x"],
  ])("refuses the field %o: %o", (name, value) => {
    expect(() => build({ fields: [[name, value]] })).toThrow(
      expect.objectContaining({ code: ErrorCode.PROTOCOL_ERROR }),
    );
  });
});

describe("origin", () => {
  it.each([
    [urls("https://a.example/"), "https://a.example"],
    [urls("https://b.example/"), "https://a.example"],
    [urls("https://a.example/", "https://b.example/"), "https://a.example"],
    [urls("https://b.example/", "https://b.example/2"), "https://a.example"],
    [urls("https://b.example/", "https://c.example/"), "null"],
    [urls("https://b.example/", "https://a.example/"), "null"],
  ])("is tainted by a redirect from one foreign origin to another", (chain, origin) => {
    expect(serializedOrigin("https://a.example", chain)).toBe(origin);
  });

  it("goes with cors, and with methods that change something", () => {
    const chain = urls("https://b.example/");
    const field = (method: string, isCors: boolean, origin: string | null = "https://a.example") =>
      originField({ origin, method, isCors }, chain);
    expect(field("GET", true)).toBe("https://a.example");
    expect(field("GET", false)).toBeNull();
    expect(field("HEAD", false)).toBeNull();
    expect(field("POST", false)).toBe("https://a.example");
    expect(field("POST", false, null)).toBe("null");
    expect(originField({ origin: "https://a.example", method: "POST", isCors: false }, urls("http://b.example/"))).toBe(
      "null",
    );
    expect(originField({ origin: "https://a.example", method: "GET", isCors: true }, urls("http://b.example/"))).toBe(
      "https://a.example",
    );
  });

  it.each<[ReferrerPolicy | "", string, string]>([
    ["no-referrer", "https://a.example/", "null"],
    ["same-origin", "https://a.example/", "https://a.example"],
    ["same-origin", "https://b.example/", "null"],
    ["strict-origin", "https://b.example/", "https://a.example"],
    ["strict-origin", "http://b.example/", "null"],
    ["unsafe-url", "http://b.example/", "https://a.example"],
    ["", "http://b.example/", "null"],
  ])("tells of a beacon under %s to %s: %s", (policy, url, told) => {
    expect(originField({ origin: "https://a.example", method: "POST", isCors: false, policy }, urls(url))).toBe(told);
    expect(originField({ origin: "https://a.example", method: "POST", isCors: true, policy }, urls(url))).toBe(
      "https://a.example",
    );
  });
});
