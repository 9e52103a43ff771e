import { expect, test } from "vitest";
import { patchIdle } from "./like-a-tab.ts";

function fakeWindow() {
  const idle: (() => void)[] = [];
  const frames: (() => void)[] = [];
  const window = { requestIdleCallback: (callback: () => void) => idle.push(callback) };
  patchIdle(window, (callback) => void frames.push(callback));
  const run = (tasks: (() => void)[]) => {
    for (const task of tasks.splice(0)) task();
  };
  return { window, frames, drawFrame: () => run(frames), beIdle: () => run(idle) };
}

test("frames are drawn until the last idle callback has been called, one at a time", () => {
  const { window, frames, drawFrame, beIdle } = fakeWindow();
  const called: number[] = [];
  window.requestIdleCallback(() => called.push(1));
  drawFrame();
  window.requestIdleCallback(() => called.push(2));
  expect(frames).toHaveLength(1);
  beIdle();
  expect(called).toEqual([1, 2]);
  drawFrame();
  expect(frames).toEqual([]);
});

test("an idle callback that asks for the next one gets frames for that, too", () => {
  const { window, frames, drawFrame, beIdle } = fakeWindow();
  window.requestIdleCallback(() => window.requestIdleCallback(() => {}));
  beIdle();
  drawFrame();
  expect(frames).toHaveLength(1);
  beIdle();
  drawFrame();
  expect(frames).toEqual([]);
});
