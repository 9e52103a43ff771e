import { beforeEach, describe, expect, it } from "vitest";
import type { RequestHead } from "../../../shared/http/heads.ts";
import { EdgeRequest } from "../../../shared/subprotocol.ts";
import { FRESH, page, SITE, STALE, TestPhone, type TestWindow } from "./testing/stored-windows.ts";

let phone: TestPhone;
let window: TestWindow;

beforeEach(() => {
  phone = new TestPhone();
  window = phone.open();
});

describe("another site", () => {
  const EVIL = "https://evil.example";
  const secret = "bank's bytes ".repeat(6000);
  const cdn = { url: "https://cdn.example/x.js", destination: "script" } as const;
  const frame: Partial<RequestHead> = { ...page, destination: "iframe", topLevelOrigin: EVIL, origin: EVIL };
  const askers: readonly Partial<RequestHead>[] = [
    { origin: EVIL, topLevelOrigin: EVIL },
    // A frame of the bank's page, and the bank's page in a frame.
    { origin: EVIL, topLevelOrigin: SITE },
    { origin: SITE, topLevelOrigin: EVIL },
    { origin: null, topLevelOrigin: SITE },
  ];
  const asked: readonly Partial<RequestHead>[] = [
    {},
    cdn,
    { mode: "cors", credentials: "omit" },
    { ...cdn, mode: "cors", credentials: "omit" },
    { headers: [["range", "bytes=0-9"]] },
    { destination: "video", headers: [["if-none-match", '"1"']] },
  ];

  /** The bank's page as the person had it yesterday: all of it is stored, and a visit noted. */
  async function bank(): Promise<void> {
    await window.get(page, { headers: [...FRESH, ["etag", '"1"']], body: secret });
    await window.get({}, { headers: STALE, body: secret });
    await window.get(cdn, { headers: FRESH, body: secret });
    for (const change of [page, {}, cdn]) await window.stored(change);
    window.asked.length = 0;
  }

  /** All that a site may see, and what it makes the phone say to the edge, in this window or a new one. */
  async function probe(change: Partial<RequestHead>, from: TestWindow, body = secret): Promise<unknown> {
    const before = from.asked.length;
    const got = await from.get(change, { headers: [...FRESH, ["etag", '"1"']], body });
    const { events, head, chunks, error, isAsked } = got;
    const sizes = chunks.map((chunk) => chunk.length);
    return { events, head, sizes, error: error?.message ?? null, isAsked, sent: from.asked.slice(before) };
  }

  async function probeAll(isNew: boolean): Promise<unknown[]> {
    const from = isNew ? phone.open() : window;
    const seen: unknown[] = [await probe(frame, from)];
    for (const asker of askers) {
      for (const request of asked) {
        for (const cache of ["only-if-cached", "force-cache", "no-cache", "reload"] as const) {
          seen.push(await probe({ ...request, ...asker, cache }, from));
        }
      }
    }
    return seen;
  }

  it.each([false, true])("sees and causes the same as with an empty store (in a new window: %j)", async (isNew) => {
    const empty = await probeAll(isNew);
    phone = new TestPhone();
    window = phone.open();
    await bank();
    expect(await probeAll(isNew)).toEqual(empty);
  });

  it("learns nothing by serving what it guesses to be stored", async () => {
    const guess: Partial<RequestHead> = { url: `${EVIL}/guess`, origin: EVIL, topLevelOrigin: SITE };
    const guessing = async (body: string) => {
      const first = await probe(guess, window, body);
      await window.stored(guess);
      phone.time += 61_000;
      return [first, await probe(guess, window, body), await probe({ ...guess, cache: "reload" }, window, body)];
    };
    const wrong = await guessing(secret.replace("bank", "tank"));
    phone = new TestPhone();
    window = phone.open();
    await bank();
    const right = await guessing(secret);
    expect(JSON.stringify(right).replace(/"stored":\{[^}]*\}/g, "")).toBe(
      JSON.stringify(wrong).replace(/"stored":\{[^}]*\}/g, ""),
    );
  });

  it("finds nothing once all was forgotten, nor does anybody on the disk", async () => {
    await bank();
    await window.get({ method: "DELETE", url: EdgeRequest.SITE_DATA }, { status: 204 });
    const database = await phone.disk.raw();
    for (const name of ["entries", "blocks", "partitions", "visits"] as const) {
      expect(await database.count(name)).toBe(0);
    }
    expect(JSON.stringify(await database.getAll("totals"))).not.toContain("example");
    for (const change of [page, {}, cdn]) expect((await window.get(change, { body: "new" })).text).toBe("new");
  });
});
