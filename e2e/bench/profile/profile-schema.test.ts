import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { profileFault } from "./profile-schema.ts";

const RESULTS = join(import.meta.dirname, "..", "results");

async function kept(name: string) {
  return JSON.parse(await readFile(join(RESULTS, name), "utf8"));
}

describe("profileFault", () => {
  it.each(["seed-profile.json", "seed-profile-again.json"])("finds none in %s, which is kept", async (name) => {
    expect(profileFault(await kept(name))).toBeNull();
  });

  it("names what is wrong", async () => {
    const profile = await kept("seed-profile.json");
    expect(profileFault({ ...profile, cells: [] })).toBe("/cells must NOT have fewer than 1 items");
    expect(profileFault({ ...profile, cells: [{ ...profile.cells[0], loads: ["soon"] }] })).toBe(
      "/cells/0/loads/0 must be number",
    );
    expect(profileFault({ ...profile, surprise: 1 })).toBe('the profile must not have "surprise"');
  });
});
