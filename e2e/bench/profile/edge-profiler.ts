import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface, type Interface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { Lab } from "../../lab/lab.ts";
import { type ServerProcess, startServer } from "../servers/server-process.ts";
import type { CpuProfile } from "./cpu-profile.ts";

/** Where the edge's inspector listens, in the edge's namespace. */
export const INSPECTOR = "127.0.0.1:9229";

/** Starts and stops the edge's CPU profiler. */
export class EdgeProfiler {
  readonly #server: ServerProcess;
  readonly #stdin: NodeJS.WritableStream;
  readonly #lines: AsyncIterator<string>;
  readonly #file: string;

  private constructor(server: ServerProcess, stdin: NodeJS.WritableStream, lines: Interface, directory: string) {
    this.#server = server;
    this.#stdin = stdin;
    this.#lines = lines[Symbol.asyncIterator]();
    this.#file = join(directory, "edge.cpuprofile");
  }

  /** @throws HarnessError when the edge's inspector does not answer. */
  static async open(lab: Pick<Lab, "edge">, directory: string): Promise<EdgeProfiler> {
    const program = fileURLToPath(new URL("./edge-inspector.ts", import.meta.url));
    const child = lab.edge.spawn([process.execPath, program, INSPECTOR], { stdio: ["pipe", "pipe", "pipe"] });
    const server = await startServer({ name: "the edge's profiler", child, readyLine: /^ready$/ });
    if (child.stdin === null || child.stdout === null) throw new Error("Cannot profile the edge: its profiler is deaf");
    return new EdgeProfiler(server, child.stdin, createInterface({ input: child.stdout }), directory);
  }

  async start(): Promise<void> {
    await this.#say("start");
  }

  async stop(): Promise<CpuProfile> {
    await this.#say(`stop ${this.#file}`);
    return JSON.parse(await readFile(this.#file, "utf8")) as CpuProfile;
  }

  close(): Promise<void> {
    return this.#server.close();
  }

  async #say(line: string): Promise<void> {
    this.#stdin.write(`${line}\n`);
    await this.#lines.next();
  }
}
