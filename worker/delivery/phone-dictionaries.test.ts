import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { zstdDecompressSync } from "node:zlib";
import { beforeEach, describe, expect, it } from "vitest";
import { setTimer } from "../../shared/clock.ts";
import { DCZ_HEADER_BYTES, dczHeader } from "../../shared/coding/link-coding.ts";
import { Room } from "../../shared/fair-shares.ts";
import type { HeaderList } from "../../shared/http/heads.ts";
import { bodyName } from "../../shared/http/phone-fields.ts";
import { responseHead } from "../../shared/testing/http/exchange-rig.ts";
import { requestHead } from "../../shared/testing/http/request-heads.ts";
import { Random } from "../../shared/testing/random.ts";
import { concat } from "../../shared/wire/frame.ts";
import {
  DictionaryCompressor,
  KeptBodies,
  memoryBodyStore,
  PhoneDictionaries,
  type SealedBodyStore,
} from "./dictionaries.ts";
import { HELD_BYTES } from "./shared-parts.ts";

const ZSTD = join(import.meta.dirname, "../../node_modules/@bokuweb/zstd-wasm/dist/esm/zstd.wasm");
const compressor = new DictionaryCompressor(new WebAssembly.Module(readFileSync(ZSTD)));
const random = new Random(5);
const before = random.bytes(40_000);
const after = concat(before.subarray(0, 9000), random.bytes(20), before.subarray(9000));
const hashOf = (body: Uint8Array) => createHash("sha256").update(body).digest();
const KEY = random.bytes(32);
const HTML: HeaderList = [["content-type", "text/html"]];
const SITE = "https://site.example";

let store: SealedBodyStore;
let sealed: Uint8Array[];
let timers: (() => void)[];
let dictionaries: PhoneDictionaries;

beforeEach(() => {
  const kept = memoryBodyStore();
  sealed = [];
  store = {
    ...kept,
    put(id, bytes, share) {
      sealed.push(bytes);
      return kept.put(id, bytes, share);
    },
  };
  timers = [];
  // What is to be kept waits; what is read ahead does not.
  const keepLater: typeof setTimer = (task, delay) => {
    if (delay < 1000) return setTimer(task, delay);
    timers.push(task);
    return () => {};
  };
  dictionaries = new PhoneDictionaries(store, compressor, new Room(HELD_BYTES, () => 0), keepLater);
});

/** A response on its way; its coding and what crosses the link. */
async function deliver(chunks: readonly Uint8Array[], named: Uint8Array | null, headers = HTML, path = "/page") {
  const stored = named === null ? {} : { stored: bodyName(hashOf(named).toString("hex"), named.length) };
  const url = `${SITE}${path}`;
  const head = {
    ...requestHead,
    method: "GET",
    url,
    mode: "navigate",
    origin: null,
    topLevelOrigin: SITE,
    ...stored,
  } as const;
  const stages = dictionaries.stagesFor(KEY, head);
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      for (const chunk of chunks) {
        controller.enqueue(chunk);
        if (chunks.length > 1) await new Promise((resolve) => setTimeout(resolve, 150));
      }
      controller.close();
    },
  });
  const passed = stages?.keep({ head: { ...responseHead, headers }, body });
  if (passed === undefined) throw new Error("Cannot deliver: the request shares no context");
  const coded = named === null ? passed : await stages?.code(passed);
  const bytes = new Uint8Array(await new Response(coded?.body as BodyInit | undefined).arrayBuffer());
  return { coding: coded?.head.coding, bytes };
}

async function keepAll(): Promise<void> {
  for (const task of timers.splice(0)) task();
  // `forget` waits for what is being written.
  const cleared = store.clear;
  Object.assign(store, { clear: async () => {} });
  await dictionaries.forget();
  Object.assign(store, { clear: cleared });
}

/** Node undoes the first of several frames only. */
function decoded(bytes: Uint8Array): Buffer {
  const frames = Buffer.from(bytes.subarray(DCZ_HEADER_BYTES));
  const second = frames.indexOf(Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd), 4);
  const each = second < 0 ? [frames] : [frames.subarray(0, second), frames.subarray(second)];
  return Buffer.concat(each.map((frame) => zstdDecompressSync(frame, { dictionary: before })));
}

describe("a phone's dictionaries", () => {
  it("code a changed body against the one that it names", async () => {
    await deliver([before], null);
    await keepAll();
    const { coding, bytes } = await deliver([after], before);
    expect(coding).toBe("dcz");
    expect(bytes.length).toBeLessThan(150);
    expect(bytes.subarray(0, DCZ_HEADER_BYTES)).toEqual(dczHeader(new Uint8Array(hashOf(before))));
    expect(Buffer.compare(decoded(bytes), after)).toBe(0);
  });

  it("send what comes late in further frames", async () => {
    await deliver([before], null);
    await keepAll();
    const { coding, bytes } = await deliver([after.subarray(0, 10_000), after.subarray(10_000)], before);
    expect([coding, bytes.length < 300]).toEqual(["dcz", true]);
    expect(Buffer.compare(decoded(bytes), after)).toBe(0);
  });

  it("leave a body as it is where what is named is not kept, or is of no great use", async () => {
    expect((await deliver([after], before)).coding).toBe("identity");
    await deliver([before], null);
    await keepAll();
    const strange = random.bytes(20_000);
    const { coding, bytes } = await deliver([strange], before);
    expect([coding, Buffer.compare(bytes, strange)]).toEqual(["identity", 0]);
    expect((await deliver([after], before, [["content-type", "image/png"]])).coding).toBe("identity");
  });

  it("keep a body in the place of the one that it replaces", async () => {
    await deliver([before], null);
    await keepAll();
    await deliver([after], before);
    await keepAll();
    expect((await deliver([before], before)).coding).toBe("identity");
    expect((await deliver([before], after)).coding).toBe("dcz");
  });

  it("keep a body beside that of a sibling that it is coded against", async () => {
    await deliver([before], null);
    await keepAll();
    expect((await deliver([after], before, HTML, "/sibling")).coding).toBe("dcz");
    await keepAll();
    expect((await deliver([before], before)).coding).toBe("dcz");
    expect((await deliver([before], after)).coding).toBe("dcz");
  });

  it("keep no image, nothing short, long, forbidden, or cut off", async () => {
    await deliver([before], null, [["content-type", "image/png"]]);
    await deliver([before], null, [...HTML, ["cache-control", "no-store"]]);
    await deliver([before.subarray(0, 1000)], null);
    await deliver([new Uint8Array(1024 * 1024 + 1)], null);
    // A trained dictionary's magic number: zstd would not take it for content.
    await deliver([concat(Uint8Array.of(0x37, 0xa4, 0x30, 0xec), before)], null);
    await keepAll();
    expect(sealed).toEqual([]);
  });

  it("are sealed: neither the bytes nor their hash are where they are kept", async () => {
    const text = Buffer.from("a secret line of the page\n".repeat(200));
    await deliver([text], null);
    await keepAll();
    expect(sealed).toHaveLength(1);
    const kept = Buffer.from(sealed[0] ?? []);
    expect(kept.includes("secret") || kept.includes(hashOf(text))).toBe(false);
  });

  it("hold what the phone does not take within a bound, and code on when it has", async () => {
    await deliver([before], null);
    await keepAll();
    let read = 0;
    const stored = bodyName(hashOf(before).toString("hex"), before.length);
    const head = { ...requestHead, url: `${SITE}/page`, mode: "navigate", origin: null, topLevelOrigin: SITE } as const;
    const strange = random.bytes(512 * 1024);
    const untaken: ReadableStream<Uint8Array>[] = [];
    for (let count = 0; count < 40; count++) {
      const pull = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
        read += strange.length;
        controller.enqueue(strange);
        controller.close();
      };
      const body = new ReadableStream<Uint8Array>({ pull }, { highWaterMark: 0 });
      const stages = dictionaries.stagesFor(KEY, { ...head, stored });
      const coded = await stages?.code({ head: { ...responseHead, headers: HTML }, body });
      if (coded !== undefined) untaken.push(coded.body);
    }
    expect(read).toBeLessThan(HELD_BYTES);
    expect((await deliver([after], before)).coding).toBe("identity");
    for (const [index, body] of untaken.entries()) await (index % 2 ? body.cancel() : new Response(body).arrayBuffer());
    expect((await deliver([after], before)).coding).toBe("dcz");
  });

  it("hold none while the origin is asked", async () => {
    let reads = 0;
    store.get = async () => {
      reads += 1;
      return null;
    };
    const stored = bodyName(hashOf(before).toString("hex"), before.length);
    const head = { ...requestHead, url: `${SITE}/page`, mode: "navigate", origin: null, topLevelOrigin: SITE } as const;
    for (let count = 0; count < 200; count++) dictionaries.stagesFor(KEY, { ...head, stored });
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(reads).toBe(0);
  });

  it("hold what waits within a bound, and are gone when the person wants it", async () => {
    for (let count = 0; count < 15; count++) await deliver([random.bytes(1024 * 1024)], null);
    await keepAll();
    expect(sealed.length).toBe(HELD_BYTES / (1024 * 1024));
    await deliver([before], null);
    await dictionaries.forget();
    expect((await deliver([after], before)).coding).toBe("identity");
  });

  it("keep nothing of a response that was under way when all was forgotten", async () => {
    const underWay = deliver([before.subarray(0, 20_000), before.subarray(20_000)], null);
    await dictionaries.forget();
    await underWay;
    await keepAll();
    expect(sealed).toEqual([]);
    await deliver([before], null);
    await keepAll();
    expect(sealed).toHaveLength(1);
  });

  it("of the site that has most give way, and no site's name is on the disk", async () => {
    const kept = memoryBodyStore();
    const sites = new Set<string>();
    const watched: SealedBodyStore = {
      ...kept,
      put(id, bytes, { site }) {
        sites.add(site);
        return kept.put(id, bytes, { site, most: 100_000 });
      },
    };
    const bodies = new KeptBodies(watched, KEY);
    const place = (origin: string) => JSON.stringify([origin, "https://cdn.example", "cors", origin, "omit"]);
    const bank = await bodies.keep(place("https://bank.example"), `${SITE}/bank`, random.bytes(9_000));
    let last = "";
    for (let count = 0; count < 26; count++)
      last = await bodies.keep(place(`https://s${count}.evil.example`), `${SITE}/${count}`, random.bytes(9_000));
    expect(await bodies.find(place("https://bank.example"), bank)).not.toBeNull();
    expect(await bodies.find(place("https://s25.evil.example"), last)).not.toBeNull();
    expect(sites.size).toBe(2);
    expect([...sites].join()).not.toMatch(/bank|evil/);
  });
});
