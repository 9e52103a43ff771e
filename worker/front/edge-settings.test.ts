import { describe, expect, it } from "vitest";
import { isLocalName, phoneAdvice, readBaseHost, readPort, readSwitch, readTls } from "./edge-settings.ts";

describe("ROPEWAY_HOST", () => {
  it.each(["ropeway.example", "Ropeway.Example", "localhost", "x", "a_b.example"])("is a name: %s", (text) => {
    expect(readBaseHost(text)).toBe(text.toLowerCase());
  });

  it.each([
    ["https://x", "set the name alone, ROPEWAY_HOST=x"],
    ["https://x.example/", "set the name alone, ROPEWAY_HOST=x.example"],
    ["x:99", "set the name alone, ROPEWAY_HOST=x, and the port as ROPEWAY_PORT=99"],
    ["x.example/app", "set the name alone, ROPEWAY_HOST=x.example"],
    ["bücher.example", "set the name alone, ROPEWAY_HOST=xn--bcher-kva.example"],
    ["foo bar", "that is no host name; set one such as ropeway.example"],
    ["*.x.example", "that is no host name; set one such as ropeway.example"],
    ["[::1]", "that is no host name; set one such as ropeway.example"],
    ["192.0.2.1", "that is an address, and every site needs a name below it; set a name such as ropeway.example"],
  ])("is nothing else: %s", (text, mend) => {
    expect(() => readBaseHost(text)).toThrow(`Cannot start: ROPEWAY_HOST is "${text}": ${mend}`);
  });
});

describe("a switch", () => {
  it("is 1, or not set", () => {
    const read = (text: string | undefined): boolean => readSwitch("ROPEWAY_ALLOW_PRIVATE", text);
    expect(["1", "0", "", undefined].map(read)).toEqual([true, false, false, false]);
    expect(() => read("true")).toThrow('Cannot start: ROPEWAY_ALLOW_PRIVATE is "true": set it to 1, or not at all');
  });
});

describe("a port", () => {
  it("is a number, or what it is by default", () => {
    expect([readPort("ROPEWAY_PORT", "443", 1), readPort("ROPEWAY_PORT", "", 1)]).toEqual([443, 1]);
    for (const text of ["0", "65536", "1.5", "http", "-1"])
      expect(() => readPort("ROPEWAY_PORT", text, 1)).toThrow(
        `Cannot start: ROPEWAY_PORT is "${text}": set it to a port`,
      );
  });
});

describe("ROPEWAY_TLS_CERT and ROPEWAY_TLS_KEY", () => {
  const pem = (label: string) => `-----BEGIN ${label}-----\nAAAA\n-----END ${label}-----\n`;
  const files: Record<string, string> = {
    cert: pem("CERTIFICATE"),
    key: pem("PRIVATE KEY"),
    rsa: pem("RSA PRIVATE KEY"),
    locked: pem("ENCRYPTED PRIVATE KEY"),
    der: "0\u0082",
  };
  const read = (certFile?: string, keyFile?: string) =>
    readTls({ certFile, keyFile }, async (path) => {
      const text = files[path];
      if (text === undefined) throw new Error(`no such file: ${path}`);
      return text;
    });

  it("are files of their kind, or both not set", async () => {
    expect(await read()).toBeNull();
    expect(await read("cert", "key")).toEqual({ certificate: files.cert, key: files.key });
    expect(await read("cert", "rsa")).toMatchObject({ key: files.rsa });
  });

  it.each([
    ["cert", undefined, "ROPEWAY_TLS_CERT is set without ROPEWAY_TLS_KEY: set both, or neither"],
    [undefined, "key", "ROPEWAY_TLS_KEY is set without ROPEWAY_TLS_CERT: set both, or neither"],
    ["cert", "cert", "ROPEWAY_TLS_KEY is no private key: set it to the file of one, not to cert"],
    ["key", "cert", "ROPEWAY_TLS_CERT is no certificate: set it to the file of one, not to key"],
    ["cert", "locked", "ROPEWAY_TLS_KEY has a password: take it away (openssl pkey -in locked -out …)"],
    ["der", "key", 'ROPEWAY_TLS_CERT is no PEM file: set it to a file that has "-----BEGIN", not to der'],
    ["cert", "gone", "ROPEWAY_TLS_KEY is set to a file that cannot be read: no such file: gone"],
  ])("say what is wrong: %s and %s", async (certFile, keyFile, problem) => {
    await expect(read(certFile, keyFile)).rejects.toThrow(`Cannot start: ${problem}`);
  });
});

describe("an edge for other devices", () => {
  it("needs a name that does not mean each of them", () => {
    expect(phoneAdvice("0.0.0.0", "ropeway.localhost")).toMatch(/https and a name with a wildcard.*ROPEWAY_HOST/);
    expect(phoneAdvice("192.168.1.2", "localhost")).not.toBeNull();
    expect(phoneAdvice("127.0.0.1", "ropeway.localhost")).toBeNull();
    expect(phoneAdvice("::1", "ropeway.localhost")).toBeNull();
    expect(phoneAdvice("0.0.0.0", "ropeway.example")).toBeNull();
  });

  it.each(["localhost", "a.LOCALHOST", "127.0.0.1", "127.1.2.3", "::1", "[::1]"])("is not %s", (name) =>
    expect(isLocalName(name)).toBe(true),
  );
  it.each(["notlocalhost", "localhost.example", "128.0.0.1", "192.168.1.2", "phone"])("may be %s", (name) =>
    expect(isLocalName(name)).toBe(false),
  );
});
