import { expect, it } from "vitest";
import { parseLaunch } from "./launch-request.ts";

it.each([
  ["", null, null, false],
  ["#key=K&url=https%3A%2F%2Fa.example%2F%3Fx%3D1", "K", "https://a.example/?x=1", false],
  ["#key=", null, null, false],
  ["?url=https://a.example/", null, "https://a.example/", false],
  ["?title=T&text=Look: https://a.example/x at this", null, "https://a.example/x", false],
  ["?text=two words", null, "two words", false],
  ["?view=settings", null, null, true],
  ["?url=https://b.example/#url=https://a.example/", null, "https://a.example/", false],
])("reads %j", (rest, accessKey, address, openSettings) => {
  expect(parseLaunch(new URL(`https://edge.example/${rest}`))).toEqual({ accessKey, address, openSettings });
});
