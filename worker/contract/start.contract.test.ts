/** `npm start` and `npm run smoke` as a person runs them, one after the other in one folder. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";
import { root } from "../../scripts/build/paths.ts";
import { freePort } from "../../scripts/local-edge/free-port.ts";
import { until } from "../testing/contract.ts";
import { pairPhone, TestPhone } from "../testing/test-phone.ts";
import { startLocalOrigin } from "../upstream/testing/local-origin.ts";

/** What a script of ours says, and all of it until now. */
class Script {
  readonly process: ChildProcess;
  said = "";

  constructor(name: string, args: readonly string[], settings: Record<string, string>) {
    const { PATH, HOME, TMPDIR, DENO_DIR } = process.env;
    this.process = spawn(process.execPath, [join(root, "scripts", name), ...args], {
      cwd: root,
      stdio: ["ignore", "pipe", "pipe"],
      env: { PATH, HOME, TMPDIR, DENO_DIR, ...settings },
    });
    for (const stream of [this.process.stdout, this.process.stderr])
      stream?.setEncoding("utf8").on("data", (text: string) => {
        this.said += text;
      });
    onTestFinished(() => this.end());
  }

  /** Once it has said so, or has ended. */
  async until(pattern: RegExp): Promise<void> {
    while (!pattern.test(this.said) && this.process.exitCode === null)
      await new Promise((next) => setTimeout(next, 50));
    expect(this.said).toMatch(pattern);
  }

  async end(): Promise<void> {
    if (this.process.exitCode !== null) return;
    const closed = new Promise((resolve) => this.process.once("close", resolve));
    this.process.kill("SIGTERM");
    await closed;
  }
}

describe.each(["workerd", "deno"])("npm start on %s", (runtime) => {
  async function start(settings: Record<string, string> = {}) {
    const state = await mkdtemp(join(tmpdir(), "ropeway-start-"));
    onTestFinished(() => rm(state, { recursive: true, force: true }));
    const port = await freePort("127.0.0.1");
    const ports = { ROPEWAY_PORT: String(port), ROPEWAY_DEMO_PORT: String(await freePort("127.0.0.1")) };
    const flags = runtime === "deno" ? ["--deno"] : [];
    return { state, port, edge: new Script("serve.ts", flags, { ROPEWAY_STATE: state, ...ports, ...settings }) };
  }

  it("is not ready with a key that pairs nobody, and says why, and the mend", async () => {
    const { edge } = await start({ ROPEWAY_ACCESS_KEY: "secret" });
    await edge.until(/not ready: no phone can be paired.*easy to guess.*openssl rand -hex 32/);
    expect(edge.said).not.toMatch(/is ready|#key=/);
    // Phones that are paired go on meanwhile.
    expect(edge.process.exitCode).toBeNull();
  });

  it("prints the address, and smoke takes the key that was kept", { timeout: 120_000 }, async () => {
    const { state, port, edge } = await start();
    await edge.until(/^Ropeway is ready: .*$/m);
    const key = (await readFile(join(state, "access-key"), "utf8")).trim();
    expect(edge.said).toContain(`Ropeway is ready: http://ropeway.localhost:${port}/#key=${key}\n`);
    const smoke = new Script("smoke.ts", [`http://localhost:${port}`], { ROPEWAY_STATE: state });
    await smoke.until(/^ok +\d+ pairing +one phone, for this test/m);
  });

  it("keeps all that it keeps for this account alone, and what was there before", { timeout: 120_000 }, async () => {
    const { origin, close } = await startLocalOrigin((_, response) => {
      response
        .writeHead(200, { "set-cookie": "session=secret; max-age=3600", "content-type": "text/html" })
        .end("well");
    });
    onTestFinished(close);
    const { state, port, edge } = await start({ ROPEWAY_ALLOW_PRIVATE: "1", ROPEWAY_ACCESS_KEY: "" });
    await mkdir(join(state, "state", "of-before"), { recursive: true });
    await writeFile(join(state, "state", "of-before", "cookies"), "secret");
    await writeFile(join(state, "deployed-access-key"), "secret");
    await promisify(execFile)("chmod", ["-R", "go=rX", state]);
    await edge.until(/^Ropeway is ready: .*$/m);
    const key = (await readFile(join(state, "access-key"), "utf8")).trim();
    const url = `http://localhost:${port}`;
    const phone = new TestPhone(url, await pairPhone(url, key));
    await phone.connect();
    await phone.fetch(origin);
    phone.close();
    // Cookies are stored when the last socket has gone.
    await until(async () => (await readdir(join(state, "state"), { recursive: true })).length > 3);
    await edge.end();

    const names = await readdir(state, { recursive: true });
    const modes = await Promise.all(
      ["", ...names].map(async (name) => {
        const found = await stat(join(state, name));
        const kind = found.isDirectory() ? "directory" : "file";
        return `${kind} ${(found.mode & 0o777).toString(8)}`;
      }),
    );
    expect(names).toEqual(expect.arrayContaining(["access-key", "state", join("state", "of-before", "cookies")]));
    expect(
      names.some((name) => /sqlite|deno\.kv/.test(name)),
      names.join(),
    ).toBe(true);
    expect(new Set(modes)).toEqual(new Set(["directory 700", "file 600"]));
  });
});
