import { expect, it } from "vitest";
import { memoryRecordStore } from "../devices/record-store.ts";
import { LIST_RETRY_TIME, LIST_TIME, ListKeeper } from "./tracker-blocker.ts";

const URL_OF_LIST = "https://lists.example/a.txt";

/** What is compiled is the text itself. */
function setUp({ urls = [URL_OF_LIST] }: { urls?: readonly string[] } = {}) {
  const web = { text: "rules", status: 200, format: 1 };
  const asked: string[] = [];
  const log: string[] = [];
  const time = { now: 1_000 };
  const store = memoryRecordStore();
  const open = (change: { urls?: readonly string[] } = {}) =>
    new ListKeeper({
      store,
      urls,
      async fetch(url) {
        asked.push(url);
        return new Response(web.text, { status: web.status });
      },
      compile: async (text) => new TextEncoder().encode(text),
      format: async () => web.format,
      now: () => time.now,
      log: (line) => log.push(line),
      ...change,
    });
  const textOf = (compiled: Uint8Array | null) => compiled && new TextDecoder().decode(compiled);
  return { open, web, asked, log, time, textOf, store };
}

it("fetches the lists when they are wanted, and keeps them in parts", async () => {
  const { open, web, asked, textOf } = setUp({ urls: [URL_OF_LIST, `${URL_OF_LIST}?2`] });
  web.text = "x".repeat(100_000);
  const keeper = open();
  expect(asked).toEqual([]);
  const [one, other] = await Promise.all([keeper.compiled(), keeper.compiled()]);
  expect(textOf(one)).toBe(`${web.text}\n${web.text}`);
  expect(textOf(other)).toBe(textOf(one));
  // Another process of the edge.
  expect(textOf(await open().compiled())).toBe(textOf(one));
  expect(asked).toEqual([URL_OF_LIST, `${URL_OF_LIST}?2`]);
});

it("fetches them anew after a week, with nobody waiting, and leaves nothing of before", async () => {
  const { open, web, asked, time, textOf, store } = setUp();
  const keeper = open();
  await keeper.compiled();
  web.text = "rules of the next week";
  time.now += LIST_TIME - 1;
  await keeper.compiled();
  expect(asked).toHaveLength(1);
  time.now += 1;
  expect(textOf(await keeper.compiled())).toBe("rules");
  await expect.poll(async () => textOf(await keeper.compiled())).toBe(web.text);
  expect(asked).toHaveLength(2);
  expect(await store.list("block-list")).toHaveLength(2);
});

it("goes on with what it has where there is no newer one, and says so", async () => {
  const { open, web, asked, log, time, textOf } = setUp();
  const keeper = open();
  await keeper.compiled();
  Object.assign(web, { status: 503 });
  time.now += LIST_TIME;
  for (let i = 0; i < 3; i++) expect(textOf(await keeper.compiled())).toBe("rules");
  await expect.poll(() => log).toHaveLength(1);
  expect(log[0]).toContain(`${URL_OF_LIST} answers 503`);
  expect(asked).toHaveLength(2);
  time.now += LIST_RETRY_TIME;
  await keeper.compiled();
  await expect.poll(() => asked).toHaveLength(3);
});

it("has none where none can be had, and asks no more than once an hour", async () => {
  const { open, web, asked, time, textOf } = setUp();
  web.status = 404;
  const keeper = open();
  expect(await keeper.compiled()).toBeNull();
  expect(await keeper.compiled()).toBeNull();
  expect(asked).toHaveLength(1);
  Object.assign(web, { status: 200 });
  time.now += LIST_RETRY_TIME;
  expect(textOf(await keeper.compiled())).toBe("rules");
  expect(await open({ urls: [] }).compiled()).toBeNull();
});

it("fetches anew what other addresses led to, or another engine had compiled", async () => {
  const { open, web, asked } = setUp();
  await open().compiled();
  await open({ urls: ["https://lists.example/b.txt"] }).compiled();
  web.format = 2;
  await open({ urls: ["https://lists.example/b.txt"] }).compiled();
  expect(asked).toHaveLength(3);
});

it.each([
  ["x".repeat(13 * 1024 * 1024), "is longer than lists are"],
  ["\n<!doctype html><title>Log in</title>", "is a page, and no list"],
])("takes nothing that is no list", async (text, why) => {
  const { open, web, log } = setUp();
  web.text = text;
  expect(await open().compiled()).toBeNull();
  expect(log[0]).toContain(why);
});
