import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isSlotHost, isSlotUrl, replaceSlotOrigin, ropewayUrl, toReal, toSlot } from "./slot-url.ts";

const slot = { slotOrigin: "http://s7k2ab.localhost:8787", realOrigin: "https://example.org" };
const ported = { slotOrigin: "https://s7k2ab.ropeway.example", realOrigin: "http://127.0.0.1:9000" };

describe("toReal and toSlot", () => {
  it("maps between slot and real URLs", () => {
    expect(toReal("http://s7k2ab.localhost:8787/a?b#c", slot)).toBe("https://example.org/a?b#c");
    expect(toSlot("https://example.org/a?b#c", slot)).toBe("http://s7k2ab.localhost:8787/a?b#c");
    expect(toReal("https://s7k2ab.ropeway.example/", ported)).toBe("http://127.0.0.1:9000/");
  });

  it("takes an upgraded scheme for the slot, but no other port", () => {
    expect(toReal("https://s7k2ab.localhost:8787/a", slot)).toBe("https://example.org/a");
    expect(isSlotUrl(new URL("http://s7k2ab.localhost:8788/"), slot)).toBe(false);
  });

  it.each([
    ["s7k2ab.localhost:8787", "http://*.localhost:8787", true],
    ["localhost:8787", "http://*.localhost:8787", false],
    ["s7k2ab.localhost", "http://*.localhost:8787", false],
    ["s2.example", "https://s1.example https://s2.example", true],
    ["s3.example", "https://s1.example https://s2.example", false],
  ])("knows whether %s is a slot's, by %s", (host, sources, isSlots) => {
    expect(isSlotHost(host, sources)).toBe(isSlots);
  });

  it("leaves other origins alone", () => {
    expect(toReal("https://cdn.example/x.js", slot)).toBe("https://cdn.example/x.js");
    expect(toSlot("http://example.org/", slot)).toBe("http://example.org/");
    expect(toSlot("https://user:pw@example.org/x", slot)).toBe("http://s7k2ab.localhost:8787/x");
    expect(toSlot("/relative", slot)).toBe("/relative");
    expect(toReal("blob:nonsense", slot)).toBe("blob:nonsense");
  });

  it("is a round trip for every URL of the real origin", () => {
    fc.assert(
      fc.property(fc.webPath(), fc.webQueryParameters(), fc.webFragments(), (path, query, fragment) => {
        const real = new URL(`https://example.org${path}?${query}#${fragment}`).href;
        expect(toReal(toSlot(real, slot), slot)).toBe(real);
      }),
    );
  });

  it("replaces slot origins inside the URL", () => {
    expect(toReal("https://login.example/?next=http%3A%2F%2Fs7k2ab.localhost%3A8787%2Fme", slot)).toBe(
      "https://login.example/?next=https%3A%2F%2Fexample.org%2Fme",
    );
  });

  it("builds the slot's own URLs", () => {
    expect(ropewayUrl("/.ropeway/go", "https://a.example/?b=c&d")).toBe(
      "/.ropeway/go?url=https%3A%2F%2Fa.example%2F%3Fb%3Dc%26d",
    );
  });
});

describe("replaceSlotOrigin", () => {
  const cases: [string, string][] = [
    ["http://s7k2ab.localhost:8787/x", "https://example.org/x"],
    ["https://S7K2AB.localhost:8787", "https://example.org"],
    ["wss://s7k2ab.localhost:8787/ws", "wss://example.org/ws"],
    ['{"u":"http:\\/\\/s7k2ab.localhost:8787\\/x"}', '{"u":"https:\\/\\/example.org\\/x"}'],
    ["u=http%3a%2f%2fs7k2ab.localhost%3a8787%2f", "u=https%3a%2f%2fexample.org%2f"],
    ["u=http%253A%252F%252Fs7k2ab.localhost%253A8787", "u=https%253A%252F%252Fexample.org"],
    ["host=s7k2ab.localhost:8787&h=s7k2ab.localhost", "host=example.org&h=example.org"],
    ["nothing here", "nothing here"],
  ];
  it.each(cases)("%s", (text, expected) => expect(replaceSlotOrigin(text, slot)).toBe(expected));

  it("encodes the real port as the text around it", () => {
    expect(replaceSlotOrigin("u=https%3A%2F%2Fs7k2ab.ropeway.example%2F", ported)).toBe(
      "u=http%3A%2F%2F127.0.0.1%3A9000%2F",
    );
    expect(replaceSlotOrigin("s7k2ab.ropeway.example", ported)).toBe("127.0.0.1:9000");
    expect(replaceSlotOrigin("wss://s7k2ab.ropeway.example:81/a", ported)).toBe("ws://127.0.0.1:81/a");
  });
});
