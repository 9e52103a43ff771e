import { expect, it } from "vitest";
import { precacheManifest } from "./precache.ts";

const files = (page: string) =>
  new Map([
    ["index.html", Buffer.from(page)],
    ["shell.js", Buffer.from("shell")],
    [".ropeway/tunnel.js", Buffer.from("tunnel")],
    [".ropeway/sheets-0123456789abcdef0123.js", Buffer.from("sheets")],
    [".ropeway/boot.js", Buffer.from("boot")],
    ["screenshots/page-light.jpg", Buffer.from("picture")],
  ]);
const revisions = (...args: Parameters<typeof precacheManifest>) =>
  Object.fromEntries(precacheManifest(...args).map(({ url, revision }) => [url, revision]));

it("lists the shell's files as they are asked for", () => {
  expect(Object.keys(revisions(files("page")))).toEqual([
    "/",
    "/.ropeway/sheets-0123456789abcdef0123.js",
    "/.ropeway/tunnel.js",
    "/shell.js",
  ]);
});

it("gives a file another revision when its content changes, or its header fields do", () => {
  const before = revisions(files("page"));
  expect(revisions(files("page"))).toEqual(before);
  expect(revisions(files("other"))).toEqual({ ...before, "/": expect.not.stringMatching(before["/"] ?? "") });
  const after = revisions(files("page"), () => ({ "cross-origin-opener-policy": "unsafe-none" }));
  for (const [url, revision] of Object.entries(before)) expect(after[url]).not.toBe(revision);
});
