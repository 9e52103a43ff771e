/** How commands are answered where nothing is installed yet, and by a Node that is too old. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { cp, mkdtemp, readFile, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { root } from "./build/paths.ts";
import { COMMANDS } from "./command-line.mjs";
import { warnOfSilence, whyNotInstalled } from "./install/bootstrap.mjs";

/** A clone that nothing was installed in. */
let clone = "";
beforeAll(async () => {
  clone = await mkdtemp(join(tmpdir(), "ropeway-clone-"));
  for (const name of ["scripts", "package.json", "package-lock.json"])
    await cp(join(root, name), join(clone, name), { recursive: true });
});
afterAll(() => rm(clone, { recursive: true, force: true }));

interface Ended {
  readonly code: unknown;
  readonly stdout: string;
  readonly stderr: string;
}

function run(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ended> {
  const { PATH, HOME } = process.env;
  return new Promise((resolve) => {
    execFile(process.execPath, [...args], { cwd: clone, env: { PATH, HOME, ...env } }, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, stdout, stderr }),
    );
  });
}

/** Has the process take itself for another Node. */
const asNode = (version: string): string[] => [
  "--import",
  `data:text/javascript,Object.defineProperty(process,"versions",{value:{...process.versions,node:"${version}"}})`,
];

const { scripts } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as {
  scripts: Record<string, string>;
};

describe("--help", () => {
  it.each([
    "start",
    "smoke",
    "deploy",
    "package",
    "test",
    "test:long",
    "test:repeat",
    "test:engines",
    "test:wpt",
    "way",
  ])("of npm run %s says what there is, with nothing installed", async (name) => {
    const [, file = "", ...args] = (scripts[name] ?? "").replace(/^exec /, "").split(" ");
    const { code, stdout, stderr } = await run([file, ...args, "--help"]);
    expect([code, stderr]).toEqual([0, ""]);
    const { options = {}, variables = [] } = COMMANDS[(name === "test:long" ? "test" : name) as "start"];
    for (const option of Object.keys(options)) expect(stdout).toContain(`--${option}`);
    for (const variable of variables) expect(stdout).toContain(variable);
    if (name === "test") for (const stage of ["unit", "e2e", "bench"]) expect(stdout).toMatch(`  ${stage} `);
    for (const line of stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(100);
  });

  it.each([[[]], [["start"]], [["smoke"]], [["deploy"]]])(
    "of npx ropeway, %j, does, too",
    async (command: string[]) => {
      const { code, stdout, stderr } = await run(["scripts/ropeway.mjs", ...command, "--help"]);
      expect([code, stderr]).toEqual([0, ""]);
      expect(stdout).toContain("--help");
      expect(stdout).toContain(command.length === 0 ? "smoke" : "ROPEWAY_STATE");
    },
  );

  it("names variables that docs/options.md has", async () => {
    const documented = await readFile(join(root, "docs", "options.md"), "utf8");
    for (const [name, command] of Object.entries(COMMANDS))
      for (const variable of "variables" in command ? command.variables : [])
        expect(documented, name).toContain(`\`${variable}\``);
  });
});

it("says in a sentence what a command does not take, before it installs anything", async () => {
  for (const name of ["start", "smoke", "deploy", "package"]) {
    const { code, stdout, stderr } = await run(["scripts/run.mjs", name, "--nothing-of-that-name"]);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toBe(`Cannot run ${name}: unknown option '--nothing-of-that-name'; --help lists what there is\n`);
  }
});

it("says of a Node that is too old which it needs, before anything else", async () => {
  for (const [version, oldest, args] of [
    ["20.20.2", 22, ["scripts/ropeway.mjs"]],
    ["18.1.0", 22, ["scripts/ropeway.mjs", "smoke", "https://ropeway.example"]],
    ["12.22.9", 22, ["scripts/ropeway.mjs", "deploy", "--dry-run"]],
    ["18.1.0", 20, ["scripts/run.mjs", "start"]],
    ["18.1.0", 20, ["scripts/test.mjs", "unit"]],
  ] as const) {
    const { code, stdout, stderr } = await run([...asNode(version), ...args]);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(
      new RegExp(`^Cannot run.*: this is Node ${version}, and it needs ${oldest} or newer .*\\n$`),
    );
  }
});

it("has a door whose words the oldest Node can read, and which loads nothing before it has looked", async () => {
  const door = await readFile(join(root, "scripts", "ropeway.mjs"), "utf8");
  expect(door).not.toMatch(/^import |\bawait\b|\?\?|\?\./m);
});

describe("a registry that cannot be reached", () => {
  it("is one sentence, soon", { timeout: 180_000 }, async () => {
    const cache = await mkdtemp(join(tmpdir(), "ropeway-npm-"));
    const env = { npm_config_registry: "http://127.0.0.1:1", npm_config_cache: cache };
    const { code, stdout, stderr } = await run(["scripts/run.mjs", "start"], env);
    await rm(cache, { recursive: true, force: true });
    expect([code, stdout]).toEqual([1, ""]);
    const [first = "", second = "", ...others] = stderr.trim().split("\n");
    expect(others).toEqual([]);
    expect(first).toMatch(/^Installing packages/);
    expect(second).toMatch(/^Cannot install packages: the registry of npm at 127\.0\.0\.1:1 cannot be reached/);
  });

  it("is named while nothing answers", async () => {
    // A process that sleeps takes no connection once its queue is full: the system drops what comes.
    const code =
      "require('node:net').createServer().listen({port:0,host:'127.0.0.1',backlog:1},function(){console.log(this.address().port)})";
    const server = spawn(process.execPath, ["-e", code], { stdio: ["ignore", "pipe", "inherit"] });
    onTestFinished(() => void server.kill("SIGKILL"));
    const port = Number(String((await once(server.stdout, "data"))[0]));
    server.kill("SIGSTOP");
    const queue = Array.from({ length: 4 }, () => connect(port, "127.0.0.1").on("error", () => {}));
    onTestFinished(() => {
      for (const socket of queue) socket.destroy();
    });
    await Promise.all(queue.slice(0, 2).map((socket) => once(socket, "connect")));

    for (const name of Object.keys(process.env)) if (/proxy$/i.test(name)) vi.stubEnv(name, undefined);
    vi.stubEnv("npm_config_registry", `http://127.0.0.1:${port}/`);
    const npm = Object.assign(new EventEmitter(), { exitCode: null }) as unknown as ChildProcess;
    const said = new Promise((resolve) => vi.spyOn(console, "error").mockImplementation(resolve));
    onTestFinished(() => {
      npm.emit("close");
      vi.restoreAllMocks();
      vi.unstubAllEnvs();
    });
    warnOfSilence(npm, clone, 200);
    expect(await said).toBe(`The registry of npm at 127.0.0.1:${port} does not answer yet …`);
  });

  it.each(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "ETIMEDOUT", "ECONNRESET", "ERR_SOCKET_TIMEOUT", "E503"])(
    "is known by %s",
    (code) => {
      const said = `npm error code ${code}\nnpm error FetchError: request to https://registry.example/idb failed\n    at x`;
      const why = whyNotInstalled(said);
      expect(why).toMatch(/^Cannot install packages: the registry of npm at registry\.example cannot be reached/);
      expect(why).not.toContain("\n");
    },
  );

  it("is told from one that nobody trusts, and from other troubles of npm", () => {
    expect(whyNotInstalled("npm error code SELF_SIGNED_CERT_IN_CHAIN")).toContain("NODE_EXTRA_CA_CERTS");
    expect(whyNotInstalled("npm error code EUSAGE\nnpm error the lock is out of sync")).toBe(
      "npm error code EUSAGE\nnpm error the lock is out of sync\nCannot install packages (see above)",
    );
  });
});
