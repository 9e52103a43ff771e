import { describe, expect, it } from "vitest";
import type { HeaderList } from "../../../shared/http/heads.ts";
import { framingAllowed } from "./response-headers.ts";

const own = "https://widget.example";
const csp = (value: string): HeaderList => [["content-security-policy", value]];
const xfo = (...values: string[]): HeaderList => values.map((value) => ["x-frame-options", value] as const);

describe("framingAllowed", () => {
  it.each<[string, HeaderList, string[], boolean]>([
    ["nothing said", [], ["https://a.example"], true],
    ["DENY", xfo("DENY"), ["https://a.example"], false],
    ["SAMEORIGIN, same", xfo("SameOrigin"), [own, own], true],
    ["SAMEORIGIN, one other", xfo("SAMEORIGIN"), [own, "https://a.example"], false],
    ["contradiction", xfo("allowall, sameorigin"), [own], false],
    ["repeated", xfo("sameorigin", "sameorigin"), [own], true],
    ["unknown value", xfo("ALLOW-FROM https://a.example"), ["https://b.example"], true],
    ["frame-ancestors none", csp("frame-ancestors 'none'"), ["https://a.example"], false],
    ["frame-ancestors self", csp("frame-ancestors 'self'"), [own], true],
    ["frame-ancestors list", csp("frame-ancestors *.a.example"), ["https://x.a.example"], true],
    ["one ancestor missing", csp("frame-ancestors a.example"), ["https://a.example", "https://b.example"], false],
    ["every policy counts", csp("frame-ancestors *, frame-ancestors 'none'"), ["https://a.example"], false],
    ["goes before X-Frame-Options", [...csp("frame-ancestors *"), ...xfo("DENY")], ["https://a.example"], true],
    ["other policies do not", [...csp("img-src *"), ...xfo("DENY")], ["https://a.example"], false],
  ])("%s", (_name, headers, ancestors, expected) => {
    expect(framingAllowed(headers, ancestors, own)).toBe(expected);
  });
});
