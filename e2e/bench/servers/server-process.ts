import type { ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";
import { HarnessError } from "../failure.ts";

export interface ServerProcess {
  /** The line that said it was ready. */
  readonly readyLine: string;
  /** Ends it, at first politely. */
  close(): Promise<void>;
}

const LAST_LINES = 10;

/** Milliseconds. */
const START_TIMEOUT = 60_000;
const STOP_TIMEOUT = 2_000;

/**
 * Waits until a server says that it is ready.
 *
 * @throws HarnessError with the last that it said, if it ends before.
 */
export async function startServer(options: {
  readonly name: string;
  readonly child: ChildProcess;
  readonly readyLine: RegExp;
}): Promise<ServerProcess> {
  const { name, child, readyLine } = options;
  const said: string[] = [];
  const ended = new Promise<void>((resolve) => {
    child.once("error", (error) => {
      said.push(error.message);
      resolve();
    });
    child.once("close", () => resolve());
  });
  const ready = new Promise<string>((resolve) => {
    for (const stream of [child.stdout, child.stderr]) {
      if (stream === null) continue;
      createInterface({ input: stream }).on("line", (line) => {
        said.push(line);
        if (said.length > LAST_LINES) said.shift();
        if (readyLine.test(line)) resolve(line);
      });
    }
  });
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, START_TIMEOUT);
  });
  const close = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGTERM");
    const kill = setTimeout(() => child.kill("SIGKILL"), STOP_TIMEOUT);
    await ended;
    clearTimeout(kill);
  };
  const line = await Promise.race([ready, ended, late]);
  clearTimeout(timer);
  if (line === undefined) {
    await close();
    throw new HarnessError(`Cannot start ${name}:\n${said.join("\n")}`);
  }
  return { readyLine: line, close };
}
