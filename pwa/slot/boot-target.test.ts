import { expect, it } from "vitest";
import { bootTarget } from "./boot-target.ts";
import { shellOriginOf } from "./shell-origin.ts";

const origin = "http://s1.localhost:8787";

it.each([
  ["?then=%2Fa%3Fb%3Dc", `${origin}/a?b=c`],
  ["", null],
  ["?then=https%3A%2F%2Fevil.example%2F", null],
  ["?then=%2F%2Fevil.example%2F", null],
  ["?then=javascript%3Aalert(1)", null],
  ["?then=http%3A%2F%2F%5B", null],
])("%s", (search, expected) => expect(bootTarget(search, origin)).toBe(expected));

it("finds the shell one label up", () => {
  expect(shellOriginOf(origin)).toBe("http://localhost:8787");
  expect(shellOriginOf("https://s1.ropeway.example")).toBe("https://ropeway.example");
});
