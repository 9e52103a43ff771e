import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { profileFault } from "./profile-schema.ts";

const RESULTS = join(import.meta.dirname, "..", "results");

async function kept(name: string) {
  return JSON.parse(gunzipSync(await readFile(join(RESULTS, name))).toString("utf8"));
}

describe("profileFault", () => {
  it("finds none in the one that is kept", async () => {
    expect(profileFault(await kept("seed-profile.json.gz"))).toBeNull();
  });

  it("names what is wrong", async () => {
    const profile = await kept("seed-profile.json.gz");
    expect(profileFault({ ...profile, cells: [] })).toBe("/cells must NOT have fewer than 1 items");
    expect(profileFault({ ...profile, cells: [{ ...profile.cells[0], loads: ["soon"] }] })).toBe(
      "/cells/0/loads/0 must be number",
    );
    expect(profileFault({ ...profile, surprise: 1 })).toBe('the profile must not have "surprise"');
  });
});
