import { expect, it } from "vitest";
import { type ElementContext, rewriteElement, writtenFrameUrl } from "./element-rules.ts";
import { TagEditor } from "./html-tag.ts";

const context: ElementContext = {
  slotOrigin: "http://s1.localhost:8787",
  realOrigin: "https://example.org",
  documentUrl: "https://example.org/dir/",
  base: "https://example.org/dir/",
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
