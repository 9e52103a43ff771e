/**
 * Every lossless response is byte for byte what its origin's decoded body was: a sample of all types, codings, phones,
 * sizes and paces, from the origin and from the shared cache. What is asked follows from ROPEWAY_FUZZ_SEED.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { brotliDecoder } from "../../pwa/tunnel/coding/brotli-chunk.ts";
import { toBase64Url } from "../../shared/base-encodings.ts";
import { DICTIONARY_LEAST } from "../../shared/coding/link-coding.ts";
import { ACCEPT_PUSH } from "../../shared/http/exchange.ts";
import { DICTIONARY_KEY, SHARED_CACHE, STORED_BODY } from "../../shared/http/phone-fields.ts";
import { navigation, scriptFetch } from "../../shared/testing/http/request-heads.ts";
import { Random, runSeed } from "../../shared/testing/random.ts";
import { edgeOfTests } from "../testing/edge-of-tests.ts";
import { pairPhone, TestPhone } from "../testing/test-phone.ts";
import { stored } from "./testing/stored-dictionary.ts";

/** Bodies of a run, and how many are asked for at once. */
const CASES = 60;
const AT_ONCE = 6;

const HTML = "text/html";
const PNG = "image/png";
const TYPES = [HTML, "text/css", "text/javascript", "application/json", "image/svg+xml"].concat(
  "application/octet-stream",
  PNG,
  "",
);
/** Those that edges ask for, and one that servers send unasked. In `zstd` no runtime has a bounded decoder. */
const CODINGS = {
  none: (body: Buffer) => body,
  gzip: (body: Buffer) => gzipSync(body),
  br: (body: Buffer) => brotliCompressSync(body),
  deflate: (body: Buffer) => deflateSync(body),
};
const PHONES = ["plain", "brotli", "dictionaries"] as const;
const SIZES = [0, 1, 700, 70_000, 300_000];

interface Case {
  readonly path: string;
  readonly type: string;
  readonly coding: keyof typeof CODINGS;
  readonly phone: (typeof PHONES)[number];
  readonly isHot: boolean;
  readonly isWhole: boolean;
  /** Of before, and what is there now. */
  readonly versions: readonly [Buffer, Buffer];
}

/** @param index of successive ones each type, size and phone comes in its turn, beside others each time. */
function anyCase(random: Random, index: number): Case {
  const type = TYPES[index % TYPES.length] ?? "";
  const body = bodyOf(random, type, SIZES[index % SIZES.length] ?? 0);
  const edit = random.below(body.length + 1);
  return {
    path: `/${index}`,
    type,
    coding: random.pick(Object.keys(CODINGS) as (keyof typeof CODINGS)[]),
    phone: PHONES[index % PHONES.length] ?? "plain",
    isHot: random.oneIn(2),
    isWhole: random.oneIn(2),
    versions: [Buffer.concat([body.subarray(0, edit), Buffer.from(" before "), body.subarray(edit)]), body],
  };
}

/** Words for texts, noise for pictures, some of each for what may be anything. */
function bodyOf(random: Random, type: string, size: number): Buffer {
  const isNoise = type === PNG || (type.endsWith("octet-stream") && random.oneIn(2));
  if (isNoise) return Buffer.from(random.bytes(size));
  const words = Array.from({ length: 500 }, () => random.uint32().toString(36));
  const text: string[] = [];
  for (let length = 0; length < size; length += text[text.length - 1]?.length ?? 0) text.push(`${random.pick(words)} `);
  return Buffer.from(text.join("")).subarray(0, size);
}

describe.each(["workerd", "deno"] as const)("an edge on %s", (runtime) => {
  const edge = edgeOfTests(runtime);
  const seed = runSeed();

  async function phoneOf(...fields: [string, string][]): Promise<TestPhone> {
    const phone = new TestPhone(edge.url, await pairPhone(edge.url, edge.accessKey));
    await phone.connect();
    phone.session.sendSessionHead([
      ["user-agent", "TestPhone/1"],
      ["accept-language", "en"],
      [STORED_BODY, "1"],
    ]);
    if (fields.length > 0) phone.takeBrotli(await brotliDecoder(), [STORED_BODY, "1"], ...fields);
    return phone;
  }

  it(`gives phones what origins sent, byte for byte, seed ${seed}`, async () => {
    console.log(`lossless on ${runtime}: ROPEWAY_FUZZ_SEED=${seed}`);
    const random = new Random(seed);
    const first = random.below(TYPES.length * SIZES.length * PHONES.length);
    const cases = Array.from({ length: CASES }, (_, index) => anyCase(random, first + index));
    const page = bodyOf(random, HTML, 10_000);
    let version: 0 | 1 = 0;

    async function answer({ url }: IncomingMessage, response: ServerResponse): Promise<void> {
      const { type, coding, isWhole, versions } = cases.find(({ path }) => path === url) ?? {
        ...{ type: HTML, coding: "none" as const, isWhole: true, versions: [page, page] as const },
      };
      const body = CODINGS[coding](versions[version]);
      response.writeHead(200, {
        ...(type && { "content-type": type }),
        ...(coding !== "none" && { "content-encoding": coding }),
        ...(isWhole && { "content-length": body.length }),
        // What is there now is for the shared cache, too.
        "cache-control": version === 0 ? "private" : "public, max-age=600",
      });
      const piece = isWhole ? body.length : Math.ceil(body.length / 3);
      for (let at = 0; at < body.length; at += piece) {
        response.write(body.subarray(at, at + piece));
        if (!isWhole) await sleep(10);
      }
      response.end();
    }
    const origin = await edge.originOf((request, response) => void answer(request, response));
    const headFor = ({ path, type }: Pick<Case, "path" | "type">) =>
      type === HTML ? navigation(origin + path) : scriptFetch(origin);

    const key = toBase64Url(random.bytes(32));
    const phones = {
      plain: await phoneOf(),
      brotli: await phoneOf([ACCEPT_PUSH, "http"]),
      dictionaries: await phoneOf([DICTIONARY_KEY, key]),
      another: await phoneOf(),
    };
    const before = cases.filter(({ phone }) => phone === "dictionaries");
    await Promise.all(before.map((each) => phones.dictionaries.fetch(origin + each.path, headFor(each))));
    // Bodies are kept in the order in which they came: when this one is, all are.
    const last = { path: "/last", type: HTML };
    const name = { ...stored(page).stored, size: 0 };
    while (
      (await phones.dictionaries.fetch(origin + last.path, { ...headFor(last), stored: name })).head.coding !== "dcz"
    )
      await sleep(100);

    version = 1;
    const seen = { hit: 0, dcz: 0 };
    async function check(each: Case): Promise<void> {
      const url = origin + each.path;
      const [former, now] = each.versions;
      if (each.isHot) await phones.another.fetch(url, headFor(each));
      const known = each.phone === "dictionaries" && former.length >= DICTIONARY_LEAST ? stored(former) : null;
      const { head, body } = await phones[each.phone].fetch(url, {
        ...headFor(each),
        ...(known && { stored: known.stored }),
      });
      expect([summary(each), head.status, now.equals(body)]).toEqual([summary(each), 200, true]);
      if (head.headers.some(([field]) => field === SHARED_CACHE)) seen.hit += 1;
      if (head.coding === "dcz") seen.dcz += 1;
    }
    for (let at = 0; at < cases.length; at += AT_ONCE) await Promise.all(cases.slice(at, at + AT_ONCE).map(check));
    // All ways were gone.
    expect([seen.hit > 0, seen.dcz > 0]).toEqual([true, true]);
    await Promise.all(Object.values(phones).map((phone) => phone.close()));
  });
});

const summary = ({ versions: [, body], ...each }: Case): string => JSON.stringify({ ...each, size: body.length });
