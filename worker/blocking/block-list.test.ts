import { expect, it } from "vitest";
import type { RequestHead } from "../../shared/http/heads.ts";
import { requestHead } from "../../shared/testing/http/request-heads.ts";
import { compile, compiledFormat, openCompiled } from "./tracker-blocker.ts";

const LIST = `[Adblock Plus 2.0]
! A comment
||tracker.example^
||cdn.example/count.js$script,third-party
||pings.example^$ping
/telemetry/*$image,domain=news.example
@@||tracker.example/needed.js$script
news.example##.banner`;

const of = (url: string, change: Partial<RequestHead> = {}): [RequestHead, URL] => [
  { ...requestHead, url, origin: "https://news.example", topLevelOrigin: "https://news.example", ...change },
  new URL(url),
];

it("names what its rules do, by address, kind and page", async () => {
  const list = await openCompiled(await compile(LIST));
  const names = (url: string, change: Partial<RequestHead> = {}) => list.names(...of(url, change));
  const script = { destination: "script", mode: "no-cors" } as const;
  const image = { destination: "image", mode: "no-cors" } as const;

  expect(names("https://tracker.example/x", image)).toBe(true);
  expect(names("https://sub.tracker.example/x", { destination: "", mode: "cors" })).toBe(true);
  expect(names("https://tracker.example/needed.js", script)).toBe(false);
  expect(names("https://nottracker.example/x", image)).toBe(false);

  expect(names("https://cdn.example/count.js", script)).toBe(true);
  expect(names("https://cdn.example/count.js", image)).toBe(false);
  expect(names("https://cdn.example/count.js", { ...script, origin: "https://www.cdn.example" })).toBe(false);

  expect(names("https://pings.example/", { destination: "", mode: "no-cors" })).toBe(true);
  expect(names("https://pings.example/", { destination: "", mode: "cors" })).toBe(false);

  expect(names("https://a.example/telemetry/1.gif", image)).toBe(true);
  const elsewhere = { ...image, origin: "https://other.example", topLevelOrigin: "https://other.example" };
  expect(names("https://a.example/telemetry/1.gif", elsewhere)).toBe(false);
  // Of an origin that is none, the page counts.
  expect(names("https://a.example/telemetry/1.gif", { ...image, origin: "null" })).toBe(true);
});

it("is none where the text has no rule, or the format is another's", async () => {
  await expect(compile("! nothing\n\n")).rejects.toThrow("Cannot read the block list: it has no rule");
  await expect(openCompiled(new Uint8Array(64))).rejects.toThrow();
  expect(await compiledFormat()).toBeGreaterThan(0);
});
