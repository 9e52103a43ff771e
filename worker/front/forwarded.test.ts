import { describe, expect, it } from "vitest";
import { forwardedAddress, requestedUrl } from "./forwarded.ts";

const request = new Request("http://ropeway.example/a", {
  headers: { "x-forwarded-proto": "https", "x-forwarded-for": "198.51.100.9, 203.0.113.4" },
});

describe("behind a proxy", () => {
  const options = { ROPEWAY_BEHIND_PROXY: "1" };

  it("is what the proxy was asked, by the address that it saw itself", () => {
    expect(requestedUrl(request, options).href).toBe("https://ropeway.example/a");
    expect(forwardedAddress(request, options)).toBe("203.0.113.4");
  });

  it("is as it came where the proxy says nothing", () => {
    const plain = new Request("http://ropeway.example:8787/a");
    expect(requestedUrl(plain, options).href).toBe("http://ropeway.example:8787/a");
    expect(forwardedAddress(plain, options)).toBeNull();
  });
});

describe("without a proxy", () => {
  it("is as it came, whatever it says", () => {
    expect(requestedUrl(request, {}).href).toBe("http://ropeway.example/a");
    expect(forwardedAddress(request, {})).toBeNull();
  });
});
