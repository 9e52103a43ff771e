import { expect, it } from "vitest";
import { shellOriginOf } from "../slot-url.ts";
import { bootTarget } from "./this-document.ts";

const origin = "http://s1.localhost:8787";

it.each([
  ["?then=%2Fa%3Fb%3Dc", `${origin}/a?b=c`],
  ["#then=%2Fa%3Fb%3Dc%23d", `${origin}/a?b=c#d`],
  ["?then=%2Fa#then=b", `${origin}/a#then=b`],
  ["?then=%2Fa#part", `${origin}/a#part`],
  ["#part", null],
  ["#then=%2F%2Fevil.example%2F", null],
  ["", null],
  ["?then=https%3A%2F%2Fevil.example%2F", null],
  ["?then=%2F%2Fevil.example%2F", null],
  ["?then=javascript%3Aalert(1)", null],
  ["?then=http%3A%2F%2F%5B", null],
])("%s", (place, expected) => expect(bootTarget(new URL(`${origin}/.ropeway/boot${place}`), origin)).toBe(expected));

it("finds the shell one label up", () => {
  expect(shellOriginOf(origin)).toBe("http://localhost:8787");
  expect(shellOriginOf("https://s1.ropeway.example")).toBe("https://ropeway.example");
});
