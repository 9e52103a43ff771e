import { describe, expect, it } from "vitest";
import { deploymentHosts, readSlotHosts } from "./hosts.ts";

const BASE = "app.ropeway.example";

describe("ROPEWAY_SLOT_HOSTS", () => {
  it("is a list, with commas or spaces", () => {
    const hosts = ["a.ropeway.example", "b.ropeway.example", "c.ropeway.example"];
    expect(readSlotHosts("a.ropeway.example,b.ropeway.example, C.ropeway.example", BASE)).toEqual(hosts);
    expect(readSlotHosts("a.ropeway.example b.ropeway.example\nc.ropeway.example", BASE)).toEqual(hosts);
    for (const text of [undefined, "", " , "]) expect(readSlotHosts(text, BASE)).toEqual([]);
  });

  it("has ranges, with as many digits as the first number", () => {
    expect(readSlotHosts("s[08-11].ropeway.example,x.ropeway.example", BASE)).toEqual([
      "s08.ropeway.example",
      "s09.ropeway.example",
      "s10.ropeway.example",
      "s11.ropeway.example",
      "x.ropeway.example",
    ]);
    expect(readSlotHosts("s[1-24].ropeway.localhost", "ropeway.localhost")).toHaveLength(24);
  });

  it("is of one site with the base host, whatever lies above both", () => {
    const workers = "ropeway-s[01-24].me.workers.dev";
    expect(readSlotHosts(workers, "ropeway.me.workers.dev")).toHaveLength(24);
    expect(readSlotHosts("ropeway-s[01-24].me.deno.net", "ropeway.me.deno.net")).toHaveLength(24);
    for (const [text, base] of [
      ["ropeway-s[01-24].other.workers.dev", "ropeway.me.workers.dev"],
      ["s[1-8].example.com", "ropeway.example.org"],
      ["s1.localhost,s2.localhost", "ropeway.localhost"],
    ] as const)
      expect(() => readSlotHosts(text, base)).toThrow(/another site than .*: take hosts below /);
  });

  it.each([
    ["a.ropeway.example,b.ropeway.example", undefined, "without ROPEWAY_HOST: set that too"],
    ["a.workers.dev,b.workers.dev", "workers.dev", "on the public suffix list: set ROPEWAY_HOST to a host below"],
    ["a.ropeway.example,app.ropeway.example", BASE, "names app.ropeway.example, which is the app's own: take it out"],
    ["a.ropeway.example,s[1-2].ropeway.example,A.ropeway.example", BASE, "names a.ropeway.example twice: take one out"],
    ["a.ropeway.example", BASE, "names 1 host: name 2 or more"],
    ["s[1-101].ropeway.example", BASE, "name 100 hosts at most"],
    ["s[1-9].ropeway.example,t[1-99].ropeway.example", BASE, "names 108 hosts: name 100 at most"],
    ["s[9-1].ropeway.example", BASE, "a range that ends before it begins"],
    ["https://a.ropeway.example", BASE, "has https://a.ropeway.example, which is no host name: write"],
    [
      "a.ropeway.example:8787,b.ropeway.example",
      BASE,
      "has a.ropeway.example:8787, which is no host name: write a.ropeway.example",
    ],
    ["s[1-x].ropeway.example", BASE, "write names such as"],
    ["10.0.0.[1-9]", BASE, "write names such as"],
  ])("%j below %j is refused with the mend", (text, base, mend) => {
    expect(() => readSlotHosts(text, base)).toThrow(/^Cannot start: ROPEWAY_SLOT_HOSTS /);
    expect(() => readSlotHosts(text, base)).toThrow(mend);
  });

  it("is read anew when it has changed", () => {
    const hostsOf = (text: string) => deploymentHosts({ ROPEWAY_HOST: BASE, ROPEWAY_SLOT_HOSTS: text });
    expect(hostsOf("s[1-2].ropeway.example").listed).toEqual(["s1.ropeway.example", "s2.ropeway.example"]);
    expect(hostsOf("s[1-2].ropeway.example")).toBe(hostsOf("s[1-2].ropeway.example"));
    expect(hostsOf("s[2-3].ropeway.example").listed).toEqual(["s2.ropeway.example", "s3.ropeway.example"]);
    expect(deploymentHosts({})).toEqual({ base: undefined, listed: [] });
  });
});
