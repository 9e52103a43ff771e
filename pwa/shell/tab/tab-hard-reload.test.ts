import { expect, it } from "vitest";
import { openBrowser } from "../testing/tab-rig.ts";

const A = "https://a.example";

/** A page that is loaded anew, and what the tunnel was told of that. */
function reloaded() {
  const all = openBrowser();
  all.show(`${A}/`, "a");
  all.tab.hardReload();
  const told = () => all.log.filter((line) => line.startsWith("hard"));
  expect(told()).toEqual([`hard reload ${A}/`]);
  return { ...all, told };
}

it("a hard reload ends when the new document has loaded, and not by what the one before says", () => {
  const { report, told } = reloaded();
  report(`${A}/`, "loaded", "a", "(1) A");
  report(`${A}/`, "loading", "b");
  expect(told()).toHaveLength(1);
  report(`${A}/`, "loaded", "b");
  report(`${A}/`, "loaded", "b", "B");
  expect(told()).toEqual([`hard reload ${A}/`, "hard reload ends"]);
});

it("a hard reload of a page that still loads ends with the new document", () => {
  const { log, report, shown, tab } = openBrowser();
  const told = () => log.filter((line) => line.startsWith("hard"));
  report(`${A}/`, "loading", "a");
  tab.hardReload();
  report(`${A}/`, "interactive", "a");
  report(`${A}/`, "loaded", "a");
  expect([told(), shown().phase]).toEqual([[`hard reload ${A}/`], "loading"]);
  report(`${A}/`, "loading", "b");
  report(`${A}/`, "loaded", "b");
  expect([told().at(-1), shown().phase]).toEqual(["hard reload ends", "loaded"]);
});

it("a hard reload ends when the person stops it", () => {
  const { tab, told } = reloaded();
  tab.stop();
  expect(told().at(-1)).toBe("hard reload ends");
});
