import { expect, it } from "vitest";
import { readBlockLists } from "./edge-settings.ts";

it("is EasyPrivacy, what is set, or nothing", () => {
  for (const text of [undefined, "", " "]) {
    expect(readBlockLists(text === undefined ? {} : { ROPEWAY_BLOCK_LISTS: text })).toEqual([
      "https://easylist.to/easylist/easyprivacy.txt",
    ]);
  }
  const two = "https://a.example/list.txt http://127.0.0.1:8080/b";
  expect(readBlockLists({ ROPEWAY_BLOCK_LISTS: ` ${two}\n` })).toEqual(two.split(" "));
  expect(readBlockLists({ ROPEWAY_BLOCK_LISTS: "0" })).toEqual([]);
  expect(readBlockLists({ ROPEWAY_BLOCK_LISTS: two, ROPEWAY_PLAN: "free" })).toEqual([]);
});

it("says what to set instead", () => {
  for (const wrong of ["yes", "file:///list", "a.example/list"]) {
    expect(() => readBlockLists({ ROPEWAY_BLOCK_LISTS: `https://a.example ${wrong}` })).toThrow(
      `Cannot start: ROPEWAY_BLOCK_LISTS has "${wrong}": set it to addresses`,
    );
  }
});
