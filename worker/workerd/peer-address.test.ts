import { expect, it } from "vitest";
import { peerAddress } from "./peer-address.ts";

const headers = new Headers({ "cf-connecting-ip": "203.0.113.4" });

it.each([
  ["127.0.0.1:60596", "127.0.0.1"],
  ["[::1]:54194", "::1"],
  ["[::ffff:127.0.0.1]:52602", "::ffff:127.0.0.1"],
])("is that of the connection, %s, whatever a field says", (clientIp, address) => {
  expect(peerAddress({ headers, cf: { clientIp } })).toBe(address);
});

it("is what Cloudflare says, which tells nothing of connections", () => {
  expect(peerAddress({ headers, cf: { country: "DE" } })).toBe("203.0.113.4");
  expect(peerAddress({ headers: new Headers() })).toBeNull();
});
