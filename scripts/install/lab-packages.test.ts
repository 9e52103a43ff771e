import { expect, it } from "vitest";
import { missingForLink, withoutLink } from "./lab-packages.mjs";

it("says in one sentence what an emulated link needs and is not there", () => {
  const missing = (platform: string, isRoot: boolean, hasTun: boolean): string[] =>
    missingForLink({ platform, isRoot, hasTun });
  expect(missing("linux", true, true)).toEqual([]);
  expect(withoutLink(missing("linux", false, true))).toBe(
    "Cannot run the bench: it emulates a link, which needs root (try sudo)",
  );
  expect(withoutLink(missing("linux", true, false))).toMatch(/which needs \/dev\/net\/tun$/);
  expect(withoutLink(missing("darwin", false, false))).toMatch(
    /which needs Linux and root \(try sudo\) and \/dev\/net\/tun$/,
  );
});
