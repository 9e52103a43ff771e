import { expect, it } from "vitest";
import { type ResponseStore, storeOptions } from "./database/response-store.ts";
import { storedSites } from "./questions.ts";
import { FakeDisk } from "./testing/fake-disk.ts";

const [A, B] = ["https://www.a.example", "https://b.example"] as const;

async function put(store: ResponseStore<null>, partition: string, url: string, size: number): Promise<void> {
  const copy = store.startCopy();
  copy.body.write(Uint8Array.from({ length: size }, (_, index) => (index * url.length + size) & 255));
  await store.add({ partition, url, meta: null, replaces: () => false }, copy);
}

it("adds up what each site's pages have stored, the largest first", async () => {
  const disk = new FakeDisk<null>();
  const store = disk.open();
  await store.opened;
  await put(store, `${A} ${A}`, `${A}/1`, 300);
  await put(store, `http://a.example http://a.example`, "http://a.example/2", 200);
  await put(store, `${A} ${B}`, `${B}/widget`, 100);
  await put(store, `${B} ${B}`, `${B}/3`, 700);
  const read = () => storedSites(() => disk.raw());
  expect(await read()).toEqual([
    { site: "b.example", bytes: 700 },
    { site: "a.example", bytes: 600 },
  ]);
  await store.forget((partition) => partition.startsWith(B));
  expect(await read()).toEqual([{ site: "a.example", bytes: 600 }]);
});

it("makes room where less may be stored than is", async () => {
  const disk = new FakeDisk<null>();
  const store = disk.open({ bytes: 8_000 });
  await store.opened;
  for (let index = 0; index < 10; index++) await put(store, `${A} ${A}`, `${A}/${index}`, 700 + index);
  const limited = disk.open({ bytes: 3_000 });
  await limited.remove([]);
  expect(limited.use.bytes).toBeLessThanOrEqual(3_000);
  expect(limited.use.bytes).toBeGreaterThan(2_000);
});

it("has bounds that follow what the person chooses", () => {
  let bytes = 8_000;
  const options = storeOptions(() => bytes);
  bytes = 3_200;
  expect({ ...options }).toMatchObject({ bytes: 3_200, bodyBytes: 400 });
});
