import { expect, it } from "vitest";
import { TagEditor } from "../rewrite/html-rewriter.ts";
import { type PageConfig, pageSnippet, takeConfig } from "./page-config.ts";

const config: PageConfig = {
  slotOrigin: "http://s1.localhost:8787",
  realOrigin: "https://example.org",
  shellOrigin: "http://localhost:8787",
  slotSources: "http://*.localhost:8787",
  documentUrl: "https://example.org/?a=\"><script>'&quot;",
  topLevel: true,
  isPosted: false,
  cookies: [
    { name: "a", value: "ü😀", domain: "example.org", hostOnly: true, path: "/", secure: false, expires: null },
  ],
  hasPolicy: false,
  nonce: "n0",
  referrer: "",
  referrerPolicy: "",
};

it("survives the way through markup, whatever the document's URL holds", () => {
  const snippet = pageSnippet(config, "n0");
  const tag = new TagEditor(snippet.slice(0, -"</script>".length));
  let removed = 0;
  const element = { nonce: "n0", dataset: { config: tag.get("data-config") ?? "" }, remove: () => removed++ };
  expect(tag.get("nonce")).toBe("n0");
  expect(takeConfig(element)).toEqual(config);
  expect(removed).toBe(1);
  // It goes into documents of all encodings.
  expect(snippet).not.toMatch(/[^\0-\x7f]/);
});

it("knows a script without configuration", () => {
  expect(takeConfig(null)).toBeNull();
  expect(takeConfig({ dataset: {}, remove: () => undefined })).toBeNull();
});
