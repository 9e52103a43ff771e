import { expect, it } from "vitest";
import { SettingsStore } from "../app/settings.ts";
import { mayWarmLinks } from "./tab.ts";

const settings = new SettingsStore({ getItem: () => null, setItem() {}, removeItem() {} }).current;
const wanted = { ...settings, warmsLinks: true };

it("is off by default", () => {
  expect(mayWarmLinks(settings, {})).toBe(false);
  expect(mayWarmLinks(wanted, {})).toBe(true);
});

it.each([
  [{ saveData: true }, false],
  [{ saveData: false }, true],
  [{ type: "cellular" }, false],
  [{ type: "bluetooth" }, false],
  [{ type: "wimax" }, false],
  [{ type: "none" }, false],
  [{ type: "wifi" }, true],
  [{ type: "wifi", saveData: true }, false],
  [{ type: "ethernet" }, true],
])("on a network of %j: %s", (network, may) => {
  expect(mayWarmLinks(wanted, network)).toBe(may);
});

it.each([
  { takesPushes: false },
  { pictures: "balanced" },
  { pictures: "auto" },
  { pictures: "none" },
  { pageBudget: 300_000 },
] as const)("never where the person saves data: %j", (saving) => {
  expect(mayWarmLinks({ ...wanted, ...saving }, {})).toBe(false);
});
