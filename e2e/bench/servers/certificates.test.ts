import { createHash, X509Certificate } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { missingForLab } from "../../lab/lab.ts";
import { createAuthority } from "./certificates.ts";

describe.runIf(missingForLab().length === 0)("createAuthority", () => {
  let directory = "";
  afterEach(() => rm(directory, { recursive: true, force: true }));

  it("issues certificates that its own certificate proves, all with the key that it names", async () => {
    directory = await mkdtemp(join(tmpdir(), "ropeway-certificates-"));
    const authority = await createAuthority(directory);
    const root = new X509Certificate(await readFile(authority.file));
    expect(root.ca).toBe(true);
    for (const hosts of [["a.test"], ["ropeway.test", "*.ropeway.test"]]) {
      const leaf = new X509Certificate((await authority.issue(hosts)).cert);
      expect(leaf.verify(root.publicKey)).toBe(true);
      expect(leaf.ca).toBe(false);
      expect(leaf.checkHost((hosts.at(-1) ?? "").replace("*", "slot"))).toBeDefined();
      const key = leaf.publicKey.export({ type: "spki", format: "der" });
      expect(createHash("sha256").update(key).digest("base64")).toBe(authority.keyHash);
    }
  });
});
