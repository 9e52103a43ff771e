/** Bodies that are coded against what the phone has: what every edge sends, and what nobody learns by it. */
import { createHash, randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { brotliDecoder } from "../../pwa/tunnel/coding/brotli-chunk.ts";
import { type RunningEdge, startEdge } from "../../scripts/edge-process.ts";
import { toBase64Url } from "../../shared/base-encodings.ts";
import type { RequestHead } from "../../shared/http/heads.ts";
import { DICTIONARY_KEY, STORED_BODY } from "../../shared/http/phone-fields.ts";
import { EdgeRequest } from "../../shared/subprotocol.ts";
import { scriptFetch } from "../../shared/testing/http/request-heads.ts";
import { pairPhone, TestPhone } from "../testing/test-phone.ts";
import { startLocalOrigin } from "../upstream/testing/local-origin.ts";
import { type CountedBytes, countedDecoder, stored } from "./testing/stored-dictionary.ts";

/** Text of words that do not repeat, so that only a dictionary makes it short. */
const words = (seed: string, count: number) =>
  Array.from({ length: count }, (_, i) => createHash("sha256").update(`${seed} ${i}`).digest("base64url")).join("\n");
const before = Buffer.from(words("page", 1500));
const after = Buffer.from(`${before.toString().slice(0, 30_000)}, edited ${before.toString().slice(30_000)}`);
const KEY = toBase64Url(randomBytes(32));

/** Of the page of before, and what somebody guesses of it; the wrong guess is as long. */
const guesses = { right: before.subarray(2000, 10_000), wrong: Buffer.from(words("guess", 300)).subarray(0, 8000) };
const SECRET = before.subarray(2000, 2400);

interface CountingPhone {
  readonly phone: TestPhone;
  /** What came in its coding of text. */
  readonly counted: CountedBytes;
}

describe.each(["workerd", "deno"] as const)("an edge on %s", (runtime) => {
  const closers: (() => unknown)[] = [];
  let directory: string;
  let edge: RunningEdge;
  let token: string;
  let phone: TestPhone;
  let site: string;
  let other: string;
  let now = before;
  let guess = guesses.wrong;
  const intro = Buffer.from(words("intro", 40));

  function answer({ url = "" }: IncomingMessage, response: ServerResponse): void {
    const type = { "content-type": "text/html", "access-control-allow-origin": "*" };
    if (url.startsWith("/guess")) return void response.writeHead(200, type).end(guess);
    // It shows what it was asked for beside what only the person may know.
    if (url.startsWith("/reflect"))
      return void response.writeHead(200, type).end(Buffer.concat([intro, SECRET, guess.subarray(0, 400)]));
    if (url === "/secret") return void response.writeHead(200, { ...type, "cache-control": "no-store" }).end(now);
    if (url === "/away") return void response.writeHead(302, { location: `${other}/page` }).end();
    if (url !== "/slow") return void response.writeHead(200, type).end(now);
    response.writeHead(200, type).write(now.subarray(0, 40_000));
    setTimeout(() => response.end(now.subarray(40_000)), 300);
  }

  const start = () =>
    startEdge({
      runtime,
      port: 0,
      allowPrivate: true,
      stateDirectory: directory,
      ...(edge === undefined ? {} : { accessKey: edge.accessKey }),
      log: () => {},
    });

  async function connect(own: string, key: string): Promise<TestPhone> {
    const connected = new TestPhone(edge.url, own);
    await connected.connect();
    connected.session.sendSessionHead([
      [STORED_BODY, "1"],
      [DICTIONARY_KEY, key, "never"],
    ]);
    return connected;
  }

  /** A phone that takes brotli, and counts it. */
  async function counting(own: string, key: string): Promise<CountingPhone> {
    const counted = { bytes: 0 };
    const open = await brotliDecoder();
    const connected = await connect(own, key);
    connected.takeBrotli(
      (handler) => countedDecoder(open(handler), counted),
      [STORED_BODY, "1"],
      [DICTIONARY_KEY, key],
    );
    return { phone: connected, counted };
  }

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "ropeway-dictionaries-"));
    const own = await startLocalOrigin(answer);
    const foreign = await startLocalOrigin(answer, { ip: "127.0.0.7" });
    [site, other] = [own.origin, foreign.origin];
    edge = await start();
    token = await pairPhone(edge.url, edge.accessKey);
    phone = await connect(token, KEY);
    closers.push(
      () => phone.close(),
      () => edge.close(),
      own.close,
      foreign.close,
    );
  });
  afterAll(async () => {
    for (const close of closers) await close();
    await rm(directory, { recursive: true, force: true });
  });

  const ask = async (url: string, change: Partial<RequestHead> = {}, asking = phone) => {
    const { stored: name, counted } = stored(before);
    const { head, body } = await asking.fetch(url, { stored: name, ...change });
    return { coding: head.coding, reference: head.isReference, bytes: counted.bytes, body };
  };

  /** The body of before is delivered, and kept when the edge has time. */
  async function keep(url: string): Promise<void> {
    now = before;
    const name = { ...stored(before).stored, size: 0 };
    while ((await ask(url, { stored: name })).coding !== "dcz") await sleep(200);
    now = after;
  }

  it("sends of a changed body what changed, and that is the body byte for byte", async () => {
    await keep(`${site}/page`);
    const { coding, bytes, body } = await ask(`${site}/page`);
    expect([coding, after.equals(body)]).toEqual(["dcz", true]);
    expect(bytes).toBeLessThan(200);
  });

  it("sends of a page what a sibling does not have, and keeps both", async () => {
    await keep(`${site}/page`);
    const name = { ...stored(before).stored, size: 0 };
    const { coding, body } = await ask(`${site}/sibling`, { stored: name });
    expect([coding, after.equals(body)]).toEqual(["dcz", true]);
    await sleep(2000);
    expect((await ask(`${site}/page`)).coding).toBe("dcz");
  });

  it("goes on as the origin does, after what came at once", async () => {
    await keep(`${site}/page`);
    const { body, bytes, coding } = await ask(`${site}/slow`);
    expect([coding, after.equals(body)]).toEqual(["dcz", true]);
    expect(bytes).toBeLessThan(400);
  });

  it("codes nothing against what another document, origin or phone was sent, nor behind a redirect", async () => {
    await keep(`${site}/page`);
    const plain: Record<string, Awaited<ReturnType<typeof ask>>> = {
      "its own script": await ask(`${site}/page`, scriptFetch(site)),
      "a frame elsewhere": await ask(`${site}/page`, { topLevelOrigin: other, origin: other, destination: "iframe" }),
      "a link from elsewhere": await ask(`${site}/page`, { origin: other }),
      "another origin that guesses": await ask(`${other}/page`),
      "an image of another origin": await ask(`${site}/page`, { ...scriptFetch(other), mode: "no-cors" }),
      "a script of another origin": await ask(`${site}/page`, scriptFetch(other)),
      "a redirect": await ask(`${site}/away`),
      "what must not be stored": await ask(`${site}/secret`),
    };
    const second = await connect(await pairPhone(edge.url, edge.accessKey), KEY);
    plain["another phone that stole the key"] = await ask(`${site}/page`, {}, second);
    await second.close();
    const otherKey = await connect(token, toBase64Url(randomBytes(32)));
    plain["the phone under another key"] = await ask(`${site}/page`, {}, otherKey);
    await otherKey.close();
    for (const [asker, { coding }] of Object.entries(plain)) expect([asker, coding]).not.toEqual([asker, "dcz"]);
  });

  it("tells nobody by a length what a page says: who reflects guesses, who serves them, or another phone", async () => {
    await keep(`${site}/page`);
    /** Bytes on the link of a body that is asked for so, whatever it is coded in. */
    async function lengthOf(asking: CountingPhone, url: string, change: Partial<RequestHead> = {}): Promise<number> {
      const { stored: name, counted } = stored(before);
      asking.counted.bytes = 0;
      const { head, body } = await asking.phone.fetch(url, { stored: { ...name, size: 0 }, ...change });
      expect([head.status, body.length > 500]).toEqual([200, true]);
      return counted.bytes + asking.counted.bytes;
    }
    const persons = await counting(token, KEY);
    const fresh = await counting(await pairPhone(edge.url, edge.accessKey), toBase64Url(randomBytes(32)));
    const second = await counting(await pairPhone(edge.url, edge.accessKey), KEY);
    const frame = { destination: "iframe" } as const;
    const attacks: readonly (readonly [who: string, by: CountingPhone, url: string, change: Partial<RequestHead>])[] = [
      [
        "a frame of another origin in the page",
        persons,
        `${other}/guess`,
        { ...frame, topLevelOrigin: site, origin: site },
      ],
      ["another site itself", persons, `${other}/guess`, { topLevelOrigin: other, origin: other }],
      ["another site's script", persons, `${site}/reflect`, scriptFetch(other)],
      ["another site's frame", persons, `${site}/reflect`, { ...frame, topLevelOrigin: other, origin: other }],
      ["a link of another site", persons, `${site}/reflect`, { origin: other }],
      ["another phone with the key", second, `${site}/guess`, {}],
      ["another phone with the key, by reflection", second, `${site}/reflect`, {}],
    ];
    for (const [who, by, url, change] of attacks) {
      for (const kind of ["right", "wrong"] as const) {
        guess = guesses[kind];
        const told = (await lengthOf(by, url, change)) - (await lengthOf(fresh, url, change));
        // What the origin's pauses cost; the secret alone is ten times that.
        expect([who, kind, Math.abs(told) <= 30]).toEqual([who, kind, true]);
      }
    }
    // The measure is sharp: the person's own page is coded against what the phone has, unless a busy edge takes too long.
    guess = guesses.right;
    const saved = async () => (await lengthOf(fresh, `${site}/guess`)) - (await lengthOf(persons, `${site}/guess`));
    while ((await saved()) <= 4000) await sleep(200);
    for (const { phone: each } of [persons, fresh, second]) await each.close();
  });

  it("keeps what it has through a restart, and nothing once the person has forgotten a site", async () => {
    await keep(`${site}/page`);
    await phone.close();
    await edge.close();
    edge = await start();
    phone = await connect(token, KEY);
    // The page is another by now, so only what was kept has the body that the phone names. A busy edge may take too long at first,
    // and of the page itself it would keep the new body in place of the old.
    while ((await ask(`${site}/sibling`)).coding !== "dcz") await sleep(200);
    await keep(`${site}/page`);
    const person = { origin: null, topLevelOrigin: site, mode: "same-origin", destination: "" } as const;
    const forgotten = { ...person, method: "DELETE", headers: [["host-name", "other.example"]] as const };
    await phone.fetch(EdgeRequest.SITE, forgotten);
    expect((await ask(`${site}/page`)).coding).toBe("deflate-raw");
  });
});
