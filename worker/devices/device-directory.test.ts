import { describe, expect, it } from "vitest";
import { Random, runSeed } from "../../shared/testing/random.ts";
import { firstDifference, steadyPlatform } from "../../shared/testing/steady-platform.ts";
import { memoryRecordStore, type RecordStore } from "./record-store.ts";
import { DeviceRig, KEY, read } from "./testing/device-rig.ts";

describe("the directory", () => {
  it("pairs by the key alone, and only by one that cannot be guessed", async () => {
    const rig = new DeviceRig();
    expect(await rig.directory.pair({ secret: "wrong", name: "Phone" })).toEqual({
      kind: "refused",
      why: "not-accepted",
    });
    const weak = new DeviceRig("secret");
    expect(await weak.directory.pair({ secret: "secret", name: "Phone" })).toEqual({
      kind: "refused",
      why: "weak-key",
    });
    expect([await rig.directory.list(), await weak.directory.list()]).toEqual([[], []]);
  });

  it("lists devices in the order in which they were paired, also after a restart", async () => {
    const rig = new DeviceRig();
    for (const name of ["One", "Two", "Three"]) {
      await rig.pair(name);
      rig.time += 1;
    }
    rig.restart();
    expect((await rig.directory.list()).map(({ name }) => name)).toEqual(["One", "Two", "Three"]);
  });

  it("renames and unpairs what is there, and nothing else", async () => {
    const rig = new DeviceRig();
    const { deviceId } = await rig.pair();
    expect(await rig.directory.rename(deviceId, "Kitchen")).toBe(true);
    expect((await rig.directory.list())[0]?.name).toBe("Kitchen");
    expect(await rig.directory.rename("AAAAAAAAAAAAAAAAAAAAAA", "Nobody")).toBe(false);
    expect(await rig.directory.unpair("AAAAAAAAAAAAAAAAAAAAAA", { withCookies: false })).toBe(false);
    expect(await rig.directory.unpair(deviceId, { withCookies: false })).toBe(true);
    expect(await rig.directory.list()).toEqual([]);
  });

  it("goes on listing a device whose object could not be told", async () => {
    const rig = new DeviceRig();
    const { deviceId } = await rig.pair();
    rig.device(deviceId).own.unpair = () => Promise.reject(new Error("the disk is full"));
    await expect(rig.directory.unpair(deviceId, { withCookies: false })).rejects.toThrow("the disk is full");
    expect(await rig.directory.list()).toHaveLength(1);
  });

  it("unpairs all where the edge has another key by now, and the former key does not bring them back", async () => {
    const rig = new DeviceRig();
    const phone = await rig.pair();
    const other = "another-key-that-nobody-can-guess";
    rig.restart(other);
    expect(await rig.directory.list()).toEqual([]);
    const answer = await rig.directory.pair({ secret: other, name: "New" });
    expect(answer.kind === "paired" && (await read(answer.token, other)).deviceId).not.toBe(phone.deviceId);
    rig.restart(KEY);
    expect(await rig.directory.list()).toEqual([]);
    expect(await rig.comesIn(phone)).toBe(false);
  });

  it("lets all in that pair at once with an edge that is new, in whatever order its store answers", async () => {
    console.info(`A new edge with ROPEWAY_FUZZ_SEED=${runSeed()}`);
    const random = new Random(runSeed());
    steadyPlatform(random);
    for (let round = 0; round < 50; round++) await pairAtOnce(random);
  });

  it("answers in the same order again where the seed is the same", async () => {
    const runs: string[][] = [];
    for (const run of "12") {
      const random = new Random(runSeed());
      steadyPlatform(random);
      const steps: string[] = [];
      for (let round = 0; round < 5; round++) await pairAtOnce(random, steps, KEY + run);
      runs.push(steps);
    }
    const [first = [], second = []] = runs;
    expect(first.length).toBeGreaterThan(50);
    expect(firstDifference(first, second)).toBeNull();
  });
});

/** @param key another in each run: tokens that were checked are known in this process from then on. */
async function pairAtOnce(random: Random, steps: string[] = [], key = KEY): Promise<void> {
  const rig = new DeviceRig(key, unevenStore(memoryRecordStore(), random, steps));
  const paired = await Promise.all(Array.from({ length: 5 }, (_, index) => rig.pair(`Phone ${index}`)));
  for (const phone of paired) expect(await rig.comesIn(phone)).toBe(true);
  expect(await rig.directory.list()).toHaveLength(5);
}

/** Answers some questions many turns after others; a change happens as one step all the same. */
function unevenStore(store: RecordStore, random: Random, steps: string[]): RecordStore {
  const turns = async () => {
    for (let left = random.oneIn(4) ? 40 : 0; left > 0; left--) await new Promise(setImmediate);
  };
  const after = async <Value>(what: string, ask: () => Promise<Value>) => {
    await turns();
    steps.push(`asks for ${what}`);
    const answer = await ask();
    await turns();
    steps.push(`has ${what}`);
    return answer;
  };
  return {
    get: (name) => after(name, () => store.get(name)),
    list: (prefix) => after(`all ${prefix}`, () => store.list(prefix)),
    update: (name, change) => after(`new ${name}`, () => store.update(name, change)),
  };
}
