import { afterEach, expect, it, vi } from "vitest";
import { settle } from "../../shared/testing/turns.ts";
import type { WorkerToPage } from "../slot/worker-messages.ts";
import { SlotClients } from "./slot-clients.ts";

const SLOT = "http://s1.localhost:8787";

afterEach(() => vi.unstubAllGlobals());

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
