import { expect, it } from "vitest";
import { AuditLog } from "./device-directory.ts";
import { memoryRecordStore } from "./record-store.ts";
import { DeviceRig } from "./testing/device-rig.ts";

it("has what became of pairings, by whom, newest first, also after a restart", async () => {
  const rig = new DeviceRig();
  const owner = await rig.pair("Owner");
  const { code } = await rig.directory.createCode({ kind: "full" });
  const lost = await rig.pair("Lost", code);
  await expect(rig.pair("Stranger", "wrong")).rejects.toThrow("not-accepted");
  await rig.directory.unpair(lost.deviceId, { withCookies: false }, owner.deviceId);
  for (let attempt = 0; attempt < 3; attempt += 1) expect(await rig.comesIn(lost)).toBe(false);
  await rig.directory.changeKey(owner.deviceId, true);
  rig.restart();
  const at = rig.time;
  expect(await rig.directory.events()).toEqual([
    { at, kind: "key-changed", by: "Owner" },
    { at, kind: "turned-away", name: "Lost" },
    { at, kind: "unpaired", name: "Lost", by: "Owner" },
    { at, kind: "refused", count: 1 },
    { at, kind: "paired", name: "Lost", with: "code" },
    { at, kind: "paired", name: "Owner", with: "key" },
  ]);
});

it("counts refusals that follow each other as one, and writes few of them", async () => {
  let time = 0;
  let writes = 0;
  const store = memoryRecordStore();
  const { update } = store;
  store.update = (name, change) => {
    writes += 1;
    return update(name, change);
  };
  const log = new AuditLog(store, () => time);
  for (let attempt = 0; attempt < 1_000; attempt += 1) {
    await log.refused();
    time += 100;
  }
  expect(writes).toBe(10);
  expect(await log.list()).toEqual([{ kind: "refused", at: 90_000, count: 901 }]);
});

it("keeps the newest", async () => {
  const log = new AuditLog(memoryRecordStore(), () => 1);
  for (let count = 0; count < 250; count += 1) await log.note({ kind: "key-changed", by: `${count}` });
  const events = await log.list();
  expect([events.length, events[0]]).toEqual([200, { at: 1, kind: "key-changed", by: "249" }]);
});
