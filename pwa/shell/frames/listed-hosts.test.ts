import { expect, it } from "vitest";
import { MapStorage } from "../testing/map-storage.ts";
import { ListedHosts } from "./listed-hosts.ts";
import { SlotRegistry } from "./slot-registry.ts";

const SITE = { isFrame: false, isAsked: false };
const FRAME = { isFrame: true, isAsked: false };
const [A, B, C] = ["https://a.example", "https://b.example", "https://c.example"] as const;

function rig(count = 3, storage = new MapStorage(), session = new MapStorage()) {
  const registry = new SlotRegistry(storage);
  const shown: string[] = [];
  const tabs: string[] = [];
  const told: string[] = [];
  let time = 1_000;
  const origins = Array.from({ length: count }, (_, index) => `https://s${index + 1}.ropeway.example`);
  const hosts = new ListedHosts({
    origins,
    registry,
    storage,
    sessionStorage: session,
    shown: () => shown,
    tabs: () => tabs,
    tell: (site, why) => told.push(why.replace("{site}", site)),
    now: () => ++time,
  });
  const use = (label: string, origin: string, top: string = origin) => {
    const slot = registry.assign(`${label}.ropeway.example`, origin, top);
    hosts.use(slot);
    return slot;
  };
  const take = (wish = SITE, isFree = (_label: string) => true) => hosts.take(wish, isFree)?.split(".")[0] ?? null;
  const pass = (span: number) => {
    time += span;
  };
  return { registry, hosts, shown, tabs, told, use, take, storage, session, pass };
}

it("knows the hosts of the list by their names, and no others", () => {
  const { hosts } = rig();
  expect(hosts.originOf("s1.ropeway.example")).toBe("https://s1.ropeway.example");
  expect(hosts.labelOf("https://s1.ropeway.example")).toBe("s1.ropeway.example");
  for (const origin of ["https://s4.ropeway.example", "http://s1.ropeway.example", "https://ropeway.example", "null"])
    expect(hosts.labelOf(origin)).toBeNull();
});

it("takes the least recently used in turn, over restarts", () => {
  const first = rig();
  first.use("s2", A);
  first.use("s1", B);
  first.use("s3", C);
  first.hosts.use(first.registry.byLabel("s2.ropeway.example") as never);
  expect(first.take()).toBe("s1");
  expect(rig(3, first.storage).take()).toBe("s1");
  expect(first.take(SITE, (label) => !label.startsWith("s1"))).toBe("s3");
  first.registry.evict("s3.ropeway.example");
  expect(first.take()).toBe("s3");
});

it("takes nothing that this window shows: its page, frames in it, and frames in those that are apart from it", () => {
  const { use, take, shown, hosts } = rig(5);
  use("s1", A);
  use("s2", B, A);
  use("s3", A, B);
  use("s4", B);
  use("s5", C);
  shown.push(A);
  expect(take()).toBe("s4");
  // However long the page has been there.
  shown.splice(0, 1, C);
  hosts.use({ label: "s4.ropeway.example", origin: B, topLevelOrigin: B, topLevel: true });
  const [last] = [take(SITE, (label) => !/^s[123]/.test(label)), take()];
  expect(last).toBe("s4");
});

it("takes the host of a site that has a tab last, for no spare, and says before that it will be so", async () => {
  const { use, take, tabs, told } = rig(2);
  const spare = { ...SITE, isSpare: true } as const;
  use("s1", A);
  use("s2", B, C);
  tabs.push(`${A}/page`, "");
  expect([take(spare), take()]).toEqual(["s2", "s2"]);
  await Promise.resolve();
  expect(told).toEqual([]);
  tabs.push(`${C}/other`);
  expect([take(spare), take(spare)]).toEqual([null, null]);
  await Promise.resolve();
  const loss = `${A}, in a tab behind, loses what it has stored on this phone`;
  expect(told).toEqual([`When one more site opens, ${loss}`]);
  expect(take()).toBe("s1");
  await Promise.resolve();
  expect(told.slice(1)).toEqual([`Another site needs the room: ${loss}`]);
});

it("lets a host be that was open elsewhere, for a while, and for good one that was granted something", () => {
  const { use, take, hosts, pass } = rig(2);
  use("s1", A);
  use("s2", B);
  hosts.refuse("s1.ropeway.example", false);
  hosts.refuse("s2.ropeway.example", true);
  expect(take()).toBeNull();
  pass(30_000);
  expect(take()).toBe("s1");
});

it("has room for frames up to half of the list", () => {
  const { use, hosts } = rig(4);
  use("s1", A, C);
  expect(hosts.hasRoomFor(FRAME)).toBe(true);
  use("s2", B, C);
  expect([hosts.hasRoomFor(FRAME), hosts.hasRoomFor({ isFrame: true, isAsked: true })]).toEqual([false, true]);
});

it("remembers whose a host was when the window last showed it", () => {
  const { hosts, use, storage, session } = rig();
  const slot = use("s1", A);
  expect(hosts.isNewHere(slot)).toBe(true);
  hosts.show(slot);
  expect([hosts.isNewHere(slot), hosts.hasMoved(slot.label)]).toEqual([false, false]);
  const other = { ...slot, origin: B, topLevelOrigin: B };
  const reloaded = rig(3, storage, session).hosts;
  expect([reloaded.isNewHere(slot), reloaded.isNewHere(other)]).toEqual([false, true]);
  hosts.show(other);
  expect([hosts.isNewHere(slot), hosts.hasMoved(slot.label)]).toEqual([true, true]);
});

it("begins anew where what is stored cannot be read", () => {
  const storage = new MapStorage();
  storage.setItem("ropeway.slot-uses", "{");
  expect(rig(2, storage).take()).toBe("s1");
});
