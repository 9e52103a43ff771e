import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { WindowChannel } from "../frames/slot-frames.ts";
import { SiteForgetting } from "./phone.ts";

const URLS = ["https://www.a.example/page", "http://a.example", "https://b.example/", "https://shop.a.example/", ""];

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** As of one browser: who asks first is first, and shared ones wait for those before. */
function openLocks() {
  const queues = new Map<string, Promise<unknown>>();
  const request = (name: string, ...rest: readonly unknown[]) => {
    const task = rest.at(-1) as () => unknown;
    const done = (queues.get(name) ?? Promise.resolve()).then(task);
    queues.set(name, done);
    return done;
  };
  return { request } as Pick<LockManager, "request">;
}

function openWindow(why: string | null = "", locks: Pick<LockManager, "request"> | null = null) {
  const log: string[] = [];
  const channel: WindowChannel = { postMessage: (site) => void log.push(`tell ${site}`), onmessage: null };
  const forgetting = new SiteForgetting({
    tunnel: {
      askStore: async (question: { readonly kind: string; readonly site?: string }) => {
        log.push(`edge ${question.site}`);
        return why as never;
      },
      tell: (message) =>
        void (message.type === "store" && message.kind === "forget" && log.push(message.isOver ? "go on" : "hold")),
    },
    locks,
    channel,
    forgetHere: (isOf) => void log.push(`here ${URLS.filter(isOf)}`),
    onDone: (reason) => void log.push(`done ${reason}`),
  });
  return { log, channel, forgetting };
}

it("closes a site's pages in all windows before phone and edge forget it", async () => {
  const { log, forgetting } = openWindow("the edge is away");
  forgetting.forget("a.example");
  expect(log.splice(0)).toEqual(["tell a.example", "hold", `here ${URLS.slice(0, 2)}`]);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(log).toEqual(["edge a.example", "go on", "done the edge is away"]);
});

it("only closes them where another window forgets it", async () => {
  const { log, channel } = openWindow();
  channel.onmessage?.({ data: "a.example" } as MessageEvent);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(log).toEqual(["hold", `here ${URLS.slice(0, 2)}`, "go on"]);
});

it("has other windows ask for no page of it before the edge has said that it is forgotten", async () => {
  const locks = openLocks();
  const [first, second] = [openWindow("", locks), openWindow("", locks)];
  first.channel.postMessage = (data) => second.channel.onmessage?.({ data } as MessageEvent);
  first.forgetting.forget("a.example");
  await vi.advanceTimersByTimeAsync(299);
  expect(second.log).toEqual(["hold", `here ${URLS.slice(0, 2)}`]);
  expect(first.log).toEqual(second.log);
  await vi.advanceTimersByTimeAsync(1);
  expect(first.log.slice(2)).toEqual(["edge a.example", "go on", "done "]);
  expect(second.log.slice(2)).toEqual(["go on"]);
});

it("says that some of it is still there, where nobody could be asked", async () => {
  const { log, forgetting } = openWindow(null);
  forgetting.forget("a.example");
  await vi.advanceTimersByTimeAsync(1_000);
  expect(log.at(-1)).toBe("done Cannot forget a.example: some of it is still there. Try again when the link is back");
});
