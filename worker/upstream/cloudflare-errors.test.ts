import { describe, expect, it } from "vitest";
import { ErrorCode } from "../../shared/errors.ts";
import { cloudflareFailure } from "./send.ts";

function answer(status: number, body: string, fields: Record<string, string> = {}): Response {
  return new Response(body, {
    status,
    headers: { server: "cloudflare", "content-type": "text/plain; charset=UTF-8", ...fields },
  });
}

describe("cloudflareFailure", () => {
  it.each([
    [530, "error code: 1016", ErrorCode.NAME_NOT_RESOLVED],
    [521, "error code: 521", ErrorCode.CONNECTION_REFUSED],
    [522, "error code: 522\n", ErrorCode.UPSTREAM_FAILED],
    [525, "error code: 525", ErrorCode.TLS_FAILED],
    [526, "error code: 526", ErrorCode.TLS_FAILED],
  ])("knows %i with %o", async (status, body, code) => {
    expect(await cloudflareFailure(answer(status, body))).toBe(code);
  });

  it.each([
    ["another number", answer(530, "error code: 1033")],
    ["a status that does not fit", answer(522, "error code: 1016")],
    ["a page", answer(522, "error code: 522", { "content-type": "text/html" })],
    ["another server", answer(522, "error code: 522", { server: "nginx" })],
    ["more text", answer(522, `error code: 522 ${"and so on ".repeat(100)}`)],
    ["an origin's own error", answer(503, "error code: 503")],
    ["success", answer(200, "error code: 200")],
  ])("leaves %s alone, and unread", async (_name, response) => {
    const copy = response.clone();
    expect(await cloudflareFailure(response)).toBeNull();
    expect(await response.text()).toBe(await copy.text());
  });
});
