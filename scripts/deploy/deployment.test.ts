import { mkdtempSync, rmSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { afterAll, describe, expect, it } from "vitest";
import { askPlan, type Deployment, deployAll, readPlanFlag } from "./deployment.ts";
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
      slots: 3,
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
      slotWorkers: async (names) => names.map((name) => ({ name, config: name })),
      plan: async () => null,
      say: () => {},
      ...changes,
    };
  }
}

const deploys = ["ropeway", "ropeway-s01", "ropeway-s02", "ropeway-s03"].map((name) => `deploy --config=${name}`);
const LIST = "secret list --format=json --config=ropeway";
const hosts = { ROPEWAY_HOST: "ropeway.me.workers.dev", ROPEWAY_SLOT_HOSTS: "ropeway-s[01-03].me.workers.dev" };
const bulk = (secrets: object) => `secret bulk --config=ropeway < ${JSON.stringify(secrets)}`;

describe("deployAll", () => {
  it("makes edge and hosts, and tells the edge of them last", async () => {
    const account = new Account();
    const deployed = await deployAll(account.deployment());
    expect(deployed).toEqual({ url: "https://ropeway.me.workers.dev", key: "key-5" });
    expect(account.calls).toEqual([...deploys, LIST, bulk({ ...hosts, ROPEWAY_ACCESS_KEY: "key-5" })]);
  });

  it("tells the edge of the account's plan, and asks what it has been told of no more than that", async () => {
    const account = new Account();
    const plan = async (isTold: boolean) => (isTold ? null : "free");
    await deployAll(account.deployment({ plan }));
    expect(account.workers.get("ropeway")?.get("ROPEWAY_PLAN")).toBe("free");
    account.calls.length = 0;
    await deployAll(account.deployment({ plan }));
    expect(account.calls.at(-1)).toBe(bulk(hosts));
    expect(account.workers.get("ropeway")?.get("ROPEWAY_PLAN")).toBe("free");
    await deployAll(account.deployment({ plan: async () => "paid" }));
    expect(account.workers.get("ropeway")?.get("ROPEWAY_PLAN")).toBe("paid");
  });

  it("changes nothing when it is run again", async () => {
    const account = new Account();
    await deployAll(account.deployment());
    const before = structuredClone(account.workers);
    account.calls.length = 0;
    const deployed = await deployAll(account.deployment());
    expect(deployed.key).toBe("key-5");
    expect(account.calls).toEqual([...deploys, LIST, bulk(hosts)]);
    expect(account.workers).toEqual(before);
  });

  it.each([...deploys, LIST, "secret bulk --config=ropeway"])("goes on after %s had failed", async (failing) => {
    const account = new Account();
    account.failing = failing;
    await expect(deployAll(account.deployment())).rejects.toThrow("Cannot deploy");
    // No list names a host that is not there.
    expect(account.workers.get("ropeway")?.size ?? 0).toBe(0);
    expect(account.keptKey).toBeNull();
    account.failing = "";
    const { key } = await deployAll(account.deployment());
    expect(account.workers.get("ropeway")).toEqual(
      new Map(Object.entries({ ...hosts, ROPEWAY_ACCESS_KEY: key ?? "" })),
    );
    expect([...account.workers.keys()]).toHaveLength(4);
  });

  it("takes the list away where there are to be none, and with a name of one's own", async () => {
    for (const changes of [{ slots: 0 }, { host: "ropeway.example" }]) {
      const account = new Account();
      await deployAll(account.deployment());
      account.calls.length = 0;
      await deployAll(account.deployment(changes));
      expect(account.calls).toEqual([
        "deploy --config=ropeway",
        LIST,
        bulk({ ROPEWAY_HOST: null, ROPEWAY_SLOT_HOSTS: null }),
      ]);
    }
  });

  it("makes none where the edge has another name than the platform's", async () => {
    const account = new Account();
    account.domain = "people.example";
    await deployAll(account.deployment());
    expect(account.calls).toEqual(["deploy --config=ropeway", LIST, bulk({ ROPEWAY_ACCESS_KEY: "key-2" })]);
  });

  it("leaves a key alone that is not known here, and replaces it when told to", async () => {
    const account = new Account();
    await deployAll(account.deployment());
    account.keptKey = null;
    expect((await deployAll(account.deployment())).key).toBeNull();
    expect(account.keptKey).toBeNull();
    expect(account.workers.get("ropeway")?.get("ROPEWAY_ACCESS_KEY")).toBe("key-5");
    const { key } = await deployAll(account.deployment({ newKey: true }));
    expect(key).toBe(account.keptKey);
    expect(account.workers.get("ropeway")?.get("ROPEWAY_ACCESS_KEY")).toBe(key);
  });

  it("only says it, when dry", async () => {
    const account = new Account();
    const said: string[] = [];
    const say = (line: string) => void said.push(line);
    await deployAll(account.deployment({ platform: dryPlatform(account.wrangler, say), say }));
    expect(account.calls).toEqual(deploys.slice(0, 2).map((call) => call.replace("deploy", "deploy --dry-run")));
    expect(account.workers.size).toBe(0);
    expect(said).toEqual([
      "Would deploy the worker ropeway",
      "Would deploy 3 workers for pages, ropeway-s01 to ropeway-s03",
      "Would set the secret ROPEWAY_HOST of ropeway: ropeway.your-name.workers.dev",
      "Would set the secret ROPEWAY_SLOT_HOSTS of ropeway: ropeway-s[01-03].your-name.workers.dev",
      expect.stringMatching(/^Would set the secret ROPEWAY_ACCESS_KEY of ropeway: key-/),
    ]);
  });
});

describe("the account's plan", () => {
  it.each([
    ["y", "free"],
    [" Yes", "free"],
    ["n", "paid"],
    ["", "paid"],
  ])("is asked for where somebody can answer: %j", async (answer, plan) => {
    const [stdin, stdout] = [Object.assign(new PassThrough(), { isTTY: true }), new PassThrough()];
    const asked = askPlan({ stdin, stdout });
    stdin.write(`${answer}\n`);
    expect(await asked).toBe(plan);
    stdout.end();
    expect(await text(stdout)).toContain("Is the account on Cloudflare's free plan? [y/n]");
  });

  it("is asked for nowhere else", async () => {
    expect(await askPlan({ stdin: new PassThrough(), stdout: new PassThrough() })).toBeNull();
  });

  it("is as --plan has it", () => {
    expect([undefined, "free", "paid"].map(readPlanFlag)).toEqual([null, "free", "paid"]);
    expect(() => readPlanFlag("gold")).toThrow('the plan is "gold": --plan takes free or paid');
  });
});
