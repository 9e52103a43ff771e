import "fake-indexeddb/auto";
import { expect, it } from "vitest";
import { databaseOpener, importAgain } from "./platform.ts";

it("loads a script that could not be had by another address, as an engine remembers the former", async () => {
  const asked: string[] = [];
  const remembered = new Set<string>();
  let isAway = true;
  const load = async (address: string) => {
    asked.push(address);
    if (isAway) remembered.add(address);
    if (remembered.has(address)) throw new TypeError("Failed to fetch dynamically imported module");
    return { is: "there" };
  };
  for (let time = 0; time < 2; time += 1) await expect(importAgain("/late.js", load)).rejects.toThrow();
  isAway = false;
  expect(await importAgain("/late.js", load)).toEqual({ is: "there" });
  expect(asked).toEqual(["/late.js", "/late.js?1", "/late.js?2"]);
});

it("opens a database again that was closed, or could not be opened, and lets a later release change it", async () => {
  let refused = 2;
  const open = databaseOpener(() => {
    if (refused-- > 0) throw new DOMException("no", "UnknownError");
    return indexedDB.open("again", 1);
  });
  await expect(open()).rejects.toThrow();
  const first = await open();
  expect(await open()).toBe(first);
  first.close();
  first.onclose?.(new Event("close"));
  const second = await open();
  expect(second).not.toBe(first);
  const later = indexedDB.open("again", 2);
  await new Promise((resolve) => (later.onsuccess = resolve));
  expect(later.result.version).toBe(2);
  later.result.close();
});
