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
    const store = objectBodyStore({ sql: { exec } } as DurableObjectStorage, new StateDisk({}));
    const ids = async () =>
      (await Promise.all(["a", "b", "c", "d", "e"].map(async (id) => ((await store.get(id)) === null ? "" : id)))).join(
        "",
      );
    for (const id of ["a", "b", "c"]) await store.put(id, new Uint8Array(100), 300);
    await store.delete("b");
    await store.delete("none");
    await store.put("d", new Uint8Array(100), 300);
    expect([await ids(), counts]).toEqual(["acd", 1]);
    await store.put("e", new Uint8Array(150), 300);
    expect([await ids(), counts]).toEqual(["de", 1]);
    await store.clear();
    expect(await ids()).toBe("");
  });
});
