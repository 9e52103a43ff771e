/** What an edge leaves out where its platform's plan gives little: it works without. */
import { randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RunningEdge, startEdge } from "../../scripts/edge-process.ts";
import { toBase64Url } from "../../shared/base-encodings.ts";
import { headerValue } from "../../shared/http/head-fields.ts";
import type { HeaderField } from "../../shared/http/heads.ts";
import {
  DICTIONARY_KEY,
  imageWishField,
  parseImageNote,
  STORED_BODY,
  TRACKERS_BLOCKED,
} from "../../shared/http/phone-fields.ts";
import { CONFIG_PATH } from "../../shared/subprotocol.ts";
import { navigation, scriptFetch } from "../../shared/testing/http/request-heads.ts";
import { jpegOf, photograph } from "../delivery/images/testing/pictures.ts";
import { pairPhone, TestPhone } from "../testing/test-phone.ts";
import { startLocalOrigin } from "../upstream/testing/local-origin.ts";
import { stored } from "./testing/stored-dictionary.ts";

const TEXT = Buffer.from(randomBytes(30_000).toString("base64"));

describe.each(["workerd", "deno"] as const)("an edge on %s, on a free plan", (runtime) => {
  const closers: (() => unknown)[] = [];
  const asked: string[] = [];
  let edge: RunningEdge;
  let origin: string;
  let picture: Uint8Array;

  function answer({ url = "" }: IncomingMessage, response: ServerResponse): void {
    asked.push(url);
    const images = Array.from({ length: 60 }, (_, index) => `<img src="/${index}.png">`).join("");
    const [type, body] = {
      "/page": ["text/html", `<!doctype html>${images}`] as const,
      "/text": ["text/plain", TEXT] as const,
      "/photograph": ["image/jpeg", picture] as const,
      "/list.txt": ["text/plain", "/tracker/*\n"] as const,
    }[url] ?? ["text/plain", url];
    response.writeHead(200, { "content-type": type, "cache-control": "public, max-age=600" }).end(body);
  }

  beforeAll(async () => {
    picture = await jpegOf(photograph(300, 200));
    const local = await startLocalOrigin(answer);
    origin = local.origin;
    const blockLists = [`${origin}/list.txt`];
    edge = await startEdge({ runtime, port: 0, allowPrivate: true, plan: "free", blockLists, log: () => {} });
    closers.push(() => edge.close(), local.close);
  });
  afterAll(() => Promise.all(closers.map((close) => close())));

  async function phoneOf(...fields: HeaderField[]): Promise<TestPhone> {
    const phone = new TestPhone(edge.url, await pairPhone(edge.url, edge.accessKey));
    await phone.connect();
    closers.push(() => phone.close());
    if (fields.length > 0) phone.session.sendSessionHead(fields);
    return phone;
  }

  it("shares nothing, and pushes no more of a document than it may fetch at once", async () => {
    const phone = await phoneOf();
    phone.askForPushes();
    await phone.fetch(`${origin}/page`, navigation(`${origin}/page`));
    expect(phone.pushes).toHaveLength(24);
    await Promise.all(phone.pushes.map(({ response }) => response));
    for (const _ of "123") await phone.fetch(`${origin}/text`, scriptFetch(origin));
    expect(asked.filter((path) => path === "/text")).toHaveLength(3);
  });

  it("codes nothing against what the phone has, though it offers that", async () => {
    const phone = await phoneOf([STORED_BODY, "1"], [DICTIONARY_KEY, toBase64Url(randomBytes(32))]);
    const name = { ...stored(TEXT).stored, size: 0 };
    const ask = () => phone.fetch(`${origin}/text`, { ...scriptFetch(origin), stored: name });
    await ask();
    // Where dictionaries are kept this one is by then.
    await sleep(3_000);
    const { head, body } = await ask();
    expect([head.coding, TEXT.equals(body)]).toEqual(["deflate-raw", true]);
  });

  it("sends pictures as they are, whatever the phone wishes for", async () => {
    const phone = await phoneOf(imageWishField({ recoding: "strong", most: 1 }));
    const { head, body } = await phone.fetch(`${origin}/photograph`, {
      ...scriptFetch(origin),
      destination: "image",
      mode: "no-cors",
    });
    expect([headerValue(head.headers, "content-type"), parseImageNote(head.headers)]).toEqual(["image/jpeg", null]);
    expect(Buffer.compare(body, picture)).toBe(0);
  });

  it("blocks no trackers, says so, and fetches no list", async () => {
    expect(await (await fetch(edge.url + CONFIG_PATH)).json()).toMatchObject({ blocksTrackers: false });
    const phone = await phoneOf(TRACKERS_BLOCKED);
    expect((await phone.fetch(`${origin}/tracker/a`, scriptFetch(origin))).text).toBe("/tracker/a");
    await sleep(500);
    expect((await phone.fetch(`${origin}/tracker/b`, scriptFetch(origin))).text).toBe("/tracker/b");
    expect(asked).not.toContain("/list.txt");
  });
});
