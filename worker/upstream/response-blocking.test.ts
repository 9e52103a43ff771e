import { describe, expect, it } from "vitest";
import { responseJudge, SNIFFED_BYTES } from "./opaque.ts";

const PNG = "\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR";
const MP4 = "\0\0\0\x18ftypmp42\0\0\0\0";
const MP3 = "\xff\xfb\x90\x64\0\0";

function judge(type: string | null, body: string, { status = 200, isNosniff = false, isWhole = true } = {}) {
  const headers = new Headers(isNosniff ? { "x-content-type-options": "nosniff" } : {});
  if (type !== null) headers.set("content-type", type);
  return responseJudge({ status, headers })(Buffer.from(body, "latin1"), isWhole);
}

describe("what a page gets of another origin without its consent", () => {
  it.each<[string | null, string, string]>([
    ["image/png", PNG, "allowed"],
    ["text/html", PNG, "allowed"],
    ["application/octet-stream", PNG, "allowed"],
    [null, "GIF89a\x01\0", "allowed"],
    ["image/avif", "\0\0\0\x1cftypavif\0", "allowed"],
    ["image/x-icon", "\0\0\x01\0\x02\0", "allowed"],
    ["image/jxl", "\xff\x0a\x01", "allowed"],
    ["image/svg+xml", '<?xml version="1.0"?><svg/>', "allowed"],
    ["image/svg+xml", "<svg xmlns='http://www.w3.org/2000/svg'/>", "allowed"],
    ["image/svg+xml", `<!-- ${"drawn ".repeat(300)}`, "allowed"],
    ["video/mp4", MP4, "media"],
    ["application/octet-stream", MP4, "media"],
    ["audio/mpeg", MP3, "media"],
    ["video/x-unheard-of", "\0\x01\x02", "media"],
    ["video/mp2t", `G\0${" ".repeat(186)}G${" ".repeat(187)}G`, "media"],
    ["application/x-mpegurl", "#EXTM3U\n#EXTINF:1", "public"],
    ["text/css", "p { color: red }", "allowed"],
    ["text/css", "<style>p { color: red }", "allowed"],
    ["text/css", "<!-- p { color: red } -->", "allowed"],
    ["text/javascript; charset=utf-8", "run({ a: 1 })", "allowed"],
    ["application/x-javascript", '{"use strict"; run()}', "allowed"],
    ["text/javascript", "<!-- old browsers\nrun()", "allowed"],
    ["text/javascript", "/* \0 */ run()", "allowed"],
    ["text/javascript", "", "allowed"],
    ["text/plain", "run()", "public"],
    [null, "run()", "public"],
    ["application/octet-stream", '"use strict";', "public"],
    ["application/json", "callback({})", "public"],
    ["text/html", "/**/ run()", "public"],
    ["multipart/x-mixed-replace; boundary=p", "--p\r\ncontent-type: image/jpeg\r\n\r\n\xff\xd8\xff\0", "public"],
  ])("%j, %j: %s", (type, body, verdict) => expect(judge(type, body)).toBe(verdict));
});

describe("what it does not get", () => {
  it.each<[string | null, string]>([
    ["text/html", "<p>Balance"],
    ["text/html", "4711"],
    ["text/html; charset=utf-8", " <!-- x --> <!doctype html>"],
    ["text/plain", "<!doctype html>"],
    ["text/plain", "\xff\xfe<\0p\0>\0"],
    [null, "<table><td>4711"],
    ["text/javascript", "<html><body>"],
    ["text/css", "<!DOCTYPE html>"],
    ["image/svg+xml", "<!doctype html><p>"],
    ["image/svg+xml", '{"balance":4711}'],
    ["image/png", "<html>"],
    ["image/png", "balance=4711"],
    ["application/json", '{"balance":4711}'],
    ["application/problem+json", "[4711]"],
    ["application/json", "true"],
    ["text/plain", '{ "balance" : 4711 }'],
    ["text/plain", '\n["4711"]'],
    ["text/javascript", '{"balance":4711}'],
    ["text/javascript", ")]}'\n[4711]"],
    ["text/javascript", "for(;;);[4711]"],
    ["text/plain", `{"${"k".repeat(SNIFFED_BYTES)}":4711}`],
    ["application/xml", '<?xml version="1.0"?><a/>'],
    ["application/rss+xml", "<rss/>"],
    ["text/csv", "balance;4711"],
    ["application/pdf", "%PDF-1.7"],
    ["application/vnd.openxmlformats-officedocument.wordprocessingml.document", "PK\x03\x04"],
    ["multipart/byteranges; boundary=x", PNG],
    ["application/octet-stream", "\x0a\x04\0\x01"],
    ["text/plain", "Its free of charge\0"],
    ["text/plain, text/html", "4711"],
  ])("%j, %j", (type, body) => expect(judge(type, body)).toBe("blocked"));

  it("is what its server says is not to be sniffed", () => {
    for (const type of ["text/html", "application/json", "text/plain"]) {
      expect(judge(type, PNG, { isNosniff: true })).toBe("blocked");
    }
    expect(judge("application/x-unknown", "run()", { isNosniff: true })).toBe("blocked");
    expect(judge("image/webp", PNG, { isNosniff: true })).toBe("allowed");
    expect(judge("text/javascript", "run()", { isNosniff: true })).toBe("allowed");
  });

  it("is an error, unless that is an image", () => {
    expect(judge("text/javascript", "run()", { status: 404 })).toBe("blocked");
    expect(judge("text/plain", "4711", { status: 403 })).toBe("blocked");
    expect(judge("image/png", PNG, { status: 404 })).toBe("allowed");
  });
});

it("waits for enough to judge by, and no longer", () => {
  expect(judge("text/plain", "", { isWhole: false })).toBeNull();
  expect(judge("text/plain", " ".repeat(SNIFFED_BYTES - 1), { isWhole: false })).toBeNull();
  expect(judge("text/plain", `run();${" ".repeat(SNIFFED_BYTES)}`, { isWhole: false })).toBe("public");
  expect(judge("image/png", PNG, { isWhole: false })).toBe("allowed");
  expect(judge("text/csv", "", { isWhole: false })).toBe("blocked");
});
