import { expect, it } from "vitest";
import { cleanAddress } from "./site-sheet.tsx";

it("leaves out a name and a password, and nothing else", () => {
  expect(cleanAddress("https://me:secret@shop.example:8443/a%20b?q=1&ropeway=no#part")).toBe(
    "https://shop.example:8443/a%20b?q=1&ropeway=no#part",
  );
});
