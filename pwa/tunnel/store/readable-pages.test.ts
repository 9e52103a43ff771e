import { expect, it } from "vitest";
import type { StoredExchange } from "./exchanges/stored-exchange.ts";
import { readablePages } from "./questions.ts";
import { FakeDisk } from "./testing/fake-disk.ts";

const A = "https://a.example";
const B = "https://b.example";

it("names the pages whose documents are stored for themselves, and no others", async () => {
  const disk = new FakeDisk<StoredExchange>();
  const store = disk.open();
  await store.opened;
  const put = async (partition: string, url: string, context: string) => {
    const copy = store.startCopy();
    copy.body.write(new TextEncoder().encode(url));
    const times = { requestTime: 1, responseTime: 2 };
    const meta = { status: 200, headers: [], ...times, selecting: [], context, scriptCookies: [] };
    await store.add({ partition, url, meta, replaces: () => false }, copy);
  };
  await put(`${A} ${A}`, `${A}/page`, "navigate document own");
  await put(`${A} ${A}`, `${A}/data`, "own");
  await put(`${B} ${A}`, `${A}/widget`, "navigate iframe own");
  const asked = [`${A}/page#part`, `${A}/data`, `${A}/widget`, `${A}/other`, "not a URL"];
  expect(await readablePages(() => disk.raw(), asked)).toEqual([`${A}/page#part`]);
});
