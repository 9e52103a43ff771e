import { beforeEach, describe, expect, it } from "vitest";
import { turns } from "./testing/stored-bodies.ts";
import { FRESH, page, picture, SITE, STALE, TestPhone, type TestWindow } from "./testing/stored-windows.ts";

let phone: TestPhone;
let window: TestWindow;
/** Blocks that were read since. */
let reads: unknown[];

const OTHER_PICTURE = `${SITE}/y.png`;

/** The app is opened again, and the page that was visited is asked for. */
async function visitAgain(): Promise<void> {
  for (const task of window.later) task();
  await turns(200);
  window = phone.open();
  await window.store.opened;
  await turns(200);
  phone.disk.onStep = ({ method, args }) => {
    const [key] = args;
    if (method === "get" && Array.isArray(key) && typeof key[1] === "number") reads.push(key);
  };
}

beforeEach(async () => {
  phone = new TestPhone();
  window = phone.open();
  reads = [];
  await window.get(page, { headers: STALE, body: "page" });
  await window.get({}, { headers: FRESH, body: "fresh" });
  await window.get({ url: OTHER_PICTURE }, { headers: STALE, body: "stale" });
  await window.stored();
  await window.stored({ url: OTHER_PICTURE });
  await visitAgain();
});

describe("what a page will ask for", () => {
  it("is read once, before that", async () => {
    await window.get(page, [{ status: 200, headers: STALE, body: "page 2" }, { status: 304 }]);
    await turns(200);
    const ahead = reads.length;
    expect(ahead).toBe(2);
    expect(await window.get()).toMatchObject({ text: "fresh", isAsked: false });
    expect(await window.get({ url: OTHER_PICTURE })).toMatchObject({ text: "stale", isAsked: false });
    expect(reads).toHaveLength(ahead);
  });

  it("is read again where it is asked for again", async () => {
    await window.get(page, [{ status: 200, headers: STALE, body: "page 2" }, { status: 304 }]);
    for (let time = 0; time < 2; time++) expect(await window.get()).toMatchObject({ text: "fresh" });
    expect(reads).toHaveLength(3);
  });

  it("is fetched where it was broken", async () => {
    const database = await phone.disk.raw();
    for (const key of await database.getAllKeys("blocks")) await database.put("blocks", new Uint8Array(5), key);
    database.close();
    await window.get(page, [{ status: 200, headers: STALE, body: "page 2" }, { status: 304 }]);
    expect(await window.get({}, { headers: FRESH, body: "again" })).toMatchObject({ text: "again", isAsked: true });
  });

  it("is gone with what is forgotten", async () => {
    await window.get(page, [{ status: 200, headers: STALE, body: "page 2" }, { status: 304 }]);
    await window.store.forget(() => true);
    expect(await window.get({ ...picture }, { body: "new" })).toMatchObject({ text: "new", isAsked: true });
  });

  it("is not written down, nor asked for before the page, where it has a secret", async () => {
    const own = { url: `${SITE}/data`, destination: "", mode: "cors" } as const;
    const withToken = (token: string) => ({ ...own, headers: [["authorization", `Bearer ${token}`]] as const });
    await window.get(page, { headers: STALE, body: "page" });
    await window.get(withToken("secret-1"), { headers: STALE, body: "of one" });
    await window.stored(own);
    await visitAgain();
    const database = await phone.disk.raw();
    const rows = [];
    for (const name of database.objectStoreNames) rows.push(...(await database.getAll(name)));
    expect(JSON.stringify(rows)).toContain(OTHER_PICTURE);
    expect(JSON.stringify(rows)).not.toContain("secret-1");
    database.close();
    await window.get(page, [{ status: 200, headers: STALE, body: "page" }, { status: 304 }]);
    await turns(200);
    const answer = { headers: STALE, body: "of another" };
    expect(await window.get(withToken("secret-2"), answer)).toMatchObject({ text: "of another", isAsked: true });
  });
});
