/** Bodies that are coded against what the phone has: what every edge sends, and what nobody learns by it. */
import { createHash, randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { lateDecoder } from "../../pwa/tunnel/coding/late-decoder.ts";
import { openDczDecoder } from "../../pwa/tunnel/store/dictionary/decoder-chunk.ts";
import { type RunningEdge, startEdge } from "../../scripts/edge-process.ts";
import { toBase64Url } from "../../shared/base-encodings.ts";
import type { RequestHead, StoredBody } from "../../shared/http/heads.ts";
import { bodyName, DICTIONARY_KEY, STORED_BODY } from "../../shared/http/stored-body.ts";
import { EdgeRequest } from "../../shared/subprotocol.ts";
import { scriptFetch } from "../../shared/testing/http/request-heads.ts";
import { pairPhone, TestPhone } from "../testing/test-phone.ts";
import { startLocalOrigin } from "../upstream/testing/local-origin.ts";

/** Text of words that do not repeat, so that only a dictionary makes it short. */
const words = (seed: string, count: number) =>
  Array.from({ length: count }, (_, i) => createHash("sha256").update(`${seed} ${i}`).digest("base64url")).join("\n");
const before = Buffer.from(words("page", 1500));
const after = Buffer.from(`${before.toString().slice(0, 30_000)}, edited ${before.toString().slice(30_000)}`);
const KEY = toBase64Url(randomBytes(32));

/** What the phone's store says of a body that it has, and bytes that came in its coding. */
function stored(body: Buffer): { readonly stored: StoredBody; readonly counted: { bytes: number } } {
  const hash = createHash("sha256").update(body).digest("hex");
  const counted = { bytes: 0 };
  const dictionary = { bytes: new Uint8Array(body), hash: Buffer.from(hash, "hex") };
  const decode: StoredBody["decode"] = (handler) => {
    const decoder = lateDecoder((deliver) => openDczDecoder(dictionary, deliver), handler);
    const write = (chunk: Uint8Array) => {
      counted.bytes += chunk.length;
      return decoder.write(chunk);
    };
    return { ...decoder, write };
  };
  return { stored: { ...bodyName(hash, body.length), decode }, counted };
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

  function answer({ url = "" }: IncomingMessage, response: ServerResponse): void {
    const type = { "content-type": "text/html", "access-control-allow-origin": "*" };
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

  it("keeps what it has through a restart, and nothing once the person has forgotten a site", async () => {
    await keep(`${site}/page`);
    await phone.close();
    await edge.close();
    edge = await start();
    phone = await connect(token, KEY);
    expect((await ask(`${site}/page`)).coding).toBe("dcz");
    await keep(`${site}/page`);
    const person = { origin: null, topLevelOrigin: site, mode: "same-origin", destination: "" } as const;
    const forgotten = { ...person, method: "DELETE", headers: [["host-name", "other.example"]] as const };
    await phone.fetch(EdgeRequest.SITE, forgotten);
    expect((await ask(`${site}/page`)).coding).toBe("deflate-raw");
  });
});
