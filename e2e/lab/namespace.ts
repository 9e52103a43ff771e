import { type ChildProcess, execFile, type SpawnOptions, spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";
import { requireProgram } from "./programs.ts";

const execute = promisify(execFile);

/** Names begin with this and the process that made them, so what a killed run left can be told and removed. */
const PREFIX = "ropeway";

/** `ip netns exec` lays the files of a directory here over those of /etc. */
const OVERLAYS = "/etc/netns";

/** How long processes may take to end before they are killed. */
const GRACE = 2_000;

/** Every connection starts with what TCP knows by itself, and every machine's sockets have the same room. */
const SYSTEM_SETTINGS: Readonly<Record<string, string>> = {
  "net/ipv6/conf/all/disable_ipv6": "1",
  "net/ipv6/conf/default/disable_ipv6": "1",
  "net/ipv4/tcp_no_metrics_save": "1",
  "net/ipv4/tcp_rmem": "4096 131072 33554432",
  "net/ipv4/tcp_wmem": "4096 16384 16777216",
  "net/ipv4/conf/all/rp_filter": "0",
  "net/ipv4/conf/default/rp_filter": "0",
  "net/ipv4/ip_unprivileged_port_start": "0",
};

const open = new Set<Namespace>();
let watching = false;

/** A network namespace of this process. Gone, with all that runs in it, when it is closed or the process ends. */
export class Namespace {
  readonly name: string;

  private constructor(name: string) {
    this.name = name;
  }

  /**
   * @param role last part of the name, such as "phone".
   * @param resolver address of the name server that programs in it ask.
   */
  static async create(role: string, resolver: string): Promise<Namespace> {
    const namespace = new Namespace(`${PREFIX}-${process.pid}-${randomBytes(3).toString("hex")}-${role}`);
    removeOnExit();
    open.add(namespace);
    const overlay = join(OVERLAYS, namespace.name);
    mkdirSync(overlay, { recursive: true });
    const files = {
      "resolv.conf": `nameserver ${resolver}\n`,
      hosts: "127.0.0.1 localhost\n",
      // Other sources of names (mDNS, systemd-resolved) are reached past the namespace.
      "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
    };
    for (const [file, text] of Object.entries(files)) {
      if (existsSync(join("/etc", file))) writeFileSync(join(overlay, file), text);
    }
    await execute(requireProgram("ip"), ["netns", "add", namespace.name]);
    await namespace.ip(["link set lo up", "tcp_metrics flush"]);
    const script = Object.entries(SYSTEM_SETTINGS).map(
      ([key, value]) => `[ ! -e /proc/sys/${key} ] || echo "${value}" > /proc/sys/${key}`,
    );
    await namespace.run(["sh", "-ec", script.join("\n")]);
    return namespace;
  }

  /** What to start so that `argv` runs in here. */
  command(argv: readonly string[]): readonly [string, ...string[]] {
    return [requireProgram("ip"), "netns", "exec", this.name, ...argv];
  }

  spawn(argv: readonly string[], options: SpawnOptions = {}): ChildProcess {
    const [program, ...rest] = this.command(argv);
    return spawn(program, rest, options);
  }

  /**
   * Runs to the end.
   *
   * @returns the standard output.
   * @throws Error with the standard error if it fails.
   */
  async run(argv: readonly string[]): Promise<string> {
    const [program, ...rest] = this.command(argv);
    return await execute(program, rest, { maxBuffer: 64 * 1024 * 1024 }).then(
      ({ stdout }) => stdout,
      (error: Error & { stderr?: string }) => {
        throw new Error(`Cannot run ${argv[0]} in ${this.name}: ${error.stderr?.trim() || error.message}`);
      },
    );
  }

  /** Runs lines of `ip`'s own language, all or up to the first that fails. */
  async ip(lines: readonly string[]): Promise<void> {
    const child = spawn(requireProgram("ip"), ["-n", this.name, "-batch", "-"], { stdio: ["pipe", "ignore", "pipe"] });
    let complaint = "";
    child.stderr.on("data", (data) => {
      complaint += String(data);
    });
    child.stdin.on("error", () => {});
    child.stdin.end(`${lines.join("\n")}\n`);
    const code = await new Promise((resolve, reject) => child.on("error", reject).on("close", resolve));
    if (code !== 0) throw new Error(`Cannot set up ${this.name}: ${complaint.trim()}`);
  }

  /** Ends what runs in here, politely first, and removes it. */
  async close(): Promise<void> {
    if (!open.has(this)) return;
    for (const pid of processesIn(this.name)) signal(pid, "SIGTERM");
    for (const end = Date.now() + GRACE; processesIn(this.name).length > 0 && Date.now() < end; ) await wait(20);
    this.remove();
  }

  /** As `close`, at once and without asking. */
  remove(): void {
    open.delete(this);
    removeByName(this.name);
  }
}

/** Removes namespaces whose process was killed before it could. */
export function removeLeftovers(): void {
  const names = new Set(["/run/netns", OVERLAYS].flatMap((path) => (existsSync(path) ? readdirSync(path) : [])));
  for (const name of names) {
    const [, pid] = new RegExp(`^${PREFIX}-(\\d+)-[0-9a-f]+-[a-z]+$`).exec(name) ?? [];
    if (pid !== undefined && !existsSync(`/proc/${pid}`)) removeByName(name);
  }
}

function removeByName(name: string): void {
  for (const pid of processesIn(name)) signal(pid, "SIGKILL");
  spawnSync(requireProgram("ip"), ["netns", "delete", name], { stdio: "ignore" });
  rmSync(join(OVERLAYS, name), { recursive: true, force: true });
}

function processesIn(name: string): number[] {
  const { stdout } = spawnSync(requireProgram("ip"), ["netns", "pids", name], { encoding: "utf8" });
  return (stdout ?? "").split("\n").filter(Boolean).map(Number);
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended by itself.
  }
}

/** A signal still ends the process as it would have, unless somebody else listens for it too. */
function removeOnExit(): void {
  if (watching) return;
  watching = true;
  const removeAll = (): void => {
    for (const namespace of open) namespace.remove();
  };
  process.on("exit", removeAll);
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.once(name, () => {
      removeAll();
      if (process.listenerCount(name) === 0) process.kill(process.pid, name);
    });
  }
}
