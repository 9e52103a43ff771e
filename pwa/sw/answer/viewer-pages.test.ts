import { describe, expect, it } from "vitest";
import { escapeHtml } from "../../slot/rewrite/html-rewriter.ts";
import { documentKind, imagePage, mediaPage, textPage } from "./document.ts";

describe("documentKind", () => {
  it.each([
    [200, "text/html; charset=utf-8", "", "html"],
    [404, "", "", "html"],
    [200, "application/xhtml+xml", "", "html"],
    [200, "image/png", "", "image"],
    [200, "Image/SVG+XML", "", "image"],
    [200, "video/mp4", "", "media"],
    [200, "text/plain", "", "text"],
    [200, "application/vnd.api+json", "", "text"],
    [200, "application/pdf", "", "download"],
    [200, "application/octet-stream", "", "download"],
    [200, "text/html", 'attachment; filename="page.html"', "download"],
    [200, "text/html", "inline", "html"],
    [204, "text/html", "", "none"],
    [205, "text/html", "attachment", "none"],
  ])("%i %s %s is %s", (status, contentType, disposition, kind) => {
    expect(documentKind(status, contentType, disposition)).toBe(kind);
  });
});

describe("viewers", () => {
  const hostile = `"><script>alert(1)</script>`;

  it.each([
    ["image", imagePage(`http://s1.localhost/${hostile}`, hostile)],
    ["media", mediaPage(`http://s1.localhost/${hostile}`, hostile, "video/mp4")],
    ["text", textPage(hostile).before],
  ])("let no name become markup (%s)", (_kind, html) => expect(html).not.toContain("<script>"));

  it("plays sound as sound", () => {
    expect(mediaPage("x", "x", "audio/ogg")).toContain("<audio controls");
    expect(mediaPage("x", "x", "video/webm")).toContain("<video controls");
  });

  it("surround text", () => {
    const { before, after } = textPage("notes.txt");
    expect(before).toContain("<title>notes.txt</title>");
    expect(before + escapeHtml("a < b & c") + after).toMatch(/<pre[^>]*>a &lt; b &amp; c<\/pre><\/body><\/html>$/);
  });
});
