import { expect, test } from "vitest";
import { settle } from "../../shared/testing/turns.ts";
import { gathering } from "./served-session.ts";

function setUp() {
  const timers: { readonly task: () => void; readonly delay: number }[] = [];
  const done: string[] = [];
  const defer = gathering((task, delay) => {
    timers.push({ task, delay });
    return () => {};
  }, 3);
  return {
    done,
    timers,
    add: (name: string) => defer(() => done.push(name)),
    fire: () => timers.shift()?.task(),
  };
}

test("the first is done at the end of the turn, and those soon after it together", async () => {
  const { add, done, timers, fire } = setUp();
  add("a");
  expect(done).toEqual([]);
  await settle();
  expect([done, timers.map(({ delay }) => delay)]).toEqual([["a"], [3]]);
  add("b");
  add("c");
  await settle();
  expect(done).toEqual(["a"]);
  fire();
  expect([done, timers.length]).toEqual([["a", "b", "c"], 1]);
  add("d");
  await settle();
  expect(done).toHaveLength(3);
  fire();
  expect(done).toHaveLength(4);
});

test("nothing is kept when nothing comes any more", async () => {
  const { add, done, timers, fire } = setUp();
  add("a");
  await settle();
  fire();
  expect(timers).toEqual([]);
  add("b");
  await settle();
  expect(done).toEqual(["a", "b"]);
});
