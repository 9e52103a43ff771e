import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { chromium } from "@playwright/test";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CHROMIUM_ARGS, findChromium } from "../../../fixtures/chromium.ts";
import { type BehaviourRequest, behaviourFault } from "../behaviour.ts";
import { readWorkload } from "../behaviour-file.ts";
import { type HarEntry, readHar } from "./har.ts";
import { harToWorkload } from "./har-to-behaviour.ts";

const OPTIONS = { name: "recorded", habit: "read" };

/** An entry that starts and lasts so many milliseconds. */
function entry(
  start: number,
  time: number,
  url: string,
  rest: {
    mimeType?: string;
    redirectURL?: string;
    referrer?: string;
    status?: number;
    method?: string;
  } & Partial<HarEntry> = {},
): HarEntry {
  const { mimeType = "text/html", redirectURL = "", referrer, status = 200, method = "GET", ...own } = rest;
  return {
    startedDateTime: new Date(1_700_000_000_000 + start).toISOString(),
    time,
    request: {
      method,
      url,
      headers: referrer === undefined ? [] : [{ name: "Referer", value: referrer }],
      headersSize: 400,
      bodySize: method === "POST" ? 33 : 0,
    },
    response: {
      status,
      statusText: "OK",
      headers: [],
      redirectURL,
      headersSize: 200,
      bodySize: 1000,
      content: { size: 3000, mimeType },
    },
    ...own,
  };
}

function converted(...entries: HarEntry[]): readonly BehaviourRequest[] {
  return harToWorkload(entries, OPTIONS).workload.behaviours.flatMap(({ requests }) => requests);
}

function timing({ time, dependencies }: BehaviourRequest): [time: number, dependencies: readonly number[]] {
  return [time, dependencies];
}

describe("harToWorkload", () => {
  it("takes dependencies from initiators, through scripts' callers", () => {
    const requests = converted(
      entry(0, 100, "https://a.test/"),
      entry(60, 40, "https://a.test/s.js#x", { _initiator: { type: "parser", url: "https://a.test/" } }),
      entry(130, 50, "https://a.test/data", {
        _initiator: {
          type: "script",
          stack: { callFrames: [], parent: { callFrames: [{ url: "https://a.test/s.js" }] } },
        },
      }),
      entry(170, 5, "https://a.test/alone", { _initiator: { type: "other" } }),
    );
    expect(requests.map(timing)).toEqual([
      [0, []],
      [0, [0]],
      [30, [1]],
      [170, []],
    ]);
  });

  it("guesses dependencies from referrers and from what had just ended", () => {
    const requests = converted(
      entry(0, 100, "https://a.test/"),
      entry(110, 40, "https://a.test/s.js", { referrer: "https://a.test/", mimeType: "text/javascript" }),
      entry(112, 30, "https://a.test/i.png", { referrer: "https://a.test/", mimeType: "image/png" }),
      entry(160, 50, "https://a.test/data", { referrer: "https://a.test/" }),
      entry(290, 50, "https://a.test/late", { referrer: "https://a.test/" }),
    );
    expect(requests.map(timing)).toEqual([
      [0, []],
      [10, [0]],
      [12, [0]],
      [20, [0, 1]],
      [190, [0]],
    ]);
  });

  it("follows redirects", () => {
    const requests = converted(
      entry(0, 100, "https://a.test/", { status: 301, redirectURL: "/home" }),
      entry(104, 40, "https://a.test/home", { _initiator: { type: "other" } }),
    );
    expect(requests.map(timing)).toEqual([
      [0, []],
      [4, [0]],
    ]);
  });

  it("parts behaviours where a person was thinking", () => {
    const { behaviours } = harToWorkload(
      [entry(0, 100, "https://a.test/"), entry(900, 300, "https://a.test/1"), entry(2_500, 100, "https://a.test/2")],
      OPTIONS,
    ).workload;
    expect(behaviours.map(({ habit, pause, requests }) => [habit, pause, requests.length])).toEqual([
      ["read", 0, 2],
      ["read", 1_300, 1],
    ]);
  });

  it("leaves out what cannot be replayed, and says so", () => {
    const preflight = entry(5, 5, "https://b.test/", { method: "OPTIONS" });
    const { workload, omitted } = harToWorkload(
      [
        entry(0, 100, "https://a.test/"),
        {
          ...preflight,
          request: { ...preflight.request, headers: [{ name: "Access-Control-Request-Method", value: "PUT" }] },
        },
        entry(1, 1, "data:text/plain,x"),
        entry(2, 1, "https://a.test/gone", { status: 0 }),
        entry(3, 1, "https://a.test/also-gone", { status: -1 }),
        entry(4, 1, "https://a.test/socket", { status: 101 }),
        entry(6, 1, "https://a.test/cached", { _fromCache: "disk" }),
      ],
      OPTIONS,
    );
    expect(workload.behaviours[0]?.requests.length).toBe(1);
    expect([...omitted]).toEqual([
      ["CORS preflight: the browser makes its own", 1],
      ["not http(s)", 1],
      ["no answer", 2],
      ["WebSocket", 1],
      ["from a cache", 1],
    ]);
    expect(() => harToWorkload([], OPTIONS)).toThrow("it has no request that can be replayed");
  });

  it("counts heads and bodies that the HAR does not know", () => {
    const known = entry(0, 1, "https://a.test/p?q", { method: "POST" });
    const [request] = converted({
      ...known,
      request: {
        ...known.request,
        headersSize: -1,
        bodySize: -1,
        postData: { text: "é" },
        headers: [
          { name: ":authority", value: "a.test" },
          { name: ":path", value: "/p?q" },
          { name: "accept", value: "*/*" },
        ],
      },
      response: { ...known.response, bodySize: -1, _transferSize: 1_234 },
    });
    expect(request).toMatchObject({
      requestHead: "POST /p?q HTTP/1.1\r\nhost: a.test\r\naccept: */*\r\n\r\n".length,
      requestBody: 2,
      responseHead: 200,
      responseBody: 1_034,
    });
  });
});

describe("readHar", () => {
  it.each([
    ["nothing", "it is not JSON"],
    ["{}", "it has no log.entries"],
    ['{"log":{"entries":[{}]}}', "entry 0 has no startedDateTime"],
    [
      JSON.stringify({ log: { entries: [entry(0, 1, "https://a.test/"), { ...entry(0, 1, "x"), response: null }] } }),
      "entry 1 has no response",
    ],
  ])("refuses %j", (text, message) => {
    expect(() => readHar(text, "some.har")).toThrow("Cannot read some.har: ");
    expect(() => readHar(text, "some.har")).toThrow(message);
  });
});

describe("a HAR that a browser recorded", () => {
  const files: Readonly<Record<string, readonly [type: string, body: string]>> = {
    "/": [
      "text/html",
      `<!doctype html><link rel="stylesheet" href="/s.css"><img src="/i.svg"><script src="/s.js"></script>`,
    ],
    "/s.css": ["text/css", "body { background: url(/b.svg) }"],
    "/s.js": ["text/javascript", `fetch("/api?x=1", { method: "POST", body: "y".repeat(500) })`],
    "/i.svg": ["image/svg+xml", `<svg xmlns="http://www.w3.org/2000/svg"/>`],
    "/b.svg": ["image/svg+xml", `<svg xmlns="http://www.w3.org/2000/svg"/>`],
    "/api?x=1": ["application/json", JSON.stringify({ answer: "z".repeat(2_000) })],
  };
  let server: Server;
  let directory: string;
  let origin: string;

  beforeAll(async () => {
    server = createServer((request, response) => {
      const [type, body] = files[request.url ?? ""] ?? ["text/plain", ""];
      request
        .resume()
        .on("end", () =>
          response
            .writeHead(type === "text/plain" ? 404 : 200, { "content-type": type, "content-length": body.length })
            .end(body),
        );
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    directory = await mkdtemp(join(tmpdir(), "har-"));
    const executablePath = findChromium();
    const browser = await chromium.launch({ args: CHROMIUM_ARGS, ...(executablePath ? { executablePath } : {}) });
    const context = await browser.newContext({ recordHar: { path: join(directory, "in.har") } });
    const page = await context.newPage();
    const fetched = page.waitForResponse(/api/);
    await page.goto(origin, { waitUntil: "networkidle" });
    await (await fetched).finished();
    await context.close();
    await browser.close();
  });

  afterAll(async () => {
    server?.closeAllConnections();
    server?.close();
    await rm(directory, { recursive: true, force: true });
  });

  it("becomes behaviours through the program", async () => {
    const program = join(import.meta.dirname, "har-to-behaviour.ts");
    const output = join(directory, "out.tsv");
    await promisify(execFile)(process.execPath, [program, join(directory, "in.har"), output, "read"]);
    const { behaviours } = readWorkload(await readFile(output, "utf8"), "out", output);
    expect(behaviours.map(behaviourFault)).toEqual([null]);
    const requests = behaviours[0]?.requests ?? [];
    const byPath = new Map(requests.map((request) => [request.url.slice(origin.length), request]));
    expect([...byPath.keys()].filter((path) => path in files).sort()).toEqual(Object.keys(files).sort());
    for (const path of ["/s.css", "/s.js", "/i.svg"]) expect(byPath.get(path)?.dependencies, path).toContain(0);
    expect(byPath.get("/b.svg")?.dependencies).toContain(byPath.get("/s.css")?.index);
    expect(byPath.get("/api?x=1")).toMatchObject({
      method: "POST",
      requestBody: 500,
      responseBody: files["/api?x=1"]?.[1].length,
    });
    expect(requests.every(({ requestHead, responseHead }) => requestHead > 50 && responseHead > 50)).toBe(true);
  });

  it("is told from what is no HAR by the program", async () => {
    const path = join(directory, "broken.har");
    await writeFile(path, "<html>");
    const program = join(import.meta.dirname, "har-to-behaviour.ts");
    const run = promisify(execFile)(process.execPath, [program, path, join(directory, "none.tsv")]);
    await expect(run).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining("it is not JSON") });
  });
});
