import { readFileSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { parseEnv } from "node:util";
import { parse } from "smol-toml";
import { describe, expect, it } from "vitest";
import { isStrongAccessKey } from "../../shared/access-key.ts";
import { readPlan } from "../../worker/front/edge-settings.ts";
import { root } from "../build/paths.ts";
import { deployConfig } from "./deploy-config.ts";

const ORIGINAL = {
  minify: true,
  name: "ropeway",
  main: "worker/workerd/entry-workers.ts",
  build: { command: "npm run build" },
  assets: { directory: "dist/app", binding: "ASSETS" },
  vars: { OTHER: "1" },
};

describe("the button that deploys", () => {
  const described = JSON.parse(readFileSync(join(root, "package.json"), "utf8")).cloudflare.bindings;
  const wanted = parseEnv(readFileSync(join(root, ".dev.vars.example"), "utf8"));

  it("says what each secret and binding is for", () => {
    const { durable_objects, assets } = parse(readFileSync(join(root, "wrangler.toml"), "utf8")) as {
      durable_objects: { bindings: { name: string }[] };
      assets: { binding: string };
    };
    const bound = [...durable_objects.bindings.map(({ name }) => name), assets.binding];
    expect(Object.keys(described).toSorted()).toEqual([...Object.keys(wanted), ...bound].toSorted());
  });

  it("suggests a plan that is there, and no key that pairs phones", () => {
    expect(isStrongAccessKey(wanted.ROPEWAY_ACCESS_KEY ?? "")).toBe(false);
    expect(() => readPlan(wanted.ROPEWAY_PLAN)).not.toThrow();
  });
});

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
    expect(config).toHaveProperty("minify", true);
  });

  it("has an upload that is small", () => {
    expect(parse(readFileSync(join(root, "wrangler.toml"), "utf8"))).toHaveProperty("minify", true);
  });

  it("takes the host for its zone", () => {
    const config = deployConfig(ORIGINAL, { host: "ropeway.example", zone: undefined }, false);
    expect(config).toMatchObject({ routes: [{ zone_name: "ropeway.example" }, { zone_name: "ropeway.example" }] });
  });

  it("deploys what was built, in a package", () => {
    const config = deployConfig(ORIGINAL, { host: undefined, zone: undefined }, true);
    expect(config).toMatchObject({ no_bundle: true, main: expect.stringMatching(/worker\.js$/) });
    expect(config).not.toHaveProperty("build");
    expect(config).not.toHaveProperty("minify");
    expect(config).not.toHaveProperty("routes");
  });

  it("refuses what is no host", () => {
    expect(() => deployConfig(ORIGINAL, { host: "https://a.example/", zone: undefined }, false)).toThrow(
      /ROPEWAY_HOST/,
    );
  });
});
