import { describe, expect, it } from "vitest";
import { CODE_TIME } from "./device-directory.ts";
import { DeviceRig, read } from "./testing/device-rig.ts";

const GUEST = { kind: "guest", lastsFor: 3_600_000, mostBytes: 5_000 } as const;

describe("a code", () => {
  it("pairs one device, however it is typed, and no second", async () => {
    const rig = new DeviceRig();
    const { code, expiresAt } = await rig.directory.createCode({ kind: "full" });
    expect(code).toMatch(/^[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}$/);
    expect(expiresAt).toBe(rig.time + CODE_TIME);
    const typed = ` ${code.toLowerCase().replace("-", " ").replaceAll("0", "o").replaceAll("1", "l")}`;
    const phone = await rig.pair("Phone", typed);
    expect(await rig.comesIn(phone)).toBe(true);
    await expect(rig.pair("Second", code)).rejects.toThrow("not-accepted");
  });

  it("holds for ten minutes, also over a restart", async () => {
    const rig = new DeviceRig();
    const [early, late] = [await rig.directory.createCode({ kind: "full" }), await rig.directory.createCode(GUEST)];
    rig.restart();
    rig.time += CODE_TIME - 1;
    await rig.pair("Early", early.code);
    rig.time += 1;
    await expect(rig.pair("Late", late.code)).rejects.toThrow("not-accepted");
  });

  it("is void once the access key is another", async () => {
    const rig = new DeviceRig();
    const phone = await rig.pair();
    const { code } = await rig.directory.createCode({ kind: "full" });
    await rig.directory.changeKey(phone.deviceId, false);
    await expect(rig.pair("Late", code)).rejects.toThrow("not-accepted");
  });
});

describe("a guest", () => {
  it("goes when its time is over, and its sites' data with it", async () => {
    const rig = new DeviceRig();
    const guest = await rig.pair("Guest", (await rig.directory.createCode(GUEST)).code);
    rig.time += 3_600_000 - 1;
    rig.restart();
    expect(await rig.comesIn(guest)).toBe(true);
    rig.time += 1;
    const { own, seen } = rig.device(guest.deviceId);
    own.used(1);
    await expect.poll(() => seen).toEqual(["disconnected", "pages forgotten", "sites cleared"]);
    await expect.poll(() => rig.directory.list()).toEqual([]);
    expect(await rig.comesIn(guest)).toBe(false);
  });

  it("goes when its data is used up, whatever memory was lost meanwhile", async () => {
    const rig = new DeviceRig();
    const { code } = await rig.directory.createCode({ kind: "guest", lastsFor: null, mostBytes: 200_000 });
    const guest = await rig.pair("Guest", code);
    expect(await rig.comesIn(guest)).toBe(true);
    rig.device(guest.deviceId).own.used(150_000);
    await rig.device(guest.deviceId).own.settle();
    rig.restart();
    expect(await rig.comesIn(guest)).toBe(true);
    const { own, seen } = rig.device(guest.deviceId);
    own.used(49_999);
    expect(seen).toEqual([]);
    own.used(1);
    await expect.poll(() => seen[0]).toBe("disconnected");
    expect(await rig.comesIn(guest)).toBe(false);
    await expect
      .poll(() => rig.directory.events())
      .toContainEqual({ at: rig.time, kind: "ended", name: "Guest", why: "data-used-up" });
  });
});

describe("another access key", () => {
  it("pairs in place of the former one; who is paired stays so", async () => {
    const rig = new DeviceRig();
    const [phone, other] = [await rig.pair(), await rig.pair()];
    const key = await rig.directory.changeKey(phone.deviceId, false);
    rig.restart();
    await expect(rig.pair("Stranger")).rejects.toThrow("not-accepted");
    expect(await rig.comesIn(await rig.pair("New", key))).toBe(true);
    expect([await rig.comesIn(phone), await rig.comesIn(other)]).toEqual([true, true]);
  });

  it("unpairs all others where they are to go", async () => {
    const rig = new DeviceRig();
    const [phone, other] = [await rig.pair(), await rig.pair()];
    await rig.directory.changeKey(phone.deviceId, true);
    expect([await rig.comesIn(phone), await rig.comesIn(other)]).toEqual([true, false]);
    expect((await rig.directory.list()).map(({ id }) => id)).toEqual([phone.deviceId]);
  });

  it("lets nobody in by what the former one signs", async () => {
    const rig = new DeviceRig();
    const phone = await rig.pair();
    await rig.directory.changeKey(phone.deviceId, false);
    const { token } = await new DeviceRig().pair();
    expect(await rig.comesIn(await read(token))).toBe(false);
  });

  it("gives way to the next that the edge is set up with", async () => {
    const rig = new DeviceRig();
    const phone = await rig.pair();
    const key = await rig.directory.changeKey(phone.deviceId, false);
    const next = "another-key-that-nobody-can-guess";
    rig.restart(next);
    await expect(rig.pair("Old", key)).rejects.toThrow("not-accepted");
    expect((await rig.directory.pair({ secret: next, name: "New" })).kind).toBe("paired");
  });
});
