import { describe, expect, it } from "vitest";
import { clientAddress, requestedUrl } from "./router.ts";

const request = new Request("http://ropeway.example/a", {
  headers: { "x-forwarded-proto": "https", "x-forwarded-for": "198.51.100.9, 203.0.113.4" },
});

describe("behind a proxy", () => {
  const options = { ROPEWAY_BEHIND_PROXY: "1" };

  it.each(["127.0.0.1", "::1", "::ffff:172.18.0.3", "10.0.0.2", "fd00::2"])(
    "is what a proxy at %s was asked, by the address that it saw itself",
    (peer) => {
      expect(requestedUrl(request, options, peer).href).toBe("https://ropeway.example/a");
      expect(clientAddress(request, options, peer)).toBe("203.0.113.4");
    },
  );

  it.each(["9.9.9.9", "::ffff:9.9.9.9", "2a00::1"])("is as it came from %s, which cannot be the proxy", (peer) => {
    expect(requestedUrl(request, options, peer).href).toBe("http://ropeway.example/a");
    expect(clientAddress(request, options, peer)).toBe(peer);
  });

  it("is as it came where nobody knows from where", () => {
    expect(requestedUrl(request, options, null).href).toBe("http://ropeway.example/a");
    expect(clientAddress(request, options, null)).toBeNull();
  });

  it("is as it came where the proxy says nothing", () => {
    const plain = new Request("http://ropeway.example:8787/a");
    expect(requestedUrl(plain, options, "127.0.0.1").href).toBe("http://ropeway.example:8787/a");
    expect(clientAddress(plain, options, "127.0.0.1")).toBeNull();
  });
});

describe("without a proxy", () => {
  it("is as it came, whatever it says", () => {
    expect(requestedUrl(request, {}, "127.0.0.1").href).toBe("http://ropeway.example/a");
    expect(clientAddress(request, {}, "127.0.0.1")).toBeNull();
    expect(clientAddress(request, {}, "9.9.9.9")).toBe("9.9.9.9");
  });
});
