import { expect, it } from "vitest";
import { GzipHeader } from "./response-body.ts";

const FIXED = [0x1f, 0x8b, 8];
const REST = [0, 0, 0, 0, 0, 3];

it.each([
  ["nothing else", 0, []],
  ["an extra field", 4, [2, 1, ...Array(258).fill(7)]],
  ["a name and a comment", 8 + 16, [65, 0, 66, 67, 0]],
  ["all that there may be", 2 + 4 + 8 + 16, [1, 0, 9, 65, 0, 0, 5, 6]],
])("a header with %s ends behind it", (_, flags, fields) => {
  const bytes = [...FIXED, flags, ...REST, ...fields];
  for (const size of [1, 5, 1000]) {
    const header = new GzipHeader();
    const whole = [...bytes, 1, 2, 3];
    const pieces = Array.from({ length: Math.ceil(whole.length / size) }, (_piece, index) =>
      Uint8Array.from(whole.slice(index * size, (index + 1) * size)),
    );
    expect(pieces.flatMap((piece) => [...header.after(piece)])).toEqual([1, 2, 3]);
  }
});
