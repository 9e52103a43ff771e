import { describe, expect, it } from "vitest";
import { MESSAGE_TAG, type PageToShell } from "../../messages/page-messages.ts";
import { encodeForm, utf8 } from "../../slot/page/navigation-rules.ts";
import { pageNavigation, windowNavigation } from "./navigation-request.ts";

type Navigate = PageToShell & { type: "navigate" };

const PAGE = "https://a.example";
const TARGET = "https://b.example/x";

function request(message: Partial<Record<keyof Navigate, unknown>> = {}) {
  const link = { tag: MESSAGE_TAG, type: "navigate", url: TARGET, method: "GET", headers: [], body: null };
  return pageNavigation({ ...link, referrer: "", replace: false, ...message } as Navigate, TARGET, PAGE);
}

describe("pageNavigation", () => {
  it("takes what a link says", () => {
    const referrer = `${PAGE}/page?x`;
    expect(request({ referrer })).toEqual({
      url: TARGET,
      method: "GET",
      headers: [],
      body: null,
      referrer,
      initiator: PAGE,
      isUnasked: false,
    });
    expect(request({ isUnasked: true })).toMatchObject({ isUnasked: true });
  });

  it.each(["application/x-www-form-urlencoded", "text/plain", "multipart/form-data"] as const)(
    "takes a form of type %s as it is",
    async (encoding) => {
      const data = new FormData();
      data.append("name", "välue");
      const { contentType, body } = await encodeForm(data, encoding, utf8);
      const headers = [["content-type", contentType]];
      expect(request({ method: "POST", headers, body })).toMatchObject({ method: "POST", headers, body });
    },
  );

  it.each(["PUT", "DELETE", "post", "CONNECT", "", 7])("makes a GET of method %s", (method) => {
    expect(request({ method, body: new ArrayBuffer(1) })).toMatchObject({ method: "GET", body: null });
  });

  it("makes a GET of a POST without a form's body", () => {
    for (const body of [null, "text", {}]) expect(request({ method: "POST", body })).toMatchObject({ method: "GET" });
  });

  it.each([
    [[["content-type", "application/json"]]],
    [[["content-type", "text/plain\r\nx: y"]]],
    [[["x-requested-with", "XMLHttpRequest"]]],
    [
      [
        [":scheme", "ropeway"],
        [":authority", ""],
      ],
    ],
    ["content-type: text/plain"],
    [[null]],
    [undefined],
  ])("leaves out fields that no form sends: %j", (headers) => {
    const body = new ArrayBuffer(1);
    expect(request({ method: "POST", headers, body }).headers).toEqual([]);
    expect(request({ headers }).headers).toEqual([]);
  });

  it.each(["https://bank.example/", `${PAGE}.evil.example/`, "about:blank", "x", 1])(
    "takes no referrer of anybody else: %s",
    (referrer) => expect(request({ referrer }).referrer).toBe(""),
  );
});

describe("windowNavigation", () => {
  it("leads a window to a web page, with a referrer of the page that does so alone", () => {
    const go = { kind: "go", url: TARGET, replace: false } as const;
    const referrers = [`${PAGE}/page?x`, "https://bank.example/", undefined];
    const sent = referrers.map((referrer) => windowNavigation({ ...go, referrer } as typeof go, PAGE));
    expect(sent.map((each) => [each?.url, each?.initiator, each?.referrer])).toEqual(
      [referrers[0], "", ""].map((referrer) => [TARGET, PAGE, referrer]),
    );
    expect(windowNavigation({ ...go, url: "about:blank" }, PAGE)).toBe(null);
    expect(windowNavigation({ kind: "close" }, PAGE)).toBe(null);
  });
});
