import { type ChildProcess, execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { dist } from "../../scripts/build/paths.ts";
import type { Namespace } from "./namespace.ts";
import { requireProgram } from "./programs.ts";

const SOURCES = ["link.c", "link-direction.h", "link-flows.h"].map((name) => join(import.meta.dirname, name));

/** One end of a link: a TUN device in a namespace. */
export interface LinkEnd {
  readonly namespace: Namespace;
  readonly device: string;
}

/** A running link.c. */
export class LinkProcess {
  readonly #child: ChildProcess;
  readonly #answers: ((line: string) => void)[] = [];
  #complaint = "";
  #ended = false;
  readonly #end: Promise<void>;

  private constructor(child: ChildProcess) {
    this.#child = child;
    this.#end = new Promise((resolve) => {
      child.on("error", (error) => {
        this.#complaint += error.message;
      });
      child.on("close", () => {
        this.#ended = true;
        for (const answer of this.#answers.splice(0)) answer("");
        resolve();
      });
    });
    child.stdin?.on("error", () => {});
    child.stderr?.on("data", (data) => {
      this.#complaint += String(data);
    });
    if (child.stdout) createInterface(child.stdout).on("line", (line) => this.#answers.shift()?.(line));
  }

  /**
   * Compiles the link if need be, and starts it. Its devices are down and have no addresses yet.
   *
   * @param exempt an address whose packets pass without delay, loss or limit.
   */
  static async start(near: LinkEnd, far: LinkEnd, exempt?: string): Promise<LinkProcess> {
    const ends = [near.namespace.name, near.device, far.namespace.name, far.device];
    const child = spawn(await compileLink(), [...ends, ...(exempt === undefined ? [] : [exempt])], {
      stdio: ["pipe", "pipe", "pipe"],
    });
    const link = new LinkProcess(child);
    await link.#answer("start");
    return link;
  }

  /**
   * @returns what the link answered.
   * @throws Error with what the link complained of.
   */
  async command(line: string): Promise<unknown> {
    if (!this.#ended) this.#child.stdin?.write(`${line}\n`);
    return await this.#answer(line);
  }

  async close(): Promise<void> {
    this.#child.stdin?.end();
    await this.#end;
  }

  async #answer(purpose: string): Promise<unknown> {
    const line = this.#ended ? "" : await new Promise<string>((resolve) => this.#answers.push(resolve));
    if (line === "") throw new Error(`Cannot ${purpose}: the link has ended: ${this.#complaint.trim() || "no reason"}`);
    const answer = JSON.parse(line) as { readonly error?: string };
    if (answer.error !== undefined) throw new Error(`Cannot set the link: ${answer.error}`);
    return answer;
  }
}

/** @returns the path of the program, made once for each version of its source. */
async function compileLink(): Promise<string> {
  const hash = createHash("sha256");
  for (const source of SOURCES) hash.update(await readFile(source));
  const directory = join(dist, "lab");
  const program = join(directory, `link-${hash.digest("hex").slice(0, 16)}`);
  if (existsSync(program)) return program;
  await mkdir(directory, { recursive: true });
  const unfinished = `${program}.${process.pid}`;
  await promisify(execFile)(requireProgram("gcc"), ["-O2", "-Wall", "-o", unfinished, SOURCES[0] ?? ""]);
  await rename(unfinished, program);
  return program;
}
