import { expect, test } from "vitest";
import { cookiePaths } from "./own-paths.ts";

test.each([
  ["/", ["/"]],
  ["/sw.js", ["/", "/sw.js"]],
  ["/icons/icon.svg", ["/", "/icons", "/icons/", "/icons/icon.svg"]],
  ["/a/b/", ["/", "/a", "/a/", "/a/b", "/a/b/"]],
])("a cookie that is sent to %s has one of these paths", (path, paths) => {
  expect(cookiePaths(path)).toEqual(paths);
});
