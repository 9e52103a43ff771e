import { describe, expect, it } from "vitest";
import { withRealDomain } from "./cookies.ts";

const slot = { slotOrigin: "https://s7k2.go.ropeway.example:8443", realOrigin: "https://www.example.org" };

describe("withRealDomain", () => {
  it.each(["s7k2.go.ropeway.example", ".S7K2.go.ropeway.example", "go.ropeway.example", " .ropeway.example "])(
    "takes %j for the real host",
    (domain) => {
      const real = withRealDomain(`a=1; path=/; Domain=${domain};secure`, slot);
      expect(real).toMatch(/^a=1; path=\/; Domain= ?\.?www\.example\.org ?;secure$/);
    },
  );

  it.each([
    "a=1",
    "domain=s7k2.go.ropeway.example",
    "a=1; domain=example",
    "a=1; domain=",
    "a=1; domain=example.org",
    "a=1; domain=rs7k2.go.ropeway.example",
    "a=1; domain=way.example",
    "a=1; domain=x.s7k2.go.ropeway.example",
    "a=1; nodomain=ropeway.example",
  ])("leaves %j as it is", (cookie) => expect(withRealDomain(cookie, slot)).toBe(cookie));
});
