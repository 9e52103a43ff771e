import { mkdtemp, readFile, rm } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, chromium, type Page } from "@playwright/test";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CHROMIUM_ARGS, findChromium } from "../../../fixtures/chromium.ts";
import { readWorkload, type Workload } from "../behaviour.ts";
import { readReplay, replayReady, startReplay, writeReplayFiles } from "../classes.ts";
import { fieldLinesLength } from "./head-padding.ts";
import { type ReplayOrigin, startReplayOrigin } from "./replay-origin.ts";
import { replayFloor, replayPlan } from "./replay-plan.ts";

const SMALL: Workload = {
  name: "small",
  behaviours: [
    {
      habit: "login",
      pause: 0,
      requests: [
        request(0, 0, [], { requestHead: 900, responseHead: 700, responseBody: 5_000 }),
        request(1, 30, [0], { method: "POST", requestHead: 1_500, requestBody: 40_000, responseBody: 0 }),
        request(2, 10, [0], { url: "http://other.test/x?y", responseBody: 200_000 }),
      ],
    },
    { habit: "read", pause: 50, requests: [request(0, 0, [], { method: "HEAD" }), request(1, 5, [0], {})] },
  ],
};

async function socialClass(): Promise<Workload> {
  const file = join(import.meta.dirname, "..", "files", "social.tsv");
  return readWorkload(await readFile(file, "utf8"), "social", file);
}

function request(
  index: number,
  time: number,
  dependencies: number[],
  rest: Partial<Workload["behaviours"][0]["requests"][0]>,
): Workload["behaviours"][0]["requests"][0] {
  const lengths = { requestHead: 0, requestBody: 0, responseHead: 0, responseBody: 0 };
  return { index, time, dependencies, method: "GET", url: "http://main.test/path?query", ...lengths, ...rest };
}

describe("a replay in a browser", () => {
  let directory: string;
  let browser: Browser;
  let page: Page;
  let own: ReplayOrigin;
  let other: ReplayOrigin;
  const seen: IncomingMessage[] = [];

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "replay-"));
    const onRequest = (message: IncomingMessage): void => void seen.push(message);
    own = await startReplayOrigin({ directory, port: 0, onRequest });
    other = await startReplayOrigin({ directory, port: 0, address: "127.0.0.2", onRequest });
    const originOf = ({ hostname }: URL): string =>
      hostname.startsWith("other") || hostname.startsWith("pictures")
        ? `http://127.0.0.2:${other.port}`
        : `http://127.0.0.1:${own.port}`;
    const social = await socialClass();
    const broken = replayPlan({ ...SMALL, name: "broken" }, originOf);
    await writeReplayFiles(directory, [
      replayPlan(SMALL, originOf),
      { ...broken, steps: broken.steps.map((step, index) => (index === 2 ? { ...step, responseBody: 7 } : step)) },
      replayPlan(social, originOf),
    ]);
    const executablePath = findChromium();
    browser = await chromium.launch({ args: CHROMIUM_ARGS, ...(executablePath ? { executablePath } : {}) });
    page = await browser.newPage();
  });

  afterAll(async () => {
    await browser?.close();
    await own?.close();
    await other?.close();
    await rm(directory, { recursive: true, force: true });
  });

  async function replay(name: string): ReturnType<typeof readReplay> {
    seen.length = 0;
    await page.goto(`http://127.0.0.1:${own.port}/replay.html?plan=${name}&hold`);
    await replayReady(page.mainFrame(), 10_000);
    expect(seen).toEqual([]);
    await startReplay(page.mainFrame());
    return readReplay(page.mainFrame(), 20_000);
  }

  it("asks for all of it, in the order of dependencies, and gets the right bytes", async () => {
    const outcome = await replay("small");
    expect(outcome.requests.map(({ failure }) => failure)).toEqual([null, null, null, null, null]);
    expect(outcome.failures).toBe(0);
    expect([outcome.bodyBytesUp, outcome.bodyBytesDown]).toEqual([40_000, 205_000]);
    expect(outcome.protocols).toEqual(["http/1.1"]);
    const [first, second, third, fourth, fifth] = outcome.requests.map(({ start, end }) => ({
      start: start ?? Number.NaN,
      end: end ?? Number.NaN,
    }));
    expect(first?.start).toBe(0);
    expect(second?.start).toBeGreaterThanOrEqual((first?.end ?? 0) + 29);
    expect(third?.start).toBeGreaterThanOrEqual((first?.end ?? 0) + 9);
    expect(fourth?.start).toBeGreaterThanOrEqual(Math.max(second?.end ?? 0, third?.end ?? 0) + 49);
    expect(fifth?.start).toBeGreaterThanOrEqual((fourth?.end ?? 0) + 4);
    expect(outcome.applicationLatency).toBe(fifth?.end);
    expect(outcome.waiting).toBeLessThan(outcome.applicationLatency ?? 0);
  });

  it("sends heads as long as was asked, where that costs no preflight", async () => {
    await replay("small");
    // The second and third go over connections of their own: a busy machine takes them in either order.
    const inOrder = [
      seen[0],
      ...seen.slice(1, 3).sort((a, b) => (a.method ?? "").localeCompare(b.method ?? "")),
      ...seen.slice(3),
    ];
    expect(inOrder.map((message) => message?.method)).toEqual(["GET", "GET", "POST", "HEAD", "GET"]);
    const lengths = inOrder
      .filter((message) => message !== undefined)
      .map(({ method, url, rawHeaders }) => {
        const fields = rawHeaders.flatMap((name, index) =>
          index % 2 === 0 ? [[name, rawHeaders[index + 1] ?? ""] as const] : [],
        );
        return `${method} ${url} HTTP/1.1\r\n\r\n`.length + fieldLinesLength(fields);
      });
    // What Chromium writes by itself differs between its versions.
    expect(Math.abs((lengths[0] ?? 0) - 900)).toBeLessThan(60);
    expect(Math.abs((lengths[2] ?? 0) - 1_500)).toBeLessThan(60);
  });

  it("gets heads as long as was asked", async () => {
    const response = await fetch(`http://127.0.0.1:${own.port}/b/3/0/700/10/x`);
    const fields = [...response.headers].filter(([name]) => name !== "connection" && name !== "keep-alive");
    expect("HTTP/1.1 200 OK\r\n\r\n".length + fieldLinesLength(fields)).toBe(700);
    expect((await response.arrayBuffer()).byteLength).toBe(10);
  });

  it("tells what failed, and does not send what depends on it", async () => {
    const outcome = await replay("broken");
    expect(outcome.requests.map(({ failure }) => failure)).toEqual([
      null,
      null,
      "Error: 200000 bytes came instead of 7",
      "not sent, since request 2 failed",
      "not sent, since request 3 failed",
    ]);
    expect(outcome.failures).toBe(3);
    expect(outcome.applicationLatency).toBe(outcome.requests[1]?.end);
  });

  it("replays a class of the model over two origins", async () => {
    const plan = replayPlan(await socialClass());
    const outcome = await replay("social");
    expect(outcome.failures).toBe(0);
    expect(outcome.requests.length).toBe(plan.steps.length);
    const floor = replayFloor(plan, { delay: 0, down: 0, up: 0, loss: 0 });
    expect(outcome.applicationLatency).toBeGreaterThanOrEqual(floor - plan.steps.length);
  });

  it("says what is wrong when there is no such plan", async () => {
    await page.goto(`http://127.0.0.1:${own.port}/replay.html?plan=none`);
    await expect(replayReady(page.mainFrame(), 10_000)).rejects.toThrow("Cannot load the plan none: status 404");
  });

  it("refuses a body other than was announced", async () => {
    const response = await fetch(`http://127.0.0.1:${own.port}/b/3/5/0/0/x`, { method: "POST", body: "hello" });
    expect([response.status, await response.text()]).toEqual([400, "the body has other bytes than were announced"]);
  });
});
