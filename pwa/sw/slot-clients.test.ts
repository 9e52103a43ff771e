import { afterEach, expect, it, vi } from "vitest";
import { settle } from "../../shared/testing/turns.ts";
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
  clients.takePort(new MessageChannel().port1, "page");
  await vi.advanceTimersByTimeAsync(1_000);
  expect([subresource.port, form.port]).toEqual([expect.any(TunnelPort), expect.any(TunnelPort)]);
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
