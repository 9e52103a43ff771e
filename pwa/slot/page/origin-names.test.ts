import { expect, it, vi } from "vitest";
import { OriginNames } from "./origin-names.ts";

const own = {
  slotOrigin: "https://s1.ropeway.example",
  realOrigin: "https://a.example",
  slotSources: "https://*.ropeway.example",
};
const GUEST = "https://s2.ropeway.example";

it("reads its own slot, those that it was told of, and what is no slot", () => {
  const names = new OriginNames(own, () => {});
  names.take({ [GUEST]: "https://b.example" });
  expect(names.real(own.slotOrigin)).toBe("https://a.example");
  expect(names.real(GUEST)).toBe("https://b.example");
  for (const origin of ["", "null", "https://ropeway.example", "https://c.example"])
    expect(names.real(origin)).toBe(origin);
  expect(names.real("https://s3.ropeway.example")).toBeNull();
  expect(names.slots("https://b.example")).toEqual([GUEST]);
  expect(names.slots(GUEST)).toEqual([GUEST]);
  expect(names.slots("https://c.example")).toEqual([]);
});

it("asks once, and goes on when that is answered", async () => {
  const asked: string[] = [];
  const names = new OriginNames(own, (origins) => asked.push(...origins));
  const learned = Promise.all([names.learn(GUEST), names.learn(GUEST)]);
  names.take({ [GUEST]: "https://b.example" }, [GUEST]);
  await learned;
  expect(asked).toEqual([GUEST]);
  expect(names.real(GUEST)).toBe("https://b.example");
});

it("leaves a slot its name where the app of the version before does not answer", async () => {
  vi.useFakeTimers();
  const names = new OriginNames(own, () => {});
  const learned = names.learn(GUEST);
  vi.runAllTimers();
  await learned;
  expect(names.real(GUEST)).toBe(GUEST);
  vi.useRealTimers();
});
