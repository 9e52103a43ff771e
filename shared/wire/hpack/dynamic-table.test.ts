import { describe, expect, test } from "vitest";
import { ErrorCode } from "../../errors.ts";
import { DynamicTable, TableIndex } from "./tables.ts";

/** An entry of exactly `bytes` bytes. */
function entry(name: string, bytes: number): readonly [string, string] {
  return [name, "v".repeat(bytes - 32 - name.length)];
}

test("the newest entry has age 0, and size counts 32 bytes for each entry (RFC 7541 section 4.1)", () => {
  const table = new DynamicTable(200);
  table.add(["a", "1"]);
  table.add(["b", "22"]);
  expect(table.get(0)).toEqual(["b", "22"]);
  expect(table.get(1)).toEqual(["a", "1"]);
  expect(table.get(2)).toBeUndefined();
  expect(table.bytes).toBe(34 + 35);
});

describe("eviction (RFC 7541 sections 4.3 and 4.4)", () => {
  test("the oldest go first, and only as many as needed", () => {
    const table = new DynamicTable(150);
    for (const name of ["a", "b", "c"]) table.add(entry(name, 50));
    expect(table.length).toBe(3);
    table.add(entry("d", 60));
    expect(table.snapshot().entries.map(([name]) => name)).toEqual(["c", "d"]);
  });

  test("an entry larger than the table empties it", () => {
    const table = new DynamicTable(100);
    table.add(entry("a", 50));
    table.add(entry("b", 101));
    expect(table.length).toBe(0);
    expect(table.bytes).toBe(0);
  });

  test("an entry as large as the table is kept alone", () => {
    const table = new DynamicTable(100);
    table.add(entry("a", 50));
    table.add(entry("b", 100));
    expect(table.snapshot().entries.map(([name]) => name)).toEqual(["b"]);
  });

  test("a smaller maximum evicts at once", () => {
    const table = new DynamicTable(150);
    for (const name of ["a", "b", "c"]) table.add(entry(name, 50));
    table.setMaxBytes(99);
    expect(table.snapshot()).toEqual({ maxBytes: 99, entries: [entry("c", 50)] });
  });
});

describe("the index that follows a table", () => {
  test("finds exactly what the table holds, however much went through it", () => {
    const index = new TableIndex();
    const table = new DynamicTable(500, index);
    for (let i = 0; i < 300; i++) {
      table.add([`n${i % 7}`, `v${(i * i) % 11}`]);
      if (i % 30 === 29) table.setMaxBytes(i % 60 === 29 ? 100 : 500);
      const held = table.snapshot().entries;
      const firstPosition = table.inserted - held.length;
      for (let name = 0; name < 7; name++) {
        const latest = held.findLastIndex(([heldName]) => heldName === `n${name}`);
        expect(index.findName(`n${name}`)).toBe(latest < 0 ? undefined : firstPosition + latest);
        for (let value = 0; value < 11; value++) {
          const found = held.findLastIndex((field) => field[0] === `n${name}` && field[1] === `v${value}`);
          expect(index.find(`n${name}`, `v${value}`)).toBe(found < 0 ? undefined : firstPosition + found);
        }
      }
    }
  });

  test("does not confuse where a name ends and its value starts", () => {
    const index = new TableIndex();
    new DynamicTable(500, index).add(["a\0b", "c"]);
    expect(index.find("a", "b\0c")).toBeUndefined();
  });
});

test("a snapshot whose entries exceed its size is refused", () => {
  expect(() => DynamicTable.restore({ maxBytes: 60, entries: [entry("a", 50), entry("b", 50)] })).toThrow(
    expect.objectContaining({ code: ErrorCode.INTERNAL_ERROR, initiator: "library" }),
  );
});
