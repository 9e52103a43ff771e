import { describe, expect, it, vi } from "vitest";
import { UNUSED_TIME } from "./device-directory.ts";
import { issueToken, newDeviceId } from "./device-token.ts";
import { DeviceRig, KEY, read } from "./testing/device-rig.ts";

const DAY = 24 * 60 * 60 * 1000;

describe("a paired device", () => {
  it("comes in without its directory, also after all memory of it is gone", async () => {
    const rig = new DeviceRig();
    const phone = await rig.pair();
    rig.restart();
    const adopt = vi.spyOn(rig.directory, "adopt");
    const list = vi.spyOn(rig.directory, "list");
    expect(await rig.comesIn(phone)).toBe(true);
    expect([adopt, list].map((spy) => spy.mock.calls.length)).toEqual([0, 0]);
  });

  it("does not come in with another secret that the edge has signed", async () => {
    const rig = new DeviceRig();
    const phone = await rig.pair();
    expect(await rig.comesIn(await issueToken(KEY, phone))).toBe(false);
  });

  it("enters the list again with its first connection where all that was known of it is lost", async () => {
    const rig = new DeviceRig();
    const former = await issueToken(KEY, { deviceId: newDeviceId(), isGuest: false });
    expect(await rig.comesIn(former)).toBe(true);
    expect(await rig.directory.list()).toEqual([
      expect.objectContaining({ id: former.deviceId, name: "Adopted", terms: { kind: "full" } }),
    ]);
    await rig.directory.unpair(former.deviceId, { withCookies: false });
    rig.restart();
    expect(await rig.comesIn(former)).toBe(false);
    expect(await rig.directory.list()).toEqual([]);
  });

  it("is void at once when it is unpaired, and stays so", async () => {
    const rig = new DeviceRig();
    const [phone, other] = [await rig.pair(), await rig.pair()];
    expect(await rig.directory.unpair(phone.deviceId, { withCookies: false })).toBe(true);
    expect(rig.device(phone.deviceId).seen).toEqual(["disconnected", "pages forgotten"]);
    expect(await rig.device(phone.deviceId).own.isAdmitted(phone)).toBe(false);
    expect([await rig.comesIn(phone), await rig.comesIn(other)]).toEqual([false, true]);
    rig.restart();
    expect([await rig.comesIn(phone), await rig.comesIn(other)]).toEqual([false, true]);
  });

  it("is void at once, although what says otherwise is read just then", async () => {
    const rig = new DeviceRig();
    const phone = await rig.pair();
    rig.restart();
    const { own, store } = rig.device(phone.deviceId);
    const isRead = Promise.withResolvers<void>();
    const { get } = store;
    store.get = async <Value>(name: string) => {
      const value = await get<Value>(name);
      await isRead.promise;
      return value;
    };
    const coming = own.admit(phone, "Phone");
    await own.unpair({ withCookies: false });
    isRead.resolve();
    expect(await coming).toBeNull();
    expect(await own.isAdmitted(phone)).toBe(false);
  });

  it("leaves its cookies, unless they are to go", async () => {
    const rig = new DeviceRig();
    const phone = await rig.pair();
    await rig.directory.unpair(phone.deviceId, { withCookies: true });
    expect(rig.device(phone.deviceId).seen).toEqual(["disconnected", "pages forgotten", "sites cleared"]);
  });
});

describe("a token", () => {
  it("is replaced by a new one; the one before holds until the next is", async () => {
    const rig = new DeviceRig();
    const first = await rig.pair();
    const { own } = rig.device(first.deviceId);
    const second = await read(await own.renew(KEY, first));
    expect([await rig.comesIn(first), await rig.comesIn(second)]).toEqual([true, true]);
    const third = await read(await own.renew(KEY, second));
    rig.restart();
    expect([await rig.comesIn(first), await rig.comesIn(second), await rig.comesIn(third)]).toEqual([
      false,
      true,
      true,
    ]);
  });

  it("does not lock a phone out that never got the new one", async () => {
    const rig = new DeviceRig();
    const first = await rig.pair();
    const { own } = rig.device(first.deviceId);
    for (let attempt = 0; attempt < 3; attempt += 1) await own.renew(KEY, first);
    expect(await rig.comesIn(first)).toBe(true);
  });

  it("ends after 90 days without use, counted from when the device was last there", async () => {
    const rig = new DeviceRig();
    const [used, unused] = [await rig.pair("Used"), await rig.pair("Unused")];
    rig.time += 60 * DAY;
    expect(await rig.comesIn(used)).toBe(true);
    await rig.device(used.deviceId).own.settle();
    rig.time += 31 * DAY;
    rig.restart();
    expect([await rig.comesIn(used), await rig.comesIn(unused)]).toEqual([true, false]);
    expect((await rig.directory.list()).map(({ name }) => name)).toEqual(["Used"]);
    rig.time += UNUSED_TIME;
    // Whoever looks at the list finds none that ended.
    expect(await rig.directory.list()).toEqual([]);
    expect(await rig.comesIn(used)).toBe(false);
  });
});

describe("what a device has used", () => {
  it("is counted, and outlives the memory of its object where it is worth a row", async () => {
    const rig = new DeviceRig();
    const phone = await rig.pair();
    const usage = async () => (await rig.directory.list())[0]?.usage;
    await rig.comesIn(phone);
    const { own } = rig.device(phone.deviceId);
    own.used(100_000);
    await own.settle();
    own.used(50);
    expect(await usage()).toEqual({ seenAt: rig.time, bytes: 100_050, isConnected: false });
    rig.restart();
    expect((await usage())?.bytes).toBe(100_000);
  });

  it("has it seen now while it is connected, and then when it went", async () => {
    const rig = new DeviceRig();
    const phone = await rig.pair();
    const device = rig.device(phone.deviceId);
    device.isConnected = true;
    rig.time += DAY;
    expect((await rig.directory.list())[0]?.usage).toEqual({ seenAt: rig.time, bytes: 0, isConnected: true });
    device.isConnected = false;
    await device.own.settle();
    const wentAt = rig.time;
    rig.time += DAY;
    expect((await rig.directory.list())[0]?.usage?.seenAt).toBe(wentAt);
  });
});

describe("a guest", () => {
  const guestOf = async (rig: DeviceRig, mostBytes: number) => {
    const { code } = await rig.directory.createCode({ kind: "guest", lastsFor: null, mostBytes });
    return rig.pair("Guest", code);
  };

  it("has used what it has used, although its object ends without a word again and again", async () => {
    const rig = new DeviceRig();
    const guest = await guestOf(rig, 10_000_000);
    for (let i = 0; i < 5; i += 1) {
      expect(await rig.comesIn(guest)).toBe(true);
      for (let bytes = 0; bytes < 3_000_000; bytes += 50_000) {
        rig.device(guest.deviceId).own.used(50_000);
        await Promise.resolve();
      }
      if (rig.device(guest.deviceId).seen.includes("disconnected")) break;
      await new Promise((resolve) => setTimeout(resolve));
      rig.restart();
    }
    await vi.waitFor(() => expect(rig.device(guest.deviceId).seen).toContain("disconnected"));
    expect(await rig.comesIn(guest)).toBe(false);
  });

  it("becomes no other where all that was known of it is lost", async () => {
    const { token } = await guestOf(new DeviceRig(), 1_000);
    const rig = new DeviceRig();
    expect(await rig.comesIn(await read(token))).toBe(false);
    expect(await rig.directory.list()).toEqual([]);
  });
});

it("a device that another process of the edge unpaired is disconnected within a minute of use", async () => {
  const rig = new DeviceRig();
  const phone = await rig.pair();
  const here = rig.device(phone.deviceId);
  await rig.comesIn(phone);
  rig.restart();
  await rig.directory.unpair(phone.deviceId, { withCookies: false });
  rig.time += 60_000;
  here.own.used(1);
  await vi.waitFor(() => expect(here.seen).toEqual(["disconnected"]));
  expect(await here.own.isAdmitted(phone)).toBe(false);
});
