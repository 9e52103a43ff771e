import type { Frame } from "@playwright/test";
import { expect, testInOneApp as test } from "../fixtures/browser.ts";
import type { Exchange } from "../fixtures/test-origin/test-exchange.ts";

declare global {
  /** What the page was told of its upload, and how the request ended. */
  var told: { type: string; loaded: number; total: number; measured: boolean }[];
  var ended: string;
  var sending: XMLHttpRequest;
}

/** Sends so many bytes by XHR. */
function send(frame: Frame, path: string, size: number): Promise<void> {
  return frame.evaluate(
    ([to, bytes]) => {
      Object.assign(globalThis, { told: [], ended: "", sending: new XMLHttpRequest() });
      sending.open("POST", to);
      const types = ["loadstart", "progress", "load", "abort", "error", "timeout", "loadend"] as const;
      for (const each of types)
        sending.upload.addEventListener(each, ({ type, loaded, total, lengthComputable: measured }) =>
          told.push({ type, loaded, total, measured }),
        );
      for (const type of ["load", "abort"])
        sending.addEventListener(type, () => {
          ended = `${type} after ${told.at(-1)?.type}`;
        });
      sending.send(new Blob([new Uint8Array(bytes)]));
    },
    [path, size] as const,
  );
}

/** More than what sockets and edge take of a body that its origin does not read. */
const LARGE = 12_000_000;

test("a page is told how far its upload is, and when it is through", async ({ app, origin }) => {
  origin.page("/", "<p>Sender</p>");
  let held: Exchange | undefined;
  origin.route("/held", async (exchange) => {
    held = exchange;
    exchange.response.req.pause();
    await exchange.body();
    exchange.reply(200, {}, "");
  });
  await app.goto(`${origin.origin}/`);
  const frame = await app.content();
  await send(frame, "/held", LARGE);
  await expect.poll(() => frame.evaluate(() => told.some(({ type }) => type === "progress"))).toBe(true);
  const before = await frame.evaluate(() => told);
  expect(before[0]).toEqual({ type: "loadstart", loaded: 0, total: LARGE, measured: true });
  expect(before.at(-1)).toMatchObject({ type: "progress", total: LARGE, measured: true });
  expect(before.at(-1)?.loaded).toBeLessThan(LARGE);
  held?.response.req.resume();
  await expect.poll(() => frame.evaluate(() => ended)).toBe("load after loadend");
  const after = await frame.evaluate(() => told);
  const whole = { loaded: LARGE, total: LARGE, measured: true };
  expect(after.slice(-3)).toEqual(["progress", "load", "loadend"].map((type) => ({ type, ...whole })));
  const counts = after.slice(0, -2).map(({ loaded }) => loaded);
  expect(counts).toEqual([...new Set(counts)].sort((a, b) => a - b));
  expect((await origin.requestTo("/held")).rawHeaders.join()).not.toMatch(/ropeway/i);
});

test("an upload that is given up half-way is said to be, one that was through is not", async ({ app, origin }) => {
  origin.page("/", "<p>Sender</p>");
  origin.route("/held", ({ response }) => void response.req.pause());
  await app.goto(`${origin.origin}/`);
  const frame = await app.content();
  const types = (): Promise<string[]> => frame.evaluate(() => told.map(({ type }) => type));
  const given = { abort: ["abort", "loadend"], through: ["load", "loadend"] };
  await send(frame, "/held", LARGE);
  await expect.poll(types).toContain("progress");
  await frame.evaluate(() => sending.abort());
  await expect
    .poll(async () => (await types()).filter((type) => type !== "progress"))
    .toEqual(["loadstart", ...given.abort]);
  // The origin never answers.
  await send(frame, "/silent", 3_000);
  await expect.poll(types).toEqual(["loadstart", "progress", ...given.through]);
  await frame.evaluate(() => sending.abort());
  expect(await frame.evaluate(() => ended)).toBe("abort after loadend");
  expect(await types()).toEqual(["loadstart", "progress", ...given.through]);
});

test("an upload to another origin goes out as one that nobody watches", async ({ app, origin, otherOrigin }) => {
  origin.page("/", "<p>Sender</p>");
  await app.goto(`${origin.origin}/`);
  const frame = await app.content();
  await send(frame, `${otherOrigin.origin}/cors/any`, 3_000);
  await expect.poll(() => frame.evaluate(() => ended)).toBe("load after loadend");
  expect(otherOrigin.requests.map(({ method, bodyBytes }) => [method, bodyBytes])).toEqual([["POST", 3_000]]);
  expect(JSON.stringify(otherOrigin.requests)).not.toMatch(/ropeway/i);
});

/** Events of an upload and of its request, one after the other; progress only once in a row. */
const EVENTS = `
  function eventsOf(how, size) {
    const log = [];
    const request = new XMLHttpRequest();
    const note = (of) => ({ type, loaded }) => {
      const line = of + type + (type === "progress" || of === "" ? "" : " " + (loaded > 0 ? "some" : "none"));
      if (log.at(-1) !== line) log.push(line);
    };
    for (const type of ["loadstart", "progress", "load", "abort", "error", "timeout", "loadend"]) {
      request.addEventListener(type, note(""));
      request.upload.addEventListener(type, note("upload "));
    }
    request.addEventListener("readystatechange", () => log.push("state " + request.readyState + " " + request.status));
    request.open("POST", "/" + how);
    if (how === "timeout") request.timeout = 2000;
    return new Promise((resolve) => {
      request.addEventListener("loadend", () => setTimeout(() => resolve(log), 50));
      let isFirst = true;
      request.upload.addEventListener("progress", () => {
        if (how === "abort" && isFirst) request.abort();
        isFirst = false;
      });
      if (how === "at-once") queueMicrotask(() => request.abort());
      request.send(new Blob([new Uint8Array(size)]));
    });
  }`;

test("events of uploads that end early are those of a direct visit @long", async ({ app, direct, origin }) => {
  origin.page("/", `<script>${EVENTS}</script>`);
  for (const path of ["/abort", "/at-once", "/timeout"])
    origin.route(path, ({ response }) => void response.req.pause());
  origin.route("/error", (exchange) => void exchange.response.req.socket.destroy());
  origin.route("/refused", async (exchange) => {
    await exchange.body();
    exchange.reply(500, {}, "no");
  });
  await app.goto(`${origin.origin}/`);
  await direct.page.goto(`${origin.origin}/`);
  const frame = await app.content();
  for (const how of ["abort", "at-once", "timeout", "error", "refused"]) {
    const ask = `eventsOf("${how}", ${how === "refused" ? 3_000 : LARGE})`;
    const [told, toldDirectly] = [await frame.evaluate(ask), await direct.page.evaluate(ask)].map((log) => {
      // A connection that is reset at once may have taken a part, or none.
      const certain = (log as string[]).filter((line) => how !== "error" || !line.startsWith("upload progress"));
      return certain.map((line) => (how === "error" ? line.replace(/ (some|none)$/, "") : line));
    });
    expect([how, told]).toEqual([how, toldDirectly]);
  }
});
