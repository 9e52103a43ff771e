import { describe, expect, it } from "vitest";
import { loadFloor, revisitFloor } from "./floor.ts";

describe("loadFloor", () => {
  it("is a round trip and the bytes at the link's rate", () => {
    expect(loadFloor({ delay: 300, down: 0, loss: 0 }, 1e6)).toBe(600);
    // 1,448 bytes of content to a packet of 1,500 bytes, 1,000 packets: 12 Mbit.
    expect(loadFloor({ delay: 0, down: 12_000, loss: 0 }, 1_448_000)).toBe(1000);
    expect(loadFloor({ delay: 0, down: 12_000, loss: 50 }, 1_448_000)).toBe(2000);
  });
});

describe("revisitFloor", () => {
  const url = "https://news.test/today/front.html";
  const floorWith = (...rules: [path: string, value: string][]) => {
    const cacheControl = rules.map(([path, value]) => ({ path, value }));
    const hosts = [
      { name: "images.test", root: "/", cacheControl: [{ path: "*", value: "max-age=9999" }] },
      { name: "news.test", root: "/", cacheControl },
    ];
    return revisitFloor({ delay: 300 }, { url, hosts }, 600_000);
  };

  it("is a round trip where the document has to be asked for", () => {
    for (const value of ["max-age=600", "no-cache", "private, max-age=0"]) {
      expect(floorWith(["*", value]), value).toEqual({ load: 600 });
    }
  });

  it("is none where it is fresh", () => {
    expect(floorWith(["*", "public, max-age=601"])).toEqual({});
  });

  it("goes by the first rule of the document's path", () => {
    const [stale, fresh] = ["max-age=60", "max-age=3600"];
    for (const path of ["*.html", "/today/*", "*/front.*", url.slice("https://news.test".length)]) {
      expect(floorWith([path, stale], ["*", fresh]), path).toEqual({ load: 600 });
    }
    for (const path of ["*.htm", "/front*", "*yesterday*", "/today/front"]) {
      expect(floorWith([path, stale], ["*", fresh]), path).toEqual({});
    }
  });
});
