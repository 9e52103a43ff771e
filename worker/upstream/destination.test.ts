import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { ErrorCode, RopewayError } from "../../shared/errors.ts";
import { checkDestination, isPublicAddress, resolveDestination } from "./destination.ts";

const closed = { allowPrivate: false };
const exempting = { ...closed, isExempt: (url: URL) => url.origin === "http://demo.localhost:8788" };
const forbidden = expect.objectContaining({ code: ErrorCode.DESTINATION_FORBIDDEN, scope: "stream" });

describe("checkDestination", () => {
  it.each(["http://mail.example:25/", "https://irc.example:6697/", "http://127.0.0.1:22/", "http://a.example:0/"])(
    "refuses the port of %s, whatever else is allowed",
    (url) => {
      const refused = expect.objectContaining({ code: ErrorCode.UPSTREAM_FAILED, scope: "stream" });
      expect(() => checkDestination(new URL(url), { allowPrivate: true })).toThrow(refused);
    },
  );

  it.each(["http://a.example:80/", "https://a.example:8443/", "http://a.example:10081/"])("takes that of %s", (url) =>
    checkDestination(new URL(url), closed),
  );

  it.each([
    "http://127.0.0.1/",
    "http://127.1/",
    "http://2130706433/",
    "http://0x7f000001/",
    "http://017700000001/",
    "http://0/",
    "http://10.0.0.1/",
    "http://172.31.255.255/",
    "http://192.168.1.1:8080/",
    "http://100.64.0.1/",
    "http://169.254.169.254/latest/meta-data/",
    "http://224.0.0.1/",
    "http://255.255.255.255/",
    "http://[::]/",
    "http://[::1]/",
    "http://[fe80::1]/",
    "http://[fc00::1]/",
    "http://[fd12:3456::1]/",
    "http://[fec0::1]/",
    "http://[ff02::1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::127.0.0.1]/",
    "http://[64:ff9b::7f00:1]/",
    "http://[64:ff9b:1::a00:1]/",
    "http://[64:ff9b:1::808:808]/",
    "http://[64:ff9b::c000:201]/",
    "http://192.0.2.1/",
    "http://192.31.196.1/",
    "http://198.18.0.1/",
    "http://198.51.100.1/",
    "http://203.0.113.1/",
    "http://240.0.0.1/",
    "http://[2001:db8::1]/",
    "http://[2620:4f:8000::1]/",
    "http://[3fff::1]/",
    "http://[::808:808]/",
    "http://[2002:7f00:1::]/",
    "http://[2001::1]/",
    "http://[4000::1]/",
    "https://localhost/",
    "https://LOCALHOST./",
    "https://a.b.localhost/",
    "http://printer.local/",
    "http://metadata.google.internal/",
    "http://router.home.arpa/",
  ])("refuses %s", (url) => {
    expect(() => checkDestination(new URL(url), closed)).toThrow(forbidden);
    checkDestination(new URL(url), { allowPrivate: true });
  });

  it.each([
    "http://example.com/",
    "https://8.8.8.8/",
    "https://[2606:4700::1111]/",
    "http://[64:ff9b::808:808]/",
    "http://[::ffff:8.8.8.8]/",
    "http://[2002:808:808::]/",
    "http://notlocalhost/",
    "http://mylocal/",
  ])("lets %s pass", (url) => {
    checkDestination(new URL(url), closed);
  });

  it.each(["ftp://example.com/", "file:///etc/passwd", "data:text/plain,x", "javascript:alert(1)"])(
    "does not know the scheme of %s, even where private networks are allowed",
    (url) => {
      const refused = expect.objectContaining({ code: ErrorCode.UNSUPPORTED_SCHEME });
      for (const allowPrivate of [true, false]) {
        expect(() => checkDestination(new URL(url), { allowPrivate })).toThrow(refused);
      }
    },
  );

  it("exempts exactly the origins that it is told to", () => {
    checkDestination(new URL("http://demo.localhost:8788/news"), exempting);
    for (const other of ["http://demo.localhost:8787/", "https://demo.localhost:8788/", "http://127.0.0.1:8788/"]) {
      expect(() => checkDestination(new URL(other), exempting)).toThrow(forbidden);
    }
  });
});

describe("resolveDestination", () => {
  const { signal } = new AbortController();

  it("refuses a name if any one of its addresses is private, unless private networks are allowed", async () => {
    const url = new URL("http://rebind.example/");
    const addresses = ["93.184.216.34", "10.0.0.7"];
    const resolveName = async () => addresses;
    await expect(resolveDestination(url, closed, resolveName, signal)).rejects.toEqual(forbidden);
    expect(await resolveDestination(url, { allowPrivate: true }, resolveName, signal)).toEqual(addresses);
  });

  it("gives the addresses of a name, and none of what is an address", async () => {
    const addresses = ["93.184.216.34", "2606:2800:220:1::1"];
    const resolveName = vi.fn(async () => addresses);
    expect(await resolveDestination(new URL("http://example.com./"), closed, resolveName, signal)).toEqual(addresses);
    for (const url of ["http://8.8.8.8/", "http://[2606:4700::1111]/"]) {
      expect(await resolveDestination(new URL(url), closed, resolveName, signal)).toBe(null);
    }
    expect(resolveName.mock.calls).toEqual([["example.com", signal]]);
  });

  it("knows itself where names below localhost lead, if they may be reached", async () => {
    const resolveName = vi.fn(async () => ["127.0.0.2"]);
    const loopback = ["127.0.0.1", "::1"];
    const url = new URL("http://demo.localhost:8788/");
    for (const policy of [exempting, { allowPrivate: true }]) {
      expect(await resolveDestination(url, policy, resolveName, signal)).toEqual(loopback);
    }
    expect(resolveName.mock.calls).toEqual([]);
  });

  it("says that a name does not resolve", async () => {
    for (const resolveName of [async () => [], async () => Promise.reject(new Error("NXDOMAIN"))]) {
      await expect(
        resolveDestination(new URL("http://no.example/"), closed, resolveName, signal),
      ).rejects.toMatchObject({ code: ErrorCode.NAME_NOT_RESOLVED });
    }
  });

  it("tells a lookup that was cancelled, or took too long, from a name that does not resolve", async () => {
    const url = new URL("http://slow.example/");
    const late = new RopewayError(ErrorCode.UPSTREAM_TIMEOUT, "stream", "origin", "Cannot find it: too slow");
    await expect(resolveDestination(url, closed, async () => Promise.reject(late), signal)).rejects.toBe(late);
    const aborted = AbortSignal.abort();
    const cancelled = async () => Promise.reject(aborted.reason);
    await expect(resolveDestination(url, closed, cancelled, aborted)).rejects.toMatchObject({ code: ErrorCode.CANCEL });
  });
});

describe("isPublicAddress", () => {
  it("judges an IPv4 address the same in every form that leads to it", () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        const [a = 0, b = 0, c = 0, d = 0] = address.split(".").map(Number);
        const hex = [(a << 8) | b, (c << 8) | d].map((word) => word.toString(16)).join(":");
        const isPublic = isPublicAddress(address);
        expect(isPublicAddress(`::ffff:${address}`)).toBe(isPublic);
        expect(isPublicAddress(`64:ff9b::${hex}`)).toBe(isPublic);
        expect(isPublicAddress(`2002:${hex}::1`)).toBe(isPublic);
        expect(isPublicAddress(`64:ff9b:1::${hex}`)).toBe(false);
        expect(isPublicAddress(`::${address}`)).toBe(false);
        expect(isPublicAddress(`::${hex}`)).toBe(false);
      }),
    );
  });

  it("takes no text for an address", () => {
    fc.assert(
      fc.property(fc.domain(), (name) => {
        expect(isPublicAddress(name)).toBe(false);
      }),
    );
  });
});
