import { runInDurableObject } from "cloudflare:test";
import { expect, it } from "vitest";
import { pairDevice } from "../testing/object-device.workerd.ts";
import { objectBodyStore } from "./object-bodies.ts";
import { StateDisk } from "./state-disk.ts";

it("bounds bodies, the oldest gone first, and counts all of them once only", async () => {
  const { stub } = await pairDevice();
  await runInDurableObject(stub, async (_, { storage }) => {
    let counts = 0;
    const exec: SqlStorage["exec"] = (query, ...bindings) => {
      if (query.includes("sum(")) counts += 1;
      return storage.sql.exec(query, ...bindings);
    };
    const counted = { getAlarm: () => storage.getAlarm(), setAlarm: (time: number) => storage.setAlarm(time) };
    const sql = { exec } as SqlStorage;
    const store = objectBodyStore({ ...counted, sql }, new StateDisk({}), Date.now);
    const ids = async () =>
      (await Promise.all(["a", "b", "c", "d", "e"].map(async (id) => ((await store.get(id)) === null ? "" : id)))).join(
        "",
      );
    for (const id of ["a", "b", "c"]) await store.put(id, new Uint8Array(100), { site: "a", most: 300 });
    await store.delete("b");
    await store.delete("none");
    await store.put("d", new Uint8Array(100), { site: "a", most: 300 });
    expect([await ids(), counts]).toEqual(["acd", 1]);
    await store.put("e", new Uint8Array(150), { site: "a", most: 300 });
    expect([await ids(), counts]).toEqual(["de", 1]);
    await store.clear();
    expect(await ids()).toBe("");
  });
});

it("lets the site give that has most, also of what was put before the object started", async () => {
  const { stub } = await pairDevice();
  await runInDurableObject(stub, async (_, { storage }) => {
    const before = objectBodyStore(storage, new StateDisk({}), Date.now);
    await before.put("before", new Uint8Array(100), { site: "shop", most: 1000 });
    for (let start = 0; start < 2; start++) {
      const store = objectBodyStore(storage, new StateDisk({}), Date.now);
      await store.put(`bank${start}`, new Uint8Array(50), { site: "bank", most: 1000 });
      for (let i = 0; i < 30; i++)
        await store.put(`evil${start}-${i}`, new Uint8Array(90), { site: "evil", most: 1000 });
      expect((await store.get("before"))?.length).toBe(100);
      expect((await store.get("bank0"))?.length).toBe(50);
      expect((await store.get(`evil${start}-29`))?.length).toBe(90);
      expect(await store.get(`evil${start}-0`)).toBeNull();
    }
    const { bytes } = storage.sql.exec<{ bytes: number }>("SELECT sum(length(bytes)) AS bytes FROM sealed").one();
    expect(bytes).toBeLessThanOrEqual(1000);
  });
});

it("keeps a body for thirty days, whether its phone comes back or not", async () => {
  const { stub } = await pairDevice();
  await runInDurableObject(stub, async (_, { storage }) => {
    const day = 24 * 60 * 60 * 1000;
    const start = Date.now();
    let time = start;
    const store = objectBodyStore(storage, new StateDisk({}), () => time);
    await store.put("a", new Uint8Array(100), { site: "a", most: 1000 });
    time += 10 * day;
    await store.put("b", new Uint8Array(100), { site: "a", most: 1000 });
    expect(await storage.getAlarm()).toBe(start + 30 * day);
    time = start + 30 * day;
    expect([await store.get("a"), (await store.get("b"))?.length]).toEqual([null, 100]);
    await storage.deleteAlarm();
    await store.expire();
    expect(storage.sql.exec("SELECT id FROM sealed").toArray()).toEqual([{ id: "b" }]);
    expect(await storage.getAlarm()).toBe(start + 40 * day);
    time = start + 41 * day;
    await storage.deleteAlarm();
    await store.expire();
    expect(storage.sql.exec("SELECT id FROM sealed").toArray()).toEqual([]);
    expect(await storage.getAlarm()).toBeNull();
  });
});
