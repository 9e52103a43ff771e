import { mkdtempSync, rmSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { type Deployment, deployAll } from "./deployment.ts";
import { dryPlatform, wranglerPlatform } from "./platform.ts";
import type { Wrangler } from "./wrangler.ts";

const directory = mkdtempSync(join(tmpdir(), "ropeway-deployment-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Stands in for wrangler and the account behind it; it knows the commands that are meant to be used, and no other. */
class Account {
  readonly calls: string[] = [];
  readonly workers = new Map<string, Map<string, string>>();
  /** Of calls: the one that fails. */
  failing = "";
  keptKey: string | null = null;
  domain = "me.workers.dev";

  readonly wrangler: Wrangler = async (args, { input, environment } = {}) => {
    const call = args.join(" ");
    this.calls.push(call + (input === undefined ? "" : ` < ${input}`));
    if (call === this.failing) throw new Error("Cannot deploy: wrangler failed (see above)");
    const [, command, name = ""] =
      /^(deploy|deploy --dry-run|secret list --format=json|secret bulk) --config=(.+)$/.exec(call) ?? [];
    if (command === "deploy --dry-run") return "";
    if (command === "deploy") {
      if (!this.workers.has(name)) this.workers.set(name, new Map());
      const lines = [{ type: "wrangler-session" }, { type: "deploy", targets: [`https://${name}.${this.domain}`] }];
      await writeFile(
        environment?.WRANGLER_OUTPUT_FILE_PATH ?? "",
        lines.map((line) => JSON.stringify(line)).join("\n"),
      );
      return "";
    }
    const secrets = this.workers.get(name);
    if (secrets === undefined) throw new Error(`There is no worker ${name}`);
    if (command === "secret list --format=json")
      return JSON.stringify([...secrets.keys()].map((each) => ({ name: each, type: "secret_text" })));
    if (command !== "secret bulk") throw new Error(`Nobody knows ${call}`);
    for (const [key, value] of Object.entries(JSON.parse(input ?? "") as Record<string, string | null>))
      if (value === null) secrets.delete(key);
      else secrets.set(key, value);
    return "";
  };

  deployment(changes: Partial<Deployment> = {}): Deployment {
    return {
      platform: wranglerPlatform(this.wrangler, directory),
      edge: { name: "ropeway", config: "ropeway" },
      host: null,
      newKey: false,
      keys: {
        kept: async () => {
          const isNew = this.keptKey === null;
          this.keptKey ??= `key-${this.calls.length}`;
          return { key: this.keptKey, isNew };
        },
        forget: async () => {
          this.keptKey = null;
        },
      },
      ...changes,
    };
  }
}

const DEPLOY = "deploy --config=ropeway";
const LIST = "secret list --format=json --config=ropeway";
const BULK = "secret bulk --config=ropeway";
const bulk = (secrets: object) => `${BULK} < ${JSON.stringify(secrets)}`;

describe("deployAll", () => {
  it("deploys the edge and gives it a key", async () => {
    const account = new Account();
    const deployed = await deployAll(account.deployment());
    expect(deployed).toEqual({ url: "https://ropeway.me.workers.dev", key: "key-2" });
    expect(account.calls).toEqual([DEPLOY, LIST, bulk({ ROPEWAY_ACCESS_KEY: "key-2" })]);
  });

  it("changes nothing when it is run again", async () => {
    const account = new Account();
    await deployAll(account.deployment());
    const before = structuredClone(account.workers);
    account.calls.length = 0;
    const deployed = await deployAll(account.deployment({ host: "ropeway.example" }));
    expect(deployed).toEqual({ url: "https://ropeway.example", key: "key-2" });
    expect(account.calls).toEqual([DEPLOY, LIST]);
    expect(account.workers).toEqual(before);
  });

  it.each([DEPLOY, LIST, BULK])("goes on after %s had failed", async (failing) => {
    const account = new Account();
    account.failing = failing;
    await expect(deployAll(account.deployment())).rejects.toThrow("Cannot deploy");
    expect(account.keptKey).toBeNull();
    account.failing = "";
    const { key } = await deployAll(account.deployment());
    expect(account.workers.get("ropeway")).toEqual(new Map([["ROPEWAY_ACCESS_KEY", key]]));
  });

  it("leaves a key alone that is not known here, and replaces it when told to", async () => {
    const account = new Account();
    await deployAll(account.deployment());
    account.keptKey = null;
    expect((await deployAll(account.deployment())).key).toBeNull();
    expect(account.keptKey).toBeNull();
    expect(account.workers.get("ropeway")?.get("ROPEWAY_ACCESS_KEY")).toBe("key-2");
    const { key } = await deployAll(account.deployment({ newKey: true }));
    expect(key).toBe(account.keptKey);
    expect(account.workers.get("ropeway")?.get("ROPEWAY_ACCESS_KEY")).toBe(key);
  });

  it("only says it, when dry", async () => {
    const account = new Account();
    const said: string[] = [];
    const say = (line: string) => void said.push(line);
    await deployAll(account.deployment({ platform: dryPlatform(account.wrangler, say) }));
    expect(account.calls).toEqual([DEPLOY.replace("deploy", "deploy --dry-run")]);
    expect(account.workers.size).toBe(0);
    expect(said).toEqual([
      "Would deploy the worker ropeway",
      expect.stringMatching(/^Would set the secret ROPEWAY_ACCESS_KEY of ropeway: key-/),
    ]);
  });
});
