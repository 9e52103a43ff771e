import { createHash } from "node:crypto";
import { expect, testInOneApp as test } from "../fixtures/browser.ts";
import { noiseBytes, noiseHash } from "../fixtures/test-origin/noise.ts";
import type { Exchange } from "../fixtures/test-origin/test-exchange.ts";

test("the first bytes reach the page before the last ones left the origin", { tag: "@deno" }, async ({
  app,
  origin,
}) => {
  origin.page("/", "<p>Reader</p>");
  let open: Exchange | undefined;
  origin.route("/stream", async (exchange) => {
    open = exchange;
    exchange.response.writeHead(200, { "content-type": "text/plain" });
    await exchange.write("first ");
  });
  origin.route("/got-first", ({ reply }) => {
    open?.response.end("last");
    reply(204, {});
  });
  await app.goto(`${origin.origin}/`);
  // The origin sends the end only after the page has read the beginning.
  const text = await (await app.content()).evaluate(async () => {
    const reader = (await fetch("/stream")).body?.pipeThrough(new TextDecoderStream()).getReader();
    const first = (await reader?.read())?.value;
    await fetch("/got-first");
    return first + ((await reader?.read())?.value ?? "");
  });
  expect(text).toBe("first last");
});

test("a document is shown while it still comes", { tag: "@deno" }, async ({ app, origin }) => {
  let open: Exchange | undefined;
  origin.route("/", async (exchange) => {
    open = exchange;
    exchange.response.writeHead(200, { "content-type": "text/html" });
    await exchange.write(
      `<!doctype html><title>Long</title><link rel="icon" href="data:,"><p>Beginning</p>${" ".repeat(4096)}`,
    );
  });
  await app.navigated(async () => {
    await app.ask(`${origin.origin}/`);
    await expect(app.frame().getByText("Beginning")).toBeVisible();
    expect(await app.phase()).toBe("loading");
    open?.response.end("<p>End</p>");
  });
  await expect(app.frame().getByText("End", { exact: true })).toBeVisible();
  expect(await app.phase()).toBe("loaded");
});

test("server-sent events arrive one by one and stop when the page closes them", { tag: "@deno" }, async ({
  app,
  origin,
}) => {
  origin.page("/", "<p>Listener</p>");
  await app.goto(`${origin.origin}/`);
  const events = await (await app.content()).evaluate(
    () =>
      new Promise<string[]>((resolve, reject) => {
        const seen: string[] = [];
        const source = new EventSource("/events?ms=20");
        source.onerror = () => reject(new Error("The event source failed"));
        source.onmessage = ({ data }) => {
          seen.push(data);
          if (seen.length < 3) return;
          source.close();
          resolve(seen);
        };
      }),
  );
  expect(events).toEqual(["event 1", "event 2", "event 3"]);
  const request = await origin.requestTo("/events");
  expect(request.headers.accept).toBe("text/event-stream");
  await expect.poll(() => request.abortedAt).toBeDefined();
});

test("uploads and binary bodies arrive unchanged", { tag: "@deno" }, async ({ app, origin }) => {
  const size = 3_000_000;
  origin.page("/", "<p>Sender</p>");
  await app.goto(`${origin.origin}/`);
  const echoed = await (await app.content()).evaluate(async (bytes) => {
    const body = await (await fetch(`/noise/${bytes}`)).blob();
    const answer = await fetch("/echo?upload", {
      method: "PUT",
      body,
      headers: { "content-type": "application/x-noise" },
    });
    return (await answer.json()) as { method: string; bodyBytes: number; bodyHash: string };
  }, size);
  expect(echoed).toMatchObject({ method: "PUT", bodyBytes: size, bodyHash: noiseHash(size) });
  expect(origin.requestsTo("/echo")[0]?.headers["content-type"]).toBe("application/x-noise");
});

test("XHR, ranges, HEAD and empty answers work as they do directly", { tag: "@deno" }, async ({ app, origin }) => {
  origin.page("/", "<p>Asker</p>");
  await app.goto(`${origin.origin}/`);
  const answers = await (await app.content()).evaluate(async () => {
    const request = new XMLHttpRequest();
    const body = await new Promise<ArrayBuffer>((resolve) => {
      request.open("GET", "/noise/5000");
      request.responseType = "arraybuffer";
      request.setRequestHeader("range", "bytes=100-199");
      request.onload = () => resolve(request.response);
      request.send();
    });
    const head = await fetch("/noise/5000", { method: "HEAD" });
    const empty = await fetch("/status/204");
    return {
      part: [...new Uint8Array(body)],
      status: [request.status, head.status, empty.status],
      range: request.getResponseHeader("content-range"),
      length: head.headers.get("content-length"),
      emptyText: await empty.text(),
    };
  });
  expect(answers).toMatchObject({
    status: [206, 200, 204],
    range: "bytes 100-199/5000",
    length: "5000",
    emptyText: "",
  });
  const digest = (data: Uint8Array): string => createHash("sha256").update(data).digest("hex");
  expect(digest(Uint8Array.from(answers.part))).toBe(digest(noiseBytes(5000).subarray(100, 200)));
});

test("an event source that connects again says which event it got last", { tag: "@deno" }, async ({ app, origin }) => {
  origin.page("/", "<p>Home</p>");
  let lost = 0;
  origin.route("/short", ({ request, reply, socket }) => {
    const next = Number(request.headers["last-event-id"] ?? 0) + 1;
    // The server is away for a while: it has not forgotten then, nor has the page.
    if (next === 3 && lost++ < 3) return void socket.resetAndDestroy();
    reply(200, { "content-type": "text/event-stream" }, `retry: 50\nid: ${next}\ndata: event ${next}\n\n`);
  });
  await app.goto(`${origin.origin}/`);
  const told = await (await app.content()).evaluate(
    () =>
      new Promise((resolve) => {
        const source = new EventSource("/short");
        const events: string[] = [];
        source.onmessage = ({ data }) => {
          if (events.push(data) < 3) return;
          source.close();
          resolve(events);
        };
      }),
  );
  expect(told).toEqual(["event 1", "event 2", "event 3"]);
});
