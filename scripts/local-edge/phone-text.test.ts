import { stripVTControlCharacters } from "node:util";
import { describe, expect, it } from "vitest";
import { phoneText } from "./phone-text.ts";

const accessKey = "abcdefghijklmnopqrstuvwxyz012345";

describe("phoneText", () => {
  it("says how a cable makes this machine's edge the phone's own", () => {
    const text = phoneText({ edgeUrl: "http://localhost:8787", accessKey });
    expect(text).toContain("adb reverse tcp:8787 tcp:8787");
    expect(text).toContain("docs/deploy.md");
  });

  it("is a code of white halves on black, at most 60 columns wide", () => {
    const lines = phoneText({ edgeUrl: "https://ropeway.example", accessKey })?.split("\n") ?? [];
    expect(lines[0]).toBe("On a phone, scan this:");
    const code = lines.slice(1);
    expect(code.length).toBeGreaterThan(15);
    for (const line of code) expect(stripVTControlCharacters(line)).toMatch(/^[ ▀▄█]{30,60}$/u);
  });

  it("says nothing of an address that no phone can use", () => {
    expect(phoneText({ edgeUrl: "http://ropeway.example:8787", accessKey })).toBeNull();
  });
});
