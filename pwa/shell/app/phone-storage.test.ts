import { expect, it } from "vitest";
import type { TunnelStats } from "../../messages/tunnel-messages.ts";
import { PhoneStorage } from "./phone.ts";

const statsOf = (storedBytes: number | null) =>
  ({ storedBytes, storedBytesMax: storedBytes === null ? null : 200 }) as TunnelStats;

function rig({ isInstalled = false, asksPerson = false, grants = true, bytes = 0 } = {}) {
  const asked: string[] = [];
  const phone = { isInstalled, grants, isKept: false };
  const storage = new PhoneStorage({
    tunnel: {
      stats: async () => statsOf(bytes),
      askStore: async <Sites>() => [{ site: "a.example", bytes: 5 }] as Sites,
    },
    manager: {
      estimate: async () => ({ quota: 900 }),
      persisted: async () => phone.isKept,
      persist: async () => {
        asked.push("persist");
        phone.isKept = phone.grants;
        return phone.isKept;
      },
    },
    isInstalled: () => phone.isInstalled,
    asksPerson,
  });
  return { storage, asked, phone };
}

it("asks the browser to keep what is stored on the first megabyte, once", async () => {
  const { storage, asked } = rig({ grants: false });
  await storage.pageLoaded(statsOf(999_999));
  expect(asked).toEqual([]);
  await storage.pageLoaded(statsOf(1_000_000));
  await storage.pageLoaded(statsOf(2_000_000));
  expect(asked).toEqual(["persist"]);
  expect(storage.current).toMatchObject({ bytes: 2_000_000, isKept: false });
});

it("asks anew when the app is installed", async () => {
  const { storage, asked, phone } = rig({ grants: false });
  await storage.pageLoaded(statsOf(1_000_000));
  Object.assign(phone, { grants: true, isInstalled: true });
  await storage.installed();
  expect([asked.length, storage.current?.isKept]).toEqual([2, true]);
});

it("asks the person only while they look at it, where the browser hands that on", async () => {
  const { storage, asked } = rig({ asksPerson: true, isInstalled: true });
  await storage.pageLoaded(statsOf(1_000_000));
  expect(asked).toEqual([]);
  await storage.read();
  expect(asked).toEqual(["persist"]);
  expect(storage.current?.isKept).toBe(true);
});

it("knows nothing before the store is there, and then the sites and the quota", async () => {
  const { storage } = rig({ bytes: 7 });
  storage.show(statsOf(null));
  expect(storage.current).toBeNull();
  await storage.read();
  const sites = [{ site: "a.example", bytes: 5 }];
  expect(storage.current).toEqual({ bytes: 7, bytesMax: 200, sites, isKept: false, quota: 900 });
});
