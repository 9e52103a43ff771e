import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { root } from "../../scripts/build/paths.ts";
import { filesOf } from "./source-files.ts";

const ofFile = (path: string) => pathToFileURL(join(root, path)).href;

test("a file counts once, if any of its functions ran", () => {
  const scripts = [
    { url: ofFile("worker/front/router.ts"), offsets: [0, 120] },
    { url: ofFile("worker/front/hosts.ts"), offsets: [] },
    { url: ofFile("shared/limits.ts"), offsets: [3] },
  ];
  expect([...filesOf(scripts)]).toEqual(["worker/front/router.ts", "shared/limits.ts"]);
});

test("scripts of the runtime, of extensions and of pages are no files of the project", () => {
  const urls = ["", "ext:core/01_core.js", "chrome-extension://a/b.js", "http://127.0.0.11:80/page.js"];
  expect(filesOf(urls.map((url) => ({ url, offsets: [1] }))).size).toBe(0);
});
