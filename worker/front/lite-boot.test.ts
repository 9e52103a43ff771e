import { describe, expect, it } from "vitest";
import { liteBoot } from "./router.ts";

function ask(path: string, destination: string | null, method = "GET"): Response | null {
  const url = new URL(path, "https://ropeway.example");
  const headers = destination === null ? {} : { "sec-fetch-dest": destination };
  return liteBoot(url, new Request(url, { method, headers }), { "x-ours": "1" });
}

describe("liteBoot", () => {
  it.each([
    ["/~https:a.example/b", "iframe", "GET"],
    ["/~https:a.example/b", null, "GET"],
    ["/~https:a.example/b", "iframe", "POST"],
    ["/login", "iframe", "POST"],
    ["/", "iframe", "GET"],
    ["/.ropeway/pair", "iframe", "POST"],
    ["/shell.js", "embed", "GET"],
  ])("answers %s in a frame (%s, %s) with a page that does nothing", async (path, destination, method) => {
    const answer = ask(path, destination, method);
    expect(answer?.status).toBe(200);
    expect(answer?.headers.get("cache-control")).toBe("no-store");
    expect(answer?.headers.get("content-security-policy")).toMatch(/^sandbox allow-same-origin; default-src 'none'/);
    expect(await answer?.text()).toContain(`<meta name="ropeway-boot" content="${method}">`);
  });

  it("has nothing for what a page loads, and opens the app for a page in a window of its own", () => {
    expect(ask("/~https:a.example/b.png", "image")?.status).toBe(404);
    expect(ask("/~https:a.example/b", "document")?.headers.get("location")).toBe("/");
  });

  it.each([
    ["/", "document", "GET"],
    ["/blank", "iframe", "GET"],
    ["/shell.js", "script", "GET"],
    ["/.ropeway/pair", "empty", "POST"],
    ["/.ropeway/health", null, "GET"],
  ])("leaves the app's own %s (%s, %s) alone", (path, destination, method) => {
    expect(ask(path, destination, method)).toBeNull();
  });
});
