import { expect, it } from "vitest";
import { TakenCookies } from "./cookies.ts";

it("holds a request for the cookies set before it, and not for later ones", async () => {
  const cookies = new TakenCookies();
  expect(cookies.whenTaken()).toBeNull();
  const [first, second] = [cookies.begin(), cookies.begin()];
  let isReady = false;
  const wait = cookies.whenTaken()?.then(() => {
    isReady = true;
  });
  const third = cookies.begin();
  cookies.taken(first);
  await Promise.resolve();
  expect(isReady).toBe(false);
  cookies.taken(second);
  await wait;
  expect(isReady).toBe(true);
  expect(cookies.whenTaken()).not.toBeNull();
  cookies.taken(third);
  expect(cookies.whenTaken()).toBeNull();
});
