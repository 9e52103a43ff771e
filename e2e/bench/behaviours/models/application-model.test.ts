import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { behaviourFault } from "../behaviour.ts";
import { readWorkload } from "../behaviour-file.ts";
import { SHIPPED_FILES, shippedFiles } from "../make-files.ts";
import { bodyBytes, hostsOf, replayFloor, replayPlan } from "../replay/replay-plan.ts";
import { APPLICATIONS, makeWorkload, SHIPPED_SEED, VARIANTS } from "./application-model.ts";

const NO_LINK = { delay: 0, down: 0, up: 0, loss: 0 };

describe("the shipped behaviour files", () => {
  it("are what the model makes", async () => {
    const made = shippedFiles();
    expect((await readdir(SHIPPED_FILES)).sort()).toEqual([...made.keys()].sort());
    for (const [name, text] of made) expect(await readFile(join(SHIPPED_FILES, name), "utf8"), name).toBe(text);
  });

  it("are read as the model's workloads", async () => {
    for (const application of APPLICATIONS) {
      const made = makeWorkload(application, "full", SHIPPED_SEED);
      const file = `${made.name}.tsv`;
      expect(readWorkload(await readFile(join(SHIPPED_FILES, file), "utf8"), made.name, file)).toEqual(made);
    }
  });
});

describe.each(APPLICATIONS)("the model of %s", (application) => {
  it("makes valid behaviours for any seed, others for each", () => {
    const texts = new Set<string>();
    for (let seed = 0; seed < 50; seed++) {
      const { behaviours } = makeWorkload(application, "full", seed);
      for (const behaviour of behaviours) expect(behaviourFault(behaviour)).toBeNull();
      texts.add(JSON.stringify(behaviours));
    }
    expect(texts.size).toBe(50);
  });

  it.each(VARIANTS)("makes a %s variant of the length that it promises", (variant) => {
    const plan = replayPlan(makeWorkload(application, variant, SHIPPED_SEED));
    const time = replayFloor(plan, NO_LINK);
    expect(time).toBeGreaterThan(variant === "full" ? 15_000 : 500);
    expect(time).toBeLessThan(variant === "full" ? 25_000 : 4_000);
  });
});

describe("the classes", () => {
  const plans = Object.fromEntries(
    APPLICATIONS.map((application) => [application, replayPlan(makeWorkload(application, "full", SHIPPED_SEED))]),
  );
  const down = (application: string): number => (plans[application] ? bodyBytes(plans[application]).down : 0);

  it("are as heavy as their names say", () => {
    expect(down("video")).toBeGreaterThan(3 * down("browser"));
    expect(down("browser")).toBeGreaterThan(down("newspaper"));
    expect(down("newspaper")).toBeGreaterThan(down("social"));
  });

  it("have several hosts each, none in common", () => {
    const hosts = APPLICATIONS.map((application) => hostsOf(makeWorkload(application, "full", SHIPPED_SEED)));
    expect(hosts.every(({ length }) => length >= 2)).toBe(true);
    expect(new Set(hosts.flat()).size).toBe(hosts.flat().length);
  });
});
