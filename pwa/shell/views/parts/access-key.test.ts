import { expect, it } from "vitest";
import { accessKeyFrom } from "./key-form.tsx";

it.each([
  ["a1B2-c3_d4", "a1B2-c3_d4"],
  ["  a1B2-\n c3_d4 ", "a1B2-c3_d4"],
  ["http://localhost:8787/#key=a1B2", "a1B2"],
  ["https://ropeway.example/#key=a1B2&url=https%3A%2F%2Fexample.com", "a1B2"],
  ["#key=a1B2", "a1B2"],
  ["", ""],
])("%s", (pasted, accessKey) => expect(accessKeyFrom(pasted)).toBe(accessKey));
