import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { StoreQuestion } from "../../messages/tunnel-messages.ts";
import type { WindowChannel } from "../frames/other-windows.ts";
import { SiteForgetting } from "./site-forgetting.ts";

const URLS = ["https://www.a.example/page", "http://a.example", "https://b.example/", "https://shop.a.example/", ""];

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function openWindow(why: string | null = "") {
  const log: string[] = [];
  const channel: WindowChannel = { postMessage: (site) => void log.push(`tell ${site}`), onmessage: null };
  const forgetting = new SiteForgetting({
    tunnel: {
      askStore: async <Why>(question: StoreQuestion) => {
        log.push(`edge ${question.kind === "forget" && question.site}`);
        return why as Why | null;
      },
    },
    channel,
    forgetHere: (isOf) => void log.push(`here ${URLS.filter(isOf)}`),
    onDone: (reason) => void log.push(`done ${reason}`),
  });
  return { log, channel, forgetting };
}

it("closes a site's pages in all windows before phone and edge forget it", async () => {
  const { log, forgetting } = openWindow("the edge is away");
  forgetting.forget("a.example");
  expect(log.splice(0)).toEqual(["tell a.example", `here ${URLS.slice(0, 2)}`]);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(log).toEqual(["edge a.example", "done the edge is away"]);
});

it("only closes them where another window forgets it", async () => {
  const { log, channel } = openWindow();
  channel.onmessage?.({ data: "a.example" } as MessageEvent);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(log).toEqual([`here ${URLS.slice(0, 2)}`]);
});
