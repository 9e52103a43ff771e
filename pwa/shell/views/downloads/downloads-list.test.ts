import { expect, it } from "vitest";
import type { Download } from "../../../messages/tunnel-messages.ts";
import { mayBegin, nextRate, stateText } from "./downloads-chunk.tsx";

const DOWNLOAD: Download = {
  id: "1",
  name: "tide.zip",
  url: "https://a.example/tide.zip",
  topLevelOrigin: "https://a.example",
  type: "application/zip",
  size: 10_000_000,
  bytes: 2_500_000,
  begunAt: 0,
  state: { kind: "running" },
  mayGoOn: true,
  isAnew: false,
  isShown: false,
};

it.each<[Partial<Download>, number, string]>([
  [{}, 0, "2.5 MB of 10 MB"],
  [{}, 50_000, "2.5 MB of 10 MB, 50 kB/s, 3 min left"],
  [{}, 5_000_000, "2.5 MB of 10 MB, 5.0 MB/s, 2 s left"],
  [{}, 1_000, "2.5 MB of 10 MB, 1.0 kB/s, 2.1 h left"],
  [{ size: null, mayGoOn: false }, 50_000, "2.5 MB, 50 kB/s. Begins anew if the app is closed"],
  [{ state: { kind: "waiting" } }, 0, "2.5 MB of 10 MB, waits for the link"],
  [{ state: { kind: "paused" } }, 0, "2.5 MB of 10 MB, paused"],
  [{ state: { kind: "paused" }, mayGoOn: false }, 0, "2.5 MB of 10 MB, paused. It will begin anew"],
  [{ state: { kind: "failed", why: "Cannot" } }, 0, "Cannot"],
  [
    { size: 2_000_000, state: { kind: "failed", why: "It has {size} of {room}; {status}", room: 1_500, status: 403 } },
    0,
    "It has 2.0 MB of 1.5 kB; 403",
  ],
  [{ state: { kind: "asked" } }, 0, "10 MB. The site began it with no tap of yours"],
  [
    { state: { kind: "done" }, bytes: 10_000_000, isAnew: true },
    0,
    "10 MB, application/zip. Begun anew: its site has another file now, or cannot send a part",
  ],
])("says of %o at %s bytes a second: %s", (change, rate, text) => {
  expect(stateText({ ...DOWNLOAD, ...change }, rate)).toBe(text);
});

it("knows how fast a file comes from the second look on, and forgets it where it begins anew", () => {
  const first = nextRate(undefined, 1_000, 0);
  const second = nextRate(first, 3_000, 1_000);
  const third = nextRate(second, 3_000, 2_000);
  const anew = nextRate(third, 0, 3_000);
  expect([first, second, third, anew].map(({ perSecond }) => Math.round(perSecond))).toEqual([0, 2_000, 1_400, 0]);
});

it("lets a site begin one file with no tap, and another after each tap", () => {
  const site = "once.example";
  expect([false, false, true, false, false].map((isTapped) => mayBegin(site, isTapped))).toEqual([
    true,
    false,
    true,
    true,
    false,
  ]);
  expect(mayBegin("other.example", false)).toBe(true);
});

it("lets no site begin any number of files by one tap, which a browser tells of for seconds", () => {
  const begun = Array.from({ length: 9 }, () => mayBegin("many.example", true));
  expect(begun.filter(Boolean).length).toBeLessThanOrEqual(4);
  expect(begun[0]).toBe(true);
});
