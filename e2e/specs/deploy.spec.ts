/** `npm run deploy` by wrangler itself, against what stands in for the platform's API. */
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "@playwright/test";
import { root } from "../../scripts/build/paths.ts";
import { builtSlotFiles } from "../../scripts/deploy/slot-files.ts";
import { type CloudflareAccount, startCloudflareAccount } from "../fixtures/cloudflare-account.ts";

const BASE = "https://ropeway.me.workers.dev";
/** Not each request: its fields hold tokens and addresses of pages. */
const LOGGED = { enabled: true, logs: { invocation_logs: false } };
const LIST = "ropeway-s[01-02].me.workers.dev";

test("deploys edge and hosts, again and again, and only says so when dry @long", async () => {
  test.setTimeout(480_000);
  const state = await mkdtemp(join(tmpdir(), "ropeway-deploy-"));
  const account = await startCloudflareAccount("me");
  try {
    const dry = await deploy(account, state, "--dry-run");
    expect(account.calls).toEqual([]);
    expect(dry).toContain("Would deploy 2 workers for pages, ropeway-s01 to ropeway-s02");
    expect(dry).toContain("Would set the secret ROPEWAY_SLOT_HOSTS of ropeway: ropeway-s[01-02].");

    const first = await deploy(account, state);
    expect(first).toContain(`Ropeway is ready: ${BASE}/#key=`);
    expect([...account.workers.keys()]).toEqual(["ropeway", "ropeway-s01", "ropeway-s02"]);
    const { metadata, secrets } = account.workers.get("ropeway") ?? {};
    expect(metadata?.main_module).toBeDefined();
    expect(Object.fromEntries(secrets ?? [])).toEqual({
      ROPEWAY_HOST: "ropeway.me.workers.dev",
      ROPEWAY_SLOT_HOSTS: LIST,
      ROPEWAY_ACCESS_KEY: /#key=(\S+)/.exec(first)?.[1],
    });
    expect(account.workers.get("ropeway")?.observability).toEqual(LOGGED);
    const files = await builtSlotFiles(BASE, LIST);
    const headers = new TextDecoder().decode(files.get("_headers"));
    files.delete("_headers");
    for (const name of ["ropeway-s01", "ropeway-s02"]) {
      const worker = account.workers.get(name);
      const wanted = new Map([...files].map(([path, text]) => [`/${path}`, new TextDecoder().decode(text)]));
      expect(worker?.files).toEqual(wanted);
      expect(worker?.isOnWorkersDev).toBe(true);
      expect(worker?.metadata.main_module).toBeUndefined();
      expect(worker?.metadata.assets.config).toMatchObject({
        html_handling: "none",
        not_found_handling: "404-page",
        _headers: headers,
      });
    }

    const secretsBefore = new Map(secrets);
    const second = await deploy(account, state);
    expect(second).toContain(/Ropeway is ready: \S+/.exec(first)?.[0]);
    expect(account.workers.get("ropeway")?.secrets).toEqual(secretsBefore);
    expect(account.workers.get("ropeway")?.observability).toEqual(LOGGED);
    expect(account.workers.size).toBe(3);
    expect(account.faults).toEqual([]);
  } finally {
    await account.close();
    await rm(state, { recursive: true, force: true });
  }
});

/** @returns what it says. */
async function deploy({ url, token, id }: CloudflareAccount, state: string, ...flags: string[]): Promise<string> {
  const run = promisify(execFile)("node", [join(root, "scripts", "deploy.ts"), "--slots=2", ...flags], {
    env: {
      ...process.env,
      CI: "1",
      ROPEWAY_STATE: state,
      CLOUDFLARE_API_BASE_URL: url,
      CLOUDFLARE_API_TOKEN: token,
      CLOUDFLARE_ACCOUNT_ID: id,
      WRANGLER_SEND_METRICS: "false",
    },
  });
  // Nobody is there to be asked.
  run.child.stdin?.end();
  return (await run).stdout;
}
