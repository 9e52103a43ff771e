import { describe, expect, it } from "vitest";
import { ErrorCode, RopewayError } from "../../shared/errors.ts";
import { classifyFailure, OfflineCheck, readKnownHosts, upstreamError } from "./send.ts";

const deno = (message: string) => new TypeError("fetch failed", { cause: new Error(message) });
const node = (code: string, message: string) =>
  new TypeError("fetch failed", { cause: Object.assign(new Error(message), { code }) });

describe("classifyFailure", () => {
  it.each([
    // As recorded with Deno 2.9.
    [
      deno("client error (Connect): dns error: failed to lookup address information: Name or service not known"),
      ErrorCode.NAME_NOT_RESOLVED,
    ],
    [
      deno("client error (Connect): tcp connect error: Connection refused (os error 111)"),
      ErrorCode.CONNECTION_REFUSED,
    ],
    [deno("client error (SendRequest): connection closed before message completed"), ErrorCode.CONNECTION_RESET],
    [deno("Connection reset by peer (os error 104)"), ErrorCode.CONNECTION_RESET],
    [new TypeError("error reading a body from connection"), ErrorCode.CONNECTION_RESET],
    [
      deno("client error (Connect): invalid peer certificate: Other(OtherError(CaUsedAsEndEntity))"),
      ErrorCode.TLS_FAILED,
    ],
    [deno("client error (Connect): received corrupt message of type InvalidContentType"), ErrorCode.TLS_FAILED],
    [deno("client error (SendRequest): invalid HTTP version parsed"), ErrorCode.NOT_HTTP],
    [new Error("invalid Content-Length header value; cl = 2, 2"), ErrorCode.NOT_HTTP],
    // As recorded with Node 24.
    [node("ENOTFOUND", "getaddrinfo ENOTFOUND nosuch.invalid"), ErrorCode.NAME_NOT_RESOLVED],
    [node("ECONNREFUSED", "connect ECONNREFUSED 127.0.0.1:9999"), ErrorCode.CONNECTION_REFUSED],
    [node("ECONNRESET", "write ECONNRESET"), ErrorCode.CONNECTION_RESET],
    [node("UND_ERR_SOCKET", "other side closed"), ErrorCode.CONNECTION_RESET],
    [node("DEPTH_ZERO_SELF_SIGNED_CERT", "self-signed certificate"), ErrorCode.TLS_FAILED],
    [node("UNABLE_TO_VERIFY_LEAF_SIGNATURE", "unable to verify the first"), ErrorCode.TLS_FAILED],
    [node("ERR_SSL_WRONG_VERSION_NUMBER", "wrong version number"), ErrorCode.TLS_FAILED],
    [new TypeError("something else"), ErrorCode.UPSTREAM_FAILED],
    ["not an error", ErrorCode.UPSTREAM_FAILED],
  ])("knows %o", (error, code) => {
    expect(classifyFailure(error)).toEqual({ code, certain: true });
  });

  it("knows that workerd does not tell", () => {
    expect(classifyFailure(new Error("Network connection lost."))).toEqual({
      code: ErrorCode.CONNECTION_RESET,
      certain: false,
    });
    expect(classifyFailure(new Error("internal error; reference = abc"))).toEqual({
      code: ErrorCode.UPSTREAM_FAILED,
      certain: false,
    });
  });

  it("ends on causes that lead in a circle", () => {
    const error = new Error("round");
    error.cause = error;
    expect(classifyFailure(error).code).toBe(ErrorCode.UPSTREAM_FAILED);
  });
});

describe("OfflineCheck", () => {
  const { NAME_NOT_RESOLVED, UPSTREAM_TIMEOUT, CONNECTION_REFUSED, TLS_FAILED, EDGE_OFFLINE } = ErrorCode;

  const far = new URL("https://far.example/");
  const nowhere = (host: string): Promise<never> => Promise.reject(new Error(`Cannot find ${host}`));

  function checkWith(reach: (host: string) => Promise<unknown>) {
    const asked: string[] = [];
    const timers: (() => void)[] = [];
    let time = 0;
    const check = new OfflineCheck({
      hosts: ["a.example", "b.example"],
      reach: (host) => {
        asked.push(host);
        return reach(host);
      },
      now: () => time,
      setTimer: (task) => {
        timers.push(task);
        return () => {};
      },
    });
    const pass = (milliseconds: number): void => {
      time += milliseconds;
    };
    return { check, asked, pass, timers };
  }

  it("blames the edge where no known host is found, and only for what that explains", async () => {
    const { check, asked } = checkWith(nowhere);
    expect(await check.codeOf(NAME_NOT_RESOLVED, far)).toBe(EDGE_OFFLINE);
    expect(await check.codeOf(UPSTREAM_TIMEOUT, far)).toBe(EDGE_OFFLINE);
    for (const code of [CONNECTION_REFUSED, TLS_FAILED]) expect(await check.codeOf(code, far)).toBe(code);
    expect(asked).toEqual(["a.example", "b.example"]);
  });

  it("says nothing of hosts of this machine", async () => {
    const { check, asked } = checkWith(nowhere);
    for (const near of ["http://shop.localhost:8080/", "http://localhost/", "http://127.0.0.1/", "http://[::1]/"])
      expect(await check.codeOf(UPSTREAM_TIMEOUT, new URL(near))).toBe(UPSTREAM_TIMEOUT);
    expect(asked).toEqual([]);
  });

  it("is content with one that is found, for a minute", async () => {
    const { check, asked, pass } = checkWith(async () => {});
    for (let time = 0; time < 60_000; time += 1_000) {
      expect(await check.codeOf(NAME_NOT_RESOLVED, far)).toBe(NAME_NOT_RESOLVED);
      pass(1_000);
    }
    expect(asked).toEqual(["a.example"]);
    await check.codeOf(NAME_NOT_RESOLVED, far);
    expect(asked).toHaveLength(2);
  });

  it("notices soon that the internet is back", async () => {
    let isBack = false;
    const { check, pass } = checkWith((host) => (isBack ? Promise.resolve() : nowhere(host)));
    expect(await check.codeOf(NAME_NOT_RESOLVED, far)).toBe(EDGE_OFFLINE);
    isBack = true;
    pass(10_000);
    expect(await check.codeOf(NAME_NOT_RESOLVED, far)).toBe(NAME_NOT_RESOLVED);
  });

  it("asks once for all that fail at a time, and does not wait for an answer that does not come", async () => {
    const { check, asked, timers } = checkWith(() => new Promise(() => {}));
    const codes = Array.from({ length: 20 }, () => check.codeOf(NAME_NOT_RESOLVED, far));
    for (const ring of timers) ring();
    expect(new Set(await Promise.all(codes))).toEqual(new Set([EDGE_OFFLINE]));
    expect([asked.length, timers.length]).toEqual([1, 1]);
  });

  it("asks nobody where it is told so", async () => {
    expect(readKnownHosts("0")).toEqual([]);
    expect(readKnownHosts(" a.example  b.example:8443 ")).toEqual(["a.example", "b.example:8443"]);
    expect(readKnownHosts("")).toEqual(readKnownHosts(undefined));
    const check = new OfflineCheck({ hosts: [], reach: nowhere, now: () => 0, setTimer: () => () => {} });
    expect(await check.codeOf(NAME_NOT_RESOLVED, far)).toBe(NAME_NOT_RESOLVED);
  });
});

describe("upstreamError", () => {
  it("names the host, keeps the cause, and wraps no typed error again", () => {
    const cause = new TypeError("fetch failed");
    const error = upstreamError(new URL("https://a.example:8443/secret"), ErrorCode.TLS_FAILED, cause);
    expect(error).toBeInstanceOf(RopewayError);
    expect(error.message).toContain("a.example:8443");
    expect(error.message).not.toContain("secret");
    expect(error.cause).toBe(cause);
    expect(upstreamError(new URL("https://b.example/"), ErrorCode.UPSTREAM_FAILED, error)).toBe(error);
  });
});
