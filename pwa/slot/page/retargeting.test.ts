import { expect, it } from "vitest";
import { Retargeting } from "./navigation-rules.ts";

function rig() {
  const tasks: (() => void)[] = [];
  const clock = { now: 0 };
  const retargeting = new Retargeting<{ target: string | null }>({
    read: ({ target }) => target,
    write(element, target) {
      element.target = target;
    },
    afterwards: (task) => void tasks.push(task),
    now: () => clock.now,
  });
  return { retargeting, clock, finish: () => tasks.splice(0).forEach((task) => void task()) };
}

it("turns an element to its own frame until its event is over", () => {
  for (const target of ["_blank", null]) {
    const { retargeting, finish } = rig();
    const link = { target };
    retargeting.turn(link, "_blank");
    retargeting.turn(link, "_blank");
    expect(link.target).toBe("_self");
    finish();
    expect(link.target).toBe(target);
  }
});

it("leaves what the page has set meanwhile", () => {
  const { retargeting, finish } = rig();
  const link = { target: "_blank" };
  retargeting.turn(link, "_blank");
  link.target = "other";
  finish();
  expect(link.target).toBe("other");
});

it("explains the navigation that follows, and no later one", () => {
  const { retargeting, clock, finish } = rig();
  const form = { target: "_blank" };
  expect(retargeting.meant(form)).toBe("");
  expect(retargeting.meant(null)).toBe("");
  retargeting.turn(form, "_blank");
  finish();
  expect(retargeting.meant(form)).toBe("_blank");
  clock.now = 5_000;
  expect(retargeting.meant(form)).toBe("");
});
