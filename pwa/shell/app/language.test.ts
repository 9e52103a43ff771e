import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type Catalogue, languageOf } from "../../slot/words.ts";
import { MapStorage } from "../testing/map-storage.ts";
import { keptLanguage, numberText, reasonText, SOURCE, speak, t, tParts } from "./language.ts";
import { chooseLanguage, tCount } from "./language-choice.ts";

const KNOWN = ["en", "ar", "de", "pt", "sr", "zh-Hans"];
const page = { lang: "", dir: "" };

const POLISH: Catalogue = {
  "Closed {title}": "Zamknięto {title}",
  "{count} tabs": { one: "{count} karta", few: "{count} karty", many: "{count} kart", other: "{count} karty" },
};

afterEach(() => speak(SOURCE, page));

describe("words", () => {
  it("are English where no catalogue has them, with values in their places", () => {
    expect(t("Closed {title}", { title: "$& {x}" })).toBe("Closed $& {x}");
    expect(tCount(1, "{count} tab", "{count} tabs")).toBe("1 tab");
    expect(tCount(2, "{count} tab", "{count} tabs")).toBe("2 tabs");
    speak({ ...SOURCE, code: "pl", locale: "pl", catalogue: POLISH }, page);
    expect(t("Open")).toBe("Open");
    expect(tCount(1, "{count} page", "{count} pages")).toBe("1 page");
  });

  it("come from the catalogue, by the plural categories of its language", () => {
    speak({ ...SOURCE, code: "pl", locale: "pl", catalogue: POLISH }, page);
    expect(t("Closed {title}", { title: "A" })).toBe("Zamknięto A");
    expect([1, 3, 5].map((count) => tCount(count, "{count} tab", "{count} tabs"))).toEqual([
      "1 karta",
      "3 karty",
      "5 kart",
    ]);
    expect(tParts("Closed {title}", { title: 7 })).toEqual(["Zamknięto ", 7, ""]);
    expect(numberText(1.25, 1)).toBe("1,3");
  });

  it("are those of an error's reason where there are none for all of it", () => {
    const catalogue = { "it closed {number}": "zamknął {number}", "Cannot go on: lost": "Nie można dalej" };
    speak({ ...SOURCE, code: "pl", locale: "pl", catalogue }, page);
    expect(
      ["Cannot load 10.0.0.1: it closed 42", "Cannot go on: lost", "Cannot go on: 7", "no reason"].map(reasonText),
    ).toEqual(["zamknął 42", "Nie można dalej", "Cannot go on: 7", "no reason"]);
  });

  it("are no part of the order of a name, where they go from right to left", () => {
    speak({ ...SOURCE, code: "ar", locale: "ar", isRightToLeft: true, catalogue: {} }, page);
    expect(t("Closed {title}", { title: "a.example" })).toBe("Closed \u2068a.example\u2069");
    expect(page).toEqual({ lang: "ar", dir: "rtl" });
  });
});

it.each([
  [["de-AT", "en"], "de"],
  [["fr", "pt-BR"], "pt"],
  [["zh-CN"], "zh-Hans"],
  [["zh-SG"], "zh-Hans"],
  [["zh-TW", "en-GB"], "en"],
  [["zh-TW", "zh"], "zh-Hans"],
  [["sr-Latn"], "en"],
  [["sr-ME"], "en"],
  [["sr-Cyrl-ME"], "sr"],
  [["en-US", "de"], "en"],
  [[], "en"],
])("a system of %j gets %s", (system, code) => {
  expect(languageOf(system, KNOWN)).toBe(code);
});

describe("the choice", () => {
  const storage = new MapStorage();
  const draw = vi.fn();
  const asked: string[] = [];
  let answer = () => Promise.resolve(Response.json({ Open: "Öffnen" }));
  const platform = {
    storage,
    html: page,
    system: ["de-AT"],
    fetch: (path: string) => {
      asked.push(path);
      return answer();
    },
  };

  beforeEach(() => {
    vi.stubGlobal("self", { __LANGUAGES: ["ar", "de"], __LANGUAGE: "/*-1.json" });
    storage.removeItem("ropeway.language");
    asked.length = 0;
    answer = () => Promise.resolve(Response.json({ Open: "Öffnen" }));
  });
  afterEach(() => vi.unstubAllGlobals());

  it("is the system's, and stays on the phone", async () => {
    await chooseLanguage("system", draw, platform);
    expect(t("Open")).toBe("Öffnen");
    expect(asked).toEqual(["/de-1.json"]);
    expect(keptLanguage(storage)).toMatchObject({ code: "de", locale: "de-AT", isRightToLeft: false });
    await chooseLanguage("system", draw, platform);
    expect(asked).toHaveLength(1);
  });

  it("speaks the words of the former release until those of this one have come", async () => {
    await chooseLanguage("de", draw, platform);
    vi.stubGlobal("self", { __LANGUAGES: ["ar", "de"], __LANGUAGE: "/*-2.json" });
    answer = () => Promise.reject(new TypeError("offline"));
    await chooseLanguage("de", draw, platform);
    expect(t("Open")).toBe("Öffnen");
    answer = () => Promise.resolve(Response.json({ Open: "Aufmachen" }));
    await chooseLanguage("de", draw, platform);
    expect(t("Open")).toBe("Aufmachen");
    expect(asked).toEqual(["/de-1.json", "/de-2.json", "/de-2.json"]);
  });

  it("is English for a language that the app does not know, and where its words cannot be had", async () => {
    await chooseLanguage("tlh", draw, { ...platform, system: ["tlh"] });
    expect([t("Open"), page.lang, asked.length]).toEqual(["Open", "en", 0]);
    answer = () => Promise.resolve(new Response("no", { status: 404 }));
    await chooseLanguage("ar", draw, platform);
    expect([t("Open"), page.lang, page.dir]).toEqual(["Open", "ar", "rtl"]);
  });

  it("takes no words that come after another choice", async () => {
    let come = (_: Response) => {};
    answer = () => new Promise((resolve) => (come = resolve));
    const first = chooseLanguage("de", draw, platform);
    await chooseLanguage("en", draw, platform);
    come(Response.json({ Open: "Öffnen" }));
    await first;
    expect([t("Open"), page.lang]).toEqual(["Open", "en"]);
  });
});
