import { expect, it, vi } from "vitest";
import { type ElementContext, rewriteElement, TagEditor, writtenFrameUrl } from "./html-rewriter.ts";

const context: ElementContext = {
  slotOrigin: "http://s1.localhost:8787",
  realOrigin: "https://example.org",
  documentUrl: "https://example.org/dir/",
  base: "https://example.org/dir/",
  nonce: "n0",
  transformPolicy: (content) => content,
  rewriteInner: (markup) => markup,
};

it.each([
  "https://video.example/e?a=1",
  "//video.example/e?a=1&b",
  "https://video.example",
  "https://example.org/own",
  "/own",
  "own?x#y",
  "blob:https://example.org/9b1",
  "data:text/html,x",
  "",
])("a frame's address reads as the page wrote it: %j", (written) => {
  for (const sandbox of [null, "allow-scripts"]) {
    const tag = new TagEditor("<iframe>");
    tag.set("src", written);
    if (sandbox !== null) tag.set("sandbox", sandbox);
    rewriteElement("iframe", tag, context);
    expect(writtenFrameUrl(tag.get("src") ?? "", context)).toBe(written);
  }
});

it.each(["blob:https://example.org/9b1", " DATA:text/html,x"])("a frame of %j becomes one that says so", (src) => {
  const tag = new TagEditor("<iframe>");
  tag.set("src", src);
  rewriteElement("iframe", tag, context);
  expect(tag.get("src")).toBe(`/.ropeway/frame?url=${encodeURIComponent(src)}`);
});

it("a blob's frame that is sandboxed gets no origin, in whatever order it becomes both", () => {
  const blob = "blob:http://s1.localhost:8787/9b1";
  for (const names of [
    ["src", "sandbox"],
    ["sandbox", "src"],
  ]) {
    const tag = new TagEditor("<iframe>");
    for (const name of names) {
      tag.set(name, name === "src" ? blob : "allow-scripts");
      rewriteElement("iframe", tag, context);
    }
    expect(tag.get("sandbox")).toBe("allow-scripts");
    expect(writtenFrameUrl(tag.get("src") ?? "", context)).toBe(blob);
  }
});

it("srcdoc documents ask for nothing past the service worker in Firefox", async () => {
  vi.stubGlobal("InternalError", Error);
  vi.resetModules();
  const { rewriteElement: rewriteInFirefox } = await import("./html-rewriter.ts");
  vi.unstubAllGlobals();
  const srcdocOf = (sandbox: string | null, rewrite: typeof rewriteElement) => {
    const tag = new TagEditor("<iframe>");
    tag.set("srcdoc", "<p>");
    if (sandbox !== null) tag.set("sandbox", sandbox);
    for (let time = 0; time < 2; time++) rewrite("iframe", tag, context);
    return tag.get("srcdoc");
  };
  expect(srcdocOf(null, rewriteElement)).toBe("<p>");
  const closed = /^<meta http-equiv="Content-Security-Policy" content="default-src data: blob: [^:]*"><p>$/;
  expect(srcdocOf(null, rewriteInFirefox)).toMatch(closed);
  expect(srcdocOf("", rewriteInFirefox)).toMatch(closed);
  expect(srcdocOf("allow-scripts", rewriteInFirefox)).toMatch(/^<meta [^>]* 'unsafe-eval'"><meta [^>]*><p>$/);
});
