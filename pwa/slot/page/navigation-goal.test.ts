import { describe, expect, it } from "vitest";
import { downloadUrl, type NavigationGoal, navigationGoal, upgraded } from "./navigation-rules.ts";

const slot = { slotOrigin: "http://s1.localhost:8787", realOrigin: "https://example.org" };
const toSlot = (url: string): NavigationGoal => ({ kind: "slot", url });
const toShell = (url: string): NavigationGoal => ({ kind: "shell", url });

describe("navigationGoal", () => {
  it.each<[string, NavigationGoal]>([
    ["http://s1.localhost:8787/a#b", toSlot("http://s1.localhost:8787/a#b")],
    ["https://s1.localhost:8787/a", toSlot("http://s1.localhost:8787/a")],
    ["https://example.org/a?b", toSlot("http://s1.localhost:8787/a?b")],
    ["http://example.org/", toShell("http://example.org/")],
    ["https://b.example/?u=http://s1.localhost:8787/", toShell("https://b.example/?u=https://example.org/")],
    ["http://s1.localhost:8787/.ropeway/go?url=https%3A%2F%2Fb.example%2F", toShell("https://b.example/")],
    ["http://s1.localhost:8787/.ropeway/go?url=https%3A%2F%2Fexample.org%2Fx", toSlot("http://s1.localhost:8787/x")],
    ["mailto:a@b.example", toShell("mailto:a@b.example")],
    ["intent://x", toShell("intent://x")],
    ["javascript:void 0", { kind: "native" }],
    ["about:blank", { kind: "native" }],
    ["blob:http://s1.localhost:8787/1", { kind: "native" }],
    ["nonsense", { kind: "native" }],
  ])("of a page: %s", (url, goal) => expect(navigationGoal(url, "page", slot)).toEqual(goal));

  it("sends frames to the placeholder", () => {
    expect(navigationGoal("https://b.example/", "frame", slot)).toEqual(
      toSlot("http://s1.localhost:8787/.ropeway/frame?url=https%3A%2F%2Fb.example%2F"),
    );
    expect(navigationGoal("https://example.org/x", "frame", slot)).toEqual(toSlot("http://s1.localhost:8787/x"));
  });
});

describe("upgraded", () => {
  const asked = ["default-src 'self'; upgrade-insecure-requests"];

  it.each([
    ["http://example.org/a?b", true, "https://example.org/a?b"],
    ["http://example.org/a?b", false, "https://example.org/a?b"],
    ["http://b.example/", true, "https://b.example/"],
    ["http://b.example/", false, "http://b.example/"],
    ["http://example.org:8080/", true, "https://example.org:8080/"],
    ["http://s1.localhost:8787/a", true, "http://s1.localhost:8787/a"],
    ["http://127.0.0.1/", true, "http://127.0.0.1/"],
    ["https://b.example/", true, "https://b.example/"],
    ["javascript:void 0", true, "javascript:void 0"],
    ["nonsense", true, "nonsense"],
  ])("%s, by a form: %s", (url, isForm, expected) => {
    expect(upgraded(url, isForm, asked, slot)).toBe(expected);
    expect(upgraded(url, isForm, ["connect-src http://upgrade-insecure-requests"], slot)).toBe(url);
    expect(upgraded(url, isForm, [], slot)).toBe(url);
  });

  it("of a page in clear, by its own addresses too", () => {
    const inClear = { ...slot, realOrigin: "http://example.org" };
    expect(upgraded("http://s1.localhost:8787/login", true, asked, inClear)).toBe("https://example.org/login");
    expect(upgraded("http://s1.localhost:8787/.ropeway/x", true, asked, inClear)).toMatch(/^http:/);
  });
});

it("names downloads by real URLs", () => {
  expect(downloadUrl("http://s1.localhost:8787/f", "a b", slot)).toBe(
    "http://s1.localhost:8787/.ropeway/download?url=https%3A%2F%2Fexample.org%2Ff&name=a%20b",
  );
});
