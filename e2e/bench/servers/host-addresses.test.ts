import { describe, expect, it } from "vitest";
import type { Site } from "../model.ts";
import { hostAddresses } from "./host-addresses.ts";

function siteOf(...names: string[]): Site {
  const hosts = names.map((name) => ({ name, root: "/", cacheControl: [] }));
  return { name: names[0] ?? "", url: `https://${names[0]}/`, hosts, objects: 1, bytes: 1, codedBytes: 1, depth: 1 };
}

describe("hostAddresses", () => {
  it("gives the hosts of one site different addresses", () => {
    const names = Array.from({ length: 20 }, (_, index) => `h${index}.test`);
    const addresses = Object.values(hostAddresses([siteOf("other.test"), siteOf(...names)]));
    expect(addresses).toHaveLength(21);
    expect(new Set(addresses.slice(1)).size).toBe(20);
  });

  it("gives a host that several sites use one address, apart from their others", () => {
    const addresses = hostAddresses([siteOf("a.test", "fonts.test"), siteOf("b.test", "fonts.test")], ["api.test"]);
    expect(Object.keys(addresses)).toEqual(["a.test", "fonts.test", "b.test", "api.test"]);
    expect(addresses["b.test"]).not.toBe(addresses["fonts.test"]);
  });
});
