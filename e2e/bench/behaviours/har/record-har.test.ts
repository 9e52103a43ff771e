import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { missingForLab } from "../../../lab/lab.ts";
import { makeSite } from "../../sites/make-sites.ts";
import { recordedClass } from "../recorded-class.ts";
import { recordHar } from "./record-har.ts";

describe.runIf(missingForLab().length === 0)("recordHar", () => {
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "recording-"));
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));

  it("records each object of a page once, to be replayed", { timeout: 60_000 }, async () => {
    const site = await makeSite(join(directory, "sites"), "impress-deck");
    const file = join(directory, "deck.har");
    await recordHar(site, file);
    const { plan, hosts } = await recordedClass(file);
    expect(plan.steps).toHaveLength(site.objects);
    expect(hosts).toHaveLength(site.hosts.length);
  });
});
