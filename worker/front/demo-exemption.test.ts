import { describe, expect, it } from "vitest";
import { demoExemption } from "./edge-settings.ts";

describe("the demo site's exemption", () => {
  it("is for exactly the origins that are listed", () => {
    const isExempt = demoExemption("http://news.localhost:8788  http://localhost:8788");
    expect(isExempt(new URL("http://news.localhost:8788/a?b"))).toBe(true);
    expect(isExempt(new URL("http://localhost:8788/"))).toBe(true);
    for (const url of [
      "http://localhost:8789/",
      "https://localhost:8788/",
      "http://localhost/",
      "http://x.localhost:8788/",
      "http://127.0.0.1:8788/",
      "data:,x",
    ]) {
      expect(isExempt(new URL(url)), url).toBe(false);
    }
  });

  it.each([undefined, "", " "])("is for none when %j is configured", (origins) => {
    const isExempt = demoExemption(origins);
    expect(isExempt(new URL("http://localhost:8788/"))).toBe(false);
    expect(isExempt(new URL("data:,x"))).toBe(false);
  });
});
