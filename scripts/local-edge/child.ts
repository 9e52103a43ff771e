/** A child process that is started, watched and ended. */
import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { createInterface } from "node:readline";

/** Milliseconds. workerd drains its connections first, and an open tunnel never ends by itself. */
const STOP_TIMEOUT = 500;

export interface Child {
  readonly process: ChildProcess;
  readonly pid: number;
  /** Settles when the process has ended, with its exit code or signal and the last it said. */
  readonly exited: Promise<string>;
  /** Ends the process, at first politely. Settles when it is gone. */
  stop(): Promise<void>;
}

/**
 * What it makes is for this account's eyes alone.
 *
 * @throws Error when the program cannot be started.
 */
export async function startChild(
  program: string,
  args: readonly string[],
  options: SpawnOptions,
  log: (line: string) => void,
): Promise<Child> {
  const child = spawnPrivately(program, args, options);
  const said: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    if (stream === null) continue;
    createInterface({ input: stream }).on("line", (line) => {
      said.push(line);
      if (said.length > 20) said.shift();
      log(line);
    });
  }
  const exited = new Promise<string>((resolve) => {
    child.once("close", (code, signal) => resolve([`exit ${signal ?? code}`, ...said].join("\n")));
  });
  await new Promise<void>((resolve, reject) => {
    child.once("spawn", resolve);
    child.once("error", (cause) => reject(new Error(`Cannot start ${program}: ${cause.message}`, { cause })));
  });
  // A test run or a person that goes away takes the process along.
  const onParentExit = (): void => {
    child.kill("SIGKILL");
  };
  process.once("exit", onParentExit);
  void exited.then(() => process.off("exit", onParentExit));

  return {
    process: child,
    pid: child.pid ?? 0,
    exited,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill("SIGTERM");
      const timer = setTimeout(() => child.kill("SIGKILL"), STOP_TIMEOUT);
      await exited;
      clearTimeout(timer);
    },
  };
}

/** The mask goes to the child, which is there when `spawn` returns. */
function spawnPrivately(program: string, args: readonly string[], options: SpawnOptions): ChildProcess {
  const before = process.umask(0o077);
  try {
    return spawn(program, args, options);
  } finally {
    process.umask(before);
  }
}
