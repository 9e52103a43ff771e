import { describe, expect, it } from "vitest";
import { ErrorCode, RopewayError } from "../../../shared/errors.ts";
import { classifyFailure, upstreamError } from "./failures.ts";

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
    [deno("client error (SendRequest): invalid HTTP version parsed"), ErrorCode.UPSTREAM_FAILED],
    // As recorded with Node 24.
    [node("ENOTFOUND", "getaddrinfo ENOTFOUND nosuch.invalid"), ErrorCode.NAME_NOT_RESOLVED],
    [node("ECONNREFUSED", "connect ECONNREFUSED 127.0.0.1:9999"), ErrorCode.CONNECTION_REFUSED],
    [node("ECONNRESET", "write ECONNRESET"), ErrorCode.CONNECTION_RESET],
    [node("UND_ERR_SOCKET", "other side closed"), ErrorCode.CONNECTION_RESET],
    [node("DEPTH_ZERO_SELF_SIGNED_CERT", "self-signed certificate"), ErrorCode.TLS_FAILED],
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
