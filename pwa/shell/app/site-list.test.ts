import { expect, it } from "vitest";
import { joined, visited, withIcon } from "./site-store.ts";
import type { Site } from "./state.ts";

const site = (url: string, icon: string | null = null): Site => ({ url, title: url, icon });
const urls = (sites: readonly Site[]) => sites.map(({ url }) => url);

it("has one row for each site, which leads to the page of the last visit", () => {
  let sites: readonly Site[] = [];
  for (const url of ["https://a.example/1", "https://b.example/", "http://www.a.example/2", "https://x.a.example/"])
    sites = visited(sites, site(url));
  expect(urls(sites)).toEqual(["https://x.a.example/", "http://www.a.example/2", "https://b.example/"]);
});

it("keeps a site's icon until another comes", () => {
  const sites = visited(
    withIcon([site("https://a.example/")], "https://a.example/x", "old"),
    site("https://a.example/2"),
  );
  expect(sites).toEqual([{ ...site("https://a.example/2"), icon: "old" }]);
  expect(visited(sites, site("https://a.example/", "new"))[0]?.icon).toBe("new");
});

it("takes back those that were forgotten, behind those visited since, and what an older release kept twice once", () => {
  const former = ["https://a.example/1", "https://b.example/", "https://a.example/2"].map((url) => site(url));
  expect(urls(joined([site("https://b.example/new")], former))).toEqual([
    "https://b.example/new",
    "https://a.example/1",
  ]);
});

it("ends after a dozen", () => {
  const many = Array.from({ length: 20 }, (_, index) => site(`https://${index}.example/`));
  expect(joined(many, [])).toHaveLength(12);
});
