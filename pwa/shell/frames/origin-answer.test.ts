import { expect, it } from "vitest";
import { answerOrigins } from "./slot-services.ts";

const TOP = "https://top.example";
const GUEST = "https://guest.example";

function slot(label: string, origin: string, topLevelOrigin = TOP) {
  return { label, origin, topLevelOrigin, topLevel: origin === topLevelOrigin };
}

const ELSEWHERE = slot("elsewhere", "https://bank.example", "https://bank.example");
const slots = [slot("top", TOP), slot("guest", GUEST), slot("far", "https://far.example", GUEST), ELSEWHERE];
const frames = {
  slotOf: (origin: string) => slots.find(({ label }) => origin === `https://${label}.ropeway.example`) ?? null,
  originOf: ({ label }: { label: string }) => `https://${label}.ropeway.example`,
  find: (origin: string, topLevelOrigin: string) =>
    slots.find((each) => each.origin === origin && each.topLevelOrigin === topLevelOrigin) ?? null,
};

it("names the origin of a slot, and the slot of an origin below the same page only", () => {
  const names = ["guest", "none", "elsewhere"].map((label) => `https://${label}.ropeway.example`);
  const asked = [...names, TOP, "https://far.example"];
  expect(answerOrigins(asked, slot("guest", GUEST), frames)).toMatchObject({
    origins: { "https://guest.ropeway.example": GUEST, "https://top.ropeway.example": TOP },
    asked,
  });
});

it("answers whatever a page asks", () => {
  expect(answerOrigins(null, slot("guest", GUEST), frames)).toMatchObject({ origins: {}, asked: [] });
  const many = Array.from({ length: 1_000 }, () => TOP);
  const { asked } = answerOrigins([7, ...many], slot("guest", GUEST), frames) as unknown as { asked: string[] };
  expect(asked.length).toBeLessThan(20);
});
