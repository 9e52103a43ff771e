/** Trackers that the phone wants blocked: what every edge stops, by a list that it fetches. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RunningEdge, startEdge } from "../../scripts/edge-process.ts";
import { ErrorCode } from "../../shared/errors.ts";
import { TRACKERS_BLOCKED } from "../../shared/http/phone-fields.ts";
import { CONFIG_PATH } from "../../shared/subprotocol.ts";
import { scriptFetch } from "../../shared/testing/http/request-heads.ts";
import type { TestRequest } from "../testing/phone-session.ts";
import { pairPhone, TestPhone } from "../testing/test-phone.ts";
import { startLocalOrigin } from "../upstream/testing/local-origin.ts";

describe.each(["workerd", "deno"] as const)("an edge on %s", (runtime) => {
  const closers: (() => unknown)[] = [];
  const asked: string[] = [];
  let edge: RunningEdge;
  let phone: TestPhone;
  let site: string;

  function answer({ url = "" }: IncomingMessage, response: ServerResponse): void {
    asked.push(url);
    if (url === "/list.txt") response.end("! Rules\n/tracker/*\n");
    else if (url === "/way") response.writeHead(302, { location: "/tracker/end" }).end();
    else response.writeHead(200, { "content-type": "text/javascript" }).end(url);
  }

  beforeAll(async () => {
    const own = await startLocalOrigin(answer);
    site = own.origin;
    edge = await startEdge({ runtime, port: 0, allowPrivate: true, blockLists: [`${site}/list.txt`], log: () => {} });
    phone = new TestPhone(edge.url, await pairPhone(edge.url, edge.accessKey));
    await phone.connect();
    closers.push(
      () => phone.close(),
      () => edge.close(),
      own.close,
    );
  });
  afterAll(async () => {
    for (const close of closers) await close();
  });

  const ask = (path: string, change: TestRequest = {}) =>
    phone.fetch(site + path, { destination: "script", mode: "no-cors", ...change }).then(
      ({ body }) => Buffer.from(body).toString(),
      ({ code }) => code,
    );

  it("says that it can, and stops nothing, nor fetches a list, for phones that do not want it", async () => {
    expect(await (await fetch(edge.url + CONFIG_PATH)).json()).toMatchObject({ blocksTrackers: true });
    expect(await ask("/tracker/a.js")).toBe("/tracker/a.js");
    expect(asked).toEqual(["/tracker/a.js"]);
  });

  it("stops them before anybody is asked, behind redirects too", async () => {
    phone.session.sendSessionHead([TRACKERS_BLOCKED]);
    await expect.poll(() => ask("/tracker/b.js")).toBe(ErrorCode.BLOCKED);
    asked.length = 0;
    expect(await ask("/tracker/c.js")).toBe(ErrorCode.BLOCKED);
    expect(await ask("/tracker/d", { destination: "", mode: "cors", method: "POST" })).toBe(ErrorCode.BLOCKED);
    expect(await ask("/way")).toBe(ErrorCode.BLOCKED);
    const socket = { ...scriptFetch(site), method: "CONNECT", protocol: "websocket", redirect: "error" } as const;
    expect(await ask("/tracker/live", { ...socket, body: new ReadableStream() })).toBe(ErrorCode.BLOCKED);
    expect(asked).toEqual(["/way"]);
  });

  it("lets go what is no tracker, what the person opens, and what the phone allows", async () => {
    expect(await ask("/a.js")).toBe("/a.js");
    expect(await ask("/tracker/page", { destination: "document", mode: "navigate" })).toBe("/tracker/page");
    expect(await ask("/tracker/e.js", { allowsTrackers: true })).toBe("/tracker/e.js");
    // Once, for all phones.
    expect(asked).not.toContain("/list.txt");
  });
});
