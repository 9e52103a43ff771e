import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { appTexts, catalogueFaults, completed, missingTexts, untranslatedTexts } from "./languages.ts";

const VIEW = "pwa/shell/views/a.tsx";
const source = (text: string) => new Map([[VIEW, text]]);

it("finds the texts of the app, those of both sides of a choice, too", () => {
  const { plain, counted } = appTexts(
    source(
      'later("A text"); t(is ? "One" : is2 ? "Two" : x, { a }); tParts("Three {a}", b); tCount(2, "{count} b", "{count} bs");',
    ),
  );
  expect([...plain]).toEqual(["A text", "One", "Two", "Three {a}"]);
  expect([...counted]).toEqual(["{count} bs"]);
});

it.each([
  ["<p>Hello</p>", 1],
  ['<p>{t("Hello")}</p>', 0],
  ['<button aria-label="Close" class="Big button" />', 1],
  ['<input placeholder="https://a.example/" />', 0],
  ['<p>{isOn ? "Switched on" : t("Off")}</p>', 1],
  ['const buttons = [["Pause", act]];', 1],
  ['if (event.key === "Escape") stop();', 0],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a source text
  ["const text = `Closed ${title}`;", 1],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a source text
  ["t(`Closed ${title}`);", 1],
])("%s: so many texts that no language can translate: %d", (text, count) => {
  expect(untranslatedTexts(source(text))).toHaveLength(count);
});

const TEXTS = { plain: new Set(["Open {site}", "Close"]), counted: new Set(["{count} tabs of {site}"]) };

it.each([
  [{ "Open {site}": "{site} öffnen", Close: "" }, null],
  [{ Gone: "Weg" }, "no such text"],
  [{ "Open {site}": "Öffnen" }, "other places"],
  [{ "Open {site}": { one: "{site}", other: "{site}" } }, "no number"],
  [{ "{count} tabs of {site}": "Tabs" }, "needs one, other"],
  [{ "{count} tabs of {site}": { other: "{count} {site}" } }, "no words for one"],
  [{ "{count} tabs of {site}": { one: "", other: "" } }, null],
  [{ "{count} tabs of {site}": { one: "Ein Tab von {site}", other: "{count} Tabs von {site}" } }, null],
  [{ "{count} tabs of {site}": { one: "Ein Tab", other: "{count} Tabs von {site}" } }, "other places"],
  [{ "{count} tabs of {site}": { one: "{count} {site}", other: "Tabs von {site}" } }, "other places"],
] as const)("the catalogue %j: %s", (catalogue, fault) => {
  const faults = catalogueFaults("de", catalogue as Parameters<typeof catalogueFaults>[1], TEXTS);
  if (fault === null) expect(faults).toEqual([]);
  else expect(faults).toEqual([expect.stringContaining(fault)]);
});

it("tells what has no words yet, and writes a catalogue for somebody to fill in", () => {
  expect(missingTexts({ Close: "Zu", Gone: "Weg" }, TEXTS)).toEqual(["Open {site}", "{count} tabs of {site}"]);
  expect(completed("ar", { Close: "x", Gone: "y" }, TEXTS)).toEqual({
    Close: "x",
    "Open {site}": "",
    "{count} tabs of {site}": { zero: "", one: "", two: "", few: "", many: "", other: "" },
  });
});

it("has all texts in the languages that the app comes with, and no text of the views that is in English alone", () => {
  const listed = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "pwa"], {
    encoding: "utf8",
  });
  const paths = listed.split("\n").filter((path) => /\.tsx?$/.test(path) && existsSync(path));
  const texts = new Map(paths.map((path) => [path, readFileSync(path, "utf8")]));
  expect(untranslatedTexts(texts)).toEqual([]);
  const words = appTexts(texts);
  for (const code of ["ar", "de", "es", "fr", "hi", "id", "pt", "sw", "zh-Hans"])
    expect([code, missingTexts(JSON.parse(readFileSync(`pwa/languages/${code}.json`, "utf8")), words)]).toEqual([
      code,
      [],
    ]);
});
