import { afterEach, expect, it, vi } from "vitest";
import { settle } from "../../shared/testing/turns.ts";
import type { TunnelToPort } from "../messages/port-messages.ts";
import type { WorkerToPage } from "../messages/worker-messages.ts";
import { SlotClients } from "./slot-clients.ts";
import { TunnelPort } from "./tunnel-port.ts";

const SLOT = "http://s1.localhost:8787";

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

it("shows cookies to pages, and does not wait for what has no page script", async () => {
  const told: string[] = [];
  const clients = new SlotClients();
  const page = (url: string, answers: boolean) => ({
    url,
    postMessage(message: WorkerToPage) {
      told.push(url);
      if (answers && message.type === "cookies") queueMicrotask(() => clients.acknowledge(message.id));
    },
  });
  const pages = [
    page(`${SLOT}/`, true),
    page(`${SLOT}/.ropeway/boot`, false),
    page(`${SLOT}/.ropeway/frame?url=https%3A%2F%2Fb.example%2F&closed=1`, false),
    page("about:srcdoc", false),
  ];
  vi.stubGlobal("self", { location: new URL(SLOT), clients: { matchAll: async () => pages } });
  let isShown = false;
  void clients.showCookies([]).then(() => {
    isShown = true;
  });
  await settle();
  expect([isShown, told]).toEqual([true, [`${SLOT}/`]]);
});

it("lets a page rest that keeps it running at the wish of a worker before it", () => {
  const postMessage = vi.fn();
  new SlotClients().hearKeepAlive({ postMessage });
  expect(postMessage).toHaveBeenCalledWith(expect.objectContaining({ type: "keep-alive", interval: 0 }));
});

/** A slot whose one page does not answer by itself. */
function slotWithPage() {
  vi.useFakeTimers();
  const page = { id: "page", type: "window", url: `${SLOT}/`, postMessage: vi.fn() };
  const pages = [page];
  const browsers = { get: async (id: string) => pages.find((known) => known.id === id), matchAll: async () => pages };
  vi.stubGlobal("self", { location: new URL(SLOT), clients: browsers });
  const clients = new SlotClients();
  const ask = (request: { readonly mode: RequestMode; readonly method: string }) => {
    const asked: { port?: TunnelPort | null } = {};
    const event = { request, clientId: page.id, resultingClientId: "" } as unknown as FetchEvent;
    void clients.portFor(event).then((port) => {
      asked.port = port;
    });
    return asked;
  };
  return { clients, pages, page, ask };
}

it("waits for the port of a page that is busy, for all but what the boot page can do", async () => {
  const { clients, ask } = slotWithPage();
  const [subresource, form, navigation] = [
    ask({ mode: "cors", method: "GET" }),
    ask({ mode: "navigate", method: "POST" }),
    ask({ mode: "navigate", method: "GET" }),
  ];
  await vi.advanceTimersByTimeAsync(10_000);
  expect([subresource, form, navigation]).toEqual([{}, {}, { port: null }]);
  clients.takePort(new MessageChannel().port1, { id: "page", url: `${SLOT}/` });
  await vi.advanceTimersByTimeAsync(1_000);
  expect([subresource.port, form.port]).toEqual([expect.any(TunnelPort), expect.any(TunnelPort)]);
});

it("asks no document where windows meet for a port", async () => {
  const { pages, page, ask } = slotWithPage();
  const meeting = { ...page, id: "meeting", url: `${SLOT}/.ropeway/meeting?1`, postMessage: vi.fn() };
  pages.push(meeting);
  ask({ mode: "navigate", method: "POST" });
  await vi.advanceTimersByTimeAsync(10_000);
  expect([page.postMessage.mock.calls.length > 1, meeting.postMessage.mock.calls.length]).toEqual([true, 0]);
});

it("tells what waits for an answer that its document is gone, but for beacons, and documents that it has not known", async () => {
  const { clients, pages } = slotWithPage();
  await clients.documentUrl("page");
  const { promise, resolve } = Promise.withResolvers<void>();
  const ask = (clientId: string, request: Partial<Request>, answer: Promise<void> = promise) => {
    const asked: { signal?: AbortSignal } = {};
    const event = { clientId, request: { signal: new AbortController().signal, mode: "cors", ...request } as Request };
    void clients.whileThere(event, (signal) => {
      asked.signal = signal;
      return answer;
    });
    return asked;
  };
  const asked = [
    ask("page", {}),
    ask("page", {}, Promise.resolve()),
    ask("page", { keepalive: true }),
    ask("page", { mode: "navigate" }),
    ask("unknown", {}),
  ];
  const ended = () => asked.map(({ signal }) => signal?.aborted);
  await vi.advanceTimersByTimeAsync(20_000);
  expect(ended()).toEqual([false, false, false, false, false]);
  pages.length = 0;
  await vi.advanceTimersByTimeAsync(5_000);
  expect(ended()).toEqual([true, false, false, false, false]);
  resolve();
  await vi.advanceTimersByTimeAsync(0);
  expect(vi.getTimerCount()).toBe(0);
});

it("waits no longer for a page that is gone, nor for ever for one without a script", async () => {
  for (const [isGone, time] of [
    [true, 15_000],
    [false, 75_000],
  ] as const) {
    const { pages, ask } = slotWithPage();
    const asked = ask({ mode: "cors", method: "GET" });
    await vi.advanceTimersByTimeAsync(10_000);
    expect(asked).toEqual({});
    if (isGone) pages.pop();
    await vi.advanceTimersByTimeAsync(time - 10_000);
    expect(asked).toEqual({ port: null });
  }
});

it("sends a boot page's navigation through the port that it brought, however late, and no other that it does not go to", async () => {
  const { clients, pages } = slotWithPage();
  vi.useRealTimers();
  const boot = `${SLOT}/.ropeway/boot`;
  const bring = (id: string, tunnel: string, ...goal: [goal?: string | null]): void => {
    const { port1, port2 } = new MessageChannel();
    pages.push({ id, type: "window", url: boot, postMessage: vi.fn() });
    clients.takePort(port1, { id, url: boot }, ...goal);
    const binding = { origin: "https://a.example", topLevelOrigin: "https://a.example", topLevel: true };
    port2.postMessage([{ type: "bound", binding, tunnel } satisfies TunnelToPort]);
  };
  const tunnelOf = async (path: string) => {
    const request = { mode: "navigate", method: "GET", url: SLOT + path };
    const port = await clients.portFor({ request, clientId: "", resultingClientId: "" } as unknown as FetchEvent);
    return port === null ? null : await port.tunnel;
  };
  bring("one", "first window", `${SLOT}/a#part`);
  bring("two", "second window", `${SLOT}/b`);
  bring("spare", "third window", null);
  expect([await tunnelOf("/a"), await tunnelOf("/b#other"), await tunnelOf("/c")]).toEqual([
    "first window",
    "second window",
    null,
  ]);
  pages.splice(0, pages.length, ...pages.filter(({ id }) => id !== "one"));
  expect(await tunnelOf("/a")).toBe(null);
  bring("of before", "fourth window");
  expect(await tunnelOf("/c")).toBe("fourth window");
});
