import { stripVTControlCharacters } from "node:util";
import { describe, expect, it } from "vitest";
import { phoneLink } from "./phone-link.ts";

const accessKey = "abcdefghijklmnopqrstuvwxyz012345";

describe("phoneLink", () => {
  it("says how a cable makes this machine's edge the phone's own", () => {
    const text = phoneLink({ edgeUrl: "http://localhost:8787", accessKey });
    expect(text).toContain("adb reverse tcp:8787 tcp:8787");
    expect(text).toContain("docs/deploy.md");
  });

  it("is a code of white halves on black, at most 60 columns wide", () => {
    const lines = phoneLink({ edgeUrl: "https://ropeway.example", accessKey })?.split("\n") ?? [];
    expect(lines[0]).toBe("On a phone, scan this:");
    const code = lines.slice(1);
    expect(code.length).toBeGreaterThan(15);
    for (const line of code) expect(stripVTControlCharacters(line)).toMatch(/^[ ▀▄█]{30,60}$/u);
  });

  it("says nothing of an address that no phone can use", () => {
    expect(phoneLink({ edgeUrl: "http://ropeway.example:8787", accessKey })).toBeNull();
  });
});
