import { expect, it } from "vitest";
import { NO_COST } from "../tab/page-meter.ts";
import { MapStorage } from "../testing/map-storage.ts";
import { SiteUse } from "./phone.ts";
import type { TabState } from "./state.ts";

const november = new Date(2026, 10, 24).getTime();
const state = (url: string, link: number, origin: number, phase: TabState["phase"] = "loaded") => ({
  phase,
  url,
  cost: { ...NO_COST, linkBytesUp: 1, linkBytesDown: link - 1, originBytes: origin },
});

it("counts each site's pages once they have loaded, and what they load then", () => {
  const storage = new MapStorage();
  let now = november;
  const use = new SiteUse(storage, () => now);
  const [page, next] = ["https://www.a.example/", "http://a.example/next"];
  use.count(state("https://b.example/", 9_000, 9_000, "loading"));
  use.count(state(page, 10_000, 30_000));
  use.count(state(page, 10_500, 30_500));
  expect(use.of(page)).toEqual({ linkBytes: 10_000, originBytes: 30_000 });
  use.count(state(page, 20_000, 50_000));
  use.count(state(page, 0, 0, "loading"));
  use.count(state(next, 1_000, 900));
  expect(use.of(next)).toEqual({ linkBytes: 21_000, originBytes: 50_900 });
  expect(use.of("https://b.example/")).toEqual({ linkBytes: 0, originBytes: 0 });
  // Another window, or start.
  const other = new SiteUse(storage, () => now);
  other.count(state(page, 100, 100));
  expect(use.of(page).linkBytes).toBe(21_100);
  now = new Date(2026, 11, 1).getTime();
  expect(use.of(page).linkBytes).toBe(0);
});

it("keeps the latest hundred sites, and forgets those that it is told to", () => {
  const storage = new MapStorage();
  const use = new SiteUse(storage, () => november);
  for (let i = 0; i < 120; i++) {
    use.count(state("", 0, 0, "loading"));
    use.count(state(`https://${i}.example/`, 100, 100));
  }
  expect(use.of("https://19.example/").linkBytes).toBe(0);
  expect(use.of("https://20.example/").linkBytes).toBe(100);
  use.forget((url) => new URL(url).hostname === "20.example");
  expect(use.of("https://20.example/").linkBytes).toBe(0);
  expect(use.of("https://21.example/").linkBytes).toBe(100);
  for (const broken of ["{", "null", '{"month":"2026-11"}', '{"month":"2026-11","sites":1}']) {
    storage.setItem("ropeway.site-use", broken);
    expect(use.of("https://21.example/")).toEqual({ linkBytes: 0, originBytes: 0 });
  }
});
