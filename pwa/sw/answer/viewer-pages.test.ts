import { describe, expect, it } from "vitest";
import { shownDocument } from "../../../shared/web/documents.ts";
import { escapeHtml } from "../../slot/rewrite/html-rewriter.ts";
import { imagePage, mediaPage, textPage } from "./document.ts";

describe("viewers", () => {
  const hostile = `"><script>alert(1)</script>`;

  it.each([
    ["image", imagePage(`http://s1.localhost/${hostile}`, hostile)],
    ["media", mediaPage(`http://s1.localhost/${hostile}`, hostile, "video/mp4")],
    ["text", textPage("text/plain", hostile).before],
  ])("let no name become markup (%s)", (_kind, html) => expect(html).not.toContain("<script>"));

  it("plays sound as sound", () => {
    expect(mediaPage("x", "x", "audio/ogg")).toContain("<audio controls");
    expect(mediaPage("x", "x", "video/webm")).toContain("<video controls");
  });

  it("surround text", () => {
    const { before, after } = textPage("text/plain", "notes.txt");
    expect(before).toContain("<title>notes.txt</title>");
    expect(before + escapeHtml("a < b & c") + after).toMatch(/<pre[^>]*>\na &lt; b &amp; c<\/pre><\/body><\/html>$/);
    expect(textPage("text/plain").before).not.toContain("<title>");
  });
});

describe("documents of an edge that says nothing of them", () => {
  it.each([
    [200, "text/html; charset=utf-8", "", "html"],
    [404, "", "", "html"],
    [200, "application/xhtml+xml", "", "xml"],
    [200, "image/png", "", "image"],
    [200, "Image/SVG+XML", "", "xml"],
    [200, "video/mp4", "", "media"],
    [200, "text/plain", "", "text"],
    [200, "application/vnd.api+json", "", "text"],
    [200, "application/pdf", "", "download"],
    [200, "application/octet-stream", "", "download"],
    [200, "text/html", 'attachment; filename="page.html"', "download"],
    [200, "text/html", "inline", "html"],
    [204, "text/html", "", "none"],
    [205, "text/html", "attachment", "none"],
  ])("%i %s %s is %s", (status, type, disposition, kind) => {
    const headers = [["content-type", type] as const, ["content-disposition", disposition] as const];
    expect(shownDocument(status, headers).kind).toBe(kind);
  });

  it("are in the encoding of the field", () => {
    expect(shownDocument(200, [["content-type", 'text/html; charset="Shift_JIS"']]).encoding).toBe("shift_jis");
    expect(shownDocument(200, [["content-type", "text/html; charset=klingon"]]).encoding).toBe(null);
  });
});

it("believes the edge in what it says", () => {
  const told = (note: string) =>
    shownDocument(200, [
      ["content-type", "text/plain"],
      ["ropeway-document", note],
    ]);
  expect(told("xml image/svg+xml koi8-r")).toEqual({ kind: "xml", essence: "image/svg+xml", encoding: "koi8-r" });
  expect(told("html text/html")).toEqual({ kind: "html", essence: "text/html", encoding: null });
  expect(told("script text/html").kind).toBe("text");
});
