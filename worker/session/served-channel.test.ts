import { expect, test } from "vitest";
import { ServedChannel, type ServedLink } from "./served-session.ts";

const link = (): ServedLink => ({ isHeard: false, hasSnapshot: false }) as ServedLink;

test("loses its socket, is waited for, and is taken again", () => {
  const channel = new ServedChannel(1);
  const [first, second] = [link(), link()];
  channel.take(first, 3);
  expect([channel.link, channel.newest, channel.isAwaited]).toEqual([first, 3, false]);
  channel.unlink();
  expect([channel.link, channel.isAwaited]).toEqual([null, false]);
  channel.expect();
  expect(channel.isAwaited).toBe(true);
  channel.take(second, 4);
  expect([channel.link, channel.isAwaited]).toEqual([second, false]);
});

test("is waited for while its end is not confirmed, until it is given up", () => {
  const channel = new ServedChannel(1);
  channel.take(link(), 0);
  channel.finish();
  channel.expect();
  expect([channel.isFinishing, channel.isAwaited]).toEqual([true, true]);
  channel.unlink();
  expect([channel.link, channel.isFinishing, channel.isAwaited]).toEqual([null, false, true]);
  channel.giveUp();
  expect(channel.isAwaited).toBe(false);
});

test("that was given up while it finishes is not waited for when its socket has closed", () => {
  const channel = new ServedChannel(1);
  channel.take(link(), 0);
  channel.finish();
  channel.expect();
  channel.giveUp();
  expect([channel.isFinishing, channel.isAwaited]).toEqual([true, false]);
  channel.unlink();
  expect([channel.link, channel.isAwaited]).toEqual([null, false]);
});

test("a link is overtaken by a newer one, and by the one on which more came", () => {
  const channel = new ServedChannel(1, 2);
  expect([1, 2, 3].map((number) => channel.isOvertaken(number))).toEqual([true, false, false]);
  channel.take(link(), 3);
  channel.heard();
  expect(channel.isOvertaken(3)).toBe(false);
  channel.heard();
  expect([3, 4].map((number) => channel.isOvertaken(number))).toEqual([true, false]);
});

test("what has no link is neither finished nor heard", () => {
  const channel = new ServedChannel(1);
  expect(() => channel.finish()).toThrow("Cannot finish a channel: it has no link");
  expect(() => channel.heard()).toThrow("Cannot take a message: the channel has no link");
});
