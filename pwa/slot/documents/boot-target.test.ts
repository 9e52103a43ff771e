import { expect, it } from "vitest";
import { openedName, shellOriginOf } from "../slot-url.ts";
import { BACK_NAME, bootTarget, frameNameOf } from "./this-document.ts";

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

it("finds the name of a window, and where it meets its opener, in the name of its frame", () => {
  const meeting = "dae8e369-a083-4e9d-8746-9ba9cf866da7";
  for (const opened of ["", "pay", "two\nlines", `\n${meeting}`]) {
    expect(frameNameOf(openedName(opened, meeting))).toEqual({ isBack: false, opened, meeting });
    expect(frameNameOf(BACK_NAME + openedName(opened, meeting))).toEqual({ isBack: true, opened, meeting });
  }
  // Of a window without a meeting, as an app of before names all.
  expect(frameNameOf(openedName("pay", ""))).toEqual({ isBack: false, opened: "pay", meeting: "" });
  expect(frameNameOf(`pay\n${meeting}`)).toEqual({ isBack: false, opened: null, meeting: "" });
});
