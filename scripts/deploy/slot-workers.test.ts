import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readSlotHosts } from "../../worker/front/hosts.ts";
import { readSlotCount, slotHostPattern, slotNames, writeSlotWorkers } from "./slot-workers.ts";

it("takes as many hosts as the account has room for", () => {
  expect(["0", "2", "24", "99"].map(readSlotCount)).toEqual([0, 2, 24, 99]);
  for (const text of ["1", "100", "-3", "2.5", "many", ""])
    expect(() => readSlotCount(text)).toThrow("take 2 to 99, or 0");
});

it("tells the edge of the hosts that its workers have", () => {
  for (const count of [2, 24, 99]) {
    const hosts = slotNames("ropeway", count).map((name) => `${name}.me.workers.dev`);
    const base = "ropeway.me.workers.dev";
    expect(readSlotHosts(slotHostPattern(base, count), base)).toEqual(hosts);
  }
});

it("writes the files once, and a configuration for each", async () => {
  const directory = await mkdtemp(join(tmpdir(), "ropeway-slots-"));
  const files = new Map([[".ropeway/boot", new TextEncoder().encode("boot")]]);
  const workers = await writeSlotWorkers(directory, ["a-s01", "a-s02"], files, "2026-08-01");
  const configs = await Promise.all(
    workers.map(async ({ config }) => JSON.parse(await readFile(config, "utf8")) as { assets: { directory: string } }),
  );
  expect(configs).toMatchObject([{ name: "a-s01" }, { name: "a-s02" }]);
  for (const { assets } of configs) {
    expect(assets).toMatchObject({ html_handling: "none", not_found_handling: "404-page" });
    expect(await readFile(join(assets.directory, ".ropeway", "boot"), "utf8")).toBe("boot");
  }
  await rm(directory, { recursive: true });
});
