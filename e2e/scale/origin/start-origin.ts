import type { ChildProcess } from "node:child_process";
import { join } from "node:path";
import { startServer } from "../../bench/servers/server-process.ts";

export interface ScaleOrigin {
  readonly port: number;
  close(): Promise<void>;
}

const PROGRAM = join(import.meta.dirname, "origin-process.ts");

/**
 * Starts the origin as a process of its own.
 *
 * @param start runs `argv`, with its output to be read.
 */
export async function startOrigin(
  start: (argv: readonly [string, ...string[]]) => ChildProcess,
  ip = "127.0.0.1",
  port = 0,
): Promise<ScaleOrigin> {
  const child = start([process.execPath, PROGRAM, ip, String(port)]);
  // Whoever goes away takes it along.
  const onExit = (): void => void child.kill("SIGKILL");
  process.once("exit", onExit);
  const server = await startServer({ name: "the origin", child, readyLine: /^\{"port":/ });
  const ready = JSON.parse(server.readyLine) as { port: number };
  const close = async (): Promise<void> => {
    await server.close();
    process.off("exit", onExit);
  };
  return { port: ready.port, close };
}
