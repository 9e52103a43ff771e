import { EventEmitter } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import type { Frame, Page } from "@playwright/test";
import { describe, expect, it } from "vitest";
import type { Lab } from "../../lab/lab.ts";
import type { Site } from "../model.ts";
import type { PhoneBrowser } from "./phone-browser.ts";
import { watchVisit } from "./visit.ts";

const SITE: Site = {
  name: "news",
  url: "https://news.test/",
  hosts: [],
  objects: 50,
  bytes: 900_000,
  codedBytes: 300_000,
  depth: 2,
};

/** A page that gets these objects, each so many milliseconds after it was asked for, and loads with the first. */
function pageWith(objects: readonly { readonly url: string; readonly after: number; readonly bytes: number }[]) {
  const page = new EventEmitter();
  const down = { bytes: 0, packets: 0, droppedByQueue: 0, droppedByLoss: 0, droppedInOutage: 0 };
  const arrive = async ({ url, after, bytes }: (typeof objects)[number]): Promise<void> => {
    const request = { url: () => url, existingResponse: () => ({ status: () => 200 }), redirectedTo: () => null };
    page.emit("request", request);
    await wait(after);
    down.bytes += bytes;
    page.emit("requestfinished", request);
  };
  const times = { firstContentfulPaint: 1100, largestContentfulPaint: 1200, load: 1500 };
  const lab = {
    rewind: async () => {},
    counters: async () => ({ down: { ...down }, up: { ...down, bytes: 0 }, tcpConnections: 0, quicConnections: 0 }),
  };
  return {
    lab: lab as unknown as Lab,
    browser: { page: page as unknown as Page, cpu: () => 0, memory: () => 0 } as PhoneBrowser,
    load: async () => {
      await Promise.race(objects.map(arrive));
      return { frame: { evaluate: async () => times } as unknown as Frame, zero: 1000 };
    },
  };
}

describe("watchVisit", () => {
  it("counts what comes after the load event, on a revisit too, though a cache may have spared some of it", async () => {
    const objects = [
      { url: "https://news.test/", after: 10, bytes: 20_000 },
      { url: "https://news.test/late.jpg", after: 900, bytes: 130_000 },
    ];
    const visit = { timeout: 10_000, edgePid: null };
    const first = await watchVisit({ ...visit, ...pageWith(objects), site: { ...SITE, objects: 2 } });
    const again = await watchVisit({ ...visit, ...pageWith(objects), site: { ...SITE, objects: 3 }, isRevisit: true });
    expect(again).toMatchObject({ objects: 2, bytesDown: 150_000, load: 500 });
    expect(again).toEqual(first);
  });
});
