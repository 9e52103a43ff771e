/** `npm start` and `npm run smoke` as a person runs them, one after the other in one folder. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { root } from "../../scripts/build/paths.ts";
import { freePort } from "../../scripts/local-edge/free-port.ts";

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
});
