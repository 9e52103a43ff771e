import { expect, it } from "vitest";
import { OtherWindows, type WindowChannel } from "./slot-frames.ts";

/** Channels that hear each other at once, but not themselves. */
function channels(): () => WindowChannel {
  const all: WindowChannel[] = [];
  return () => {
    const channel: WindowChannel = {
      onmessage: null,
      postMessage(data) {
        for (const other of all) if (other !== channel) other.onmessage?.({ data } as MessageEvent);
      },
    };
    all.push(channel);
    return channel;
  };
}

it("knows of windows that were there, that came, and that went", () => {
  const create = channels();
  const first = new OtherWindows(create(), "1");
  expect(first.areOpen).toBe(false);
  const second = new OtherWindows(create(), "2");
  const third = new OtherWindows(create(), "3");
  expect([first.areOpen, second.areOpen, third.areOpen]).toEqual([true, true, true]);
  second.close();
  third.close();
  expect([first.areOpen, third.areOpen]).toEqual([false, true]);
  third.open();
  expect([first.areOpen, third.areOpen]).toEqual([true, true]);
});
