import { isAbsolute } from "node:path";
import { describe, expect, it } from "vitest";
import { deployConfig } from "./deploy-config.ts";

const ORIGINAL = {
  name: "ropeway",
  main: "worker/workerd/entry-workers.ts",
  build: { command: "npm run build" },
  assets: { directory: "dist/app", binding: "ASSETS" },
  vars: { OTHER: "1" },
};

describe("deployConfig", () => {
  it("has the host, its wildcard and their zone", () => {
    const config = deployConfig(ORIGINAL, { host: "ropeway.zone.example", zone: "zone.example" }, false);
    expect(config).toMatchObject({
      vars: { OTHER: "1", ROPEWAY_HOST: "ropeway.zone.example" },
      routes: [
        { pattern: "ropeway.zone.example/*", zone_name: "zone.example" },
        { pattern: "*.ropeway.zone.example/*", zone_name: "zone.example" },
      ],
    });
    expect(isAbsolute(String(config.main))).toBe(true);
  });

  it("takes the host for its zone", () => {
    const config = deployConfig(ORIGINAL, { host: "ropeway.example", zone: undefined }, false);
    expect(config).toMatchObject({ routes: [{ zone_name: "ropeway.example" }, { zone_name: "ropeway.example" }] });
  });

  it("deploys what was built, in a package", () => {
    const config = deployConfig(ORIGINAL, { host: undefined, zone: undefined }, true);
    expect(config).toMatchObject({ no_bundle: true, main: expect.stringMatching(/worker\.js$/) });
    expect(config).not.toHaveProperty("build");
    expect(config).not.toHaveProperty("routes");
  });

  it("refuses what is no host", () => {
    expect(() => deployConfig(ORIGINAL, { host: "https://a.example/", zone: undefined }, false)).toThrow(
      /ROPEWAY_HOST/,
    );
  });
});
