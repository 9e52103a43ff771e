/** Asks a client and a server in processes of their own, and what these say to each other. */
import type { ChildProcess, SpawnOptions } from "node:child_process";
import { join } from "node:path";
import { createInterface, type Interface } from "node:readline";
import { HarnessError } from "../failure.ts";
import type { Carrier } from "./carriers.ts";

export const HANDSHAKES = ["tcp", "tls", "websocket", "websocketTls"] as const;

export type Handshake = (typeof HANDSHAKES)[number];

/** Where the server listens. */
export type ProbePorts = Readonly<Record<Handshake | Carrier, number>>;

export type ProbeTask =
  | { readonly measure: "handshake"; readonly handshake: Handshake; readonly count: number }
  | { readonly measure: "handshakeBytes"; readonly handshake: Handshake; readonly direction: "up" | "down" }
  | {
      /** "down": the server sends, "up": the client. */
      readonly measure: "echo" | "down" | "up";
      readonly carrier: Carrier;
      readonly payload: number;
      readonly count: number;
    };

/** A line to the client. */
export interface ProbeQuestion {
  readonly address: string;
  readonly ports: ProbePorts;
  readonly task: ProbeTask;
}

/** A line from the client: milliseconds (median of the count), Mbit/s, or bytes. */
export type ProbeAnswer = { readonly value: number } | { readonly error: string };

/** Starts a program somewhere: on this machine, or in a namespace. */
export type Spawn = (argv: readonly string[], options: SpawnOptions) => ChildProcess;

export interface ProberOptions {
  readonly server: Spawn;
  readonly client: Spawn;
  /** Where the server listens. */
  readonly address: string;
}

interface Conversation {
  readonly child: ChildProcess;
  readonly lines: AsyncIterator<string>;
  readonly reader: Interface;
}

/**
 * A client and a server in processes of their own. They start with the first measurement, do not keep this process
 * alive between two, and end with it.
 */
export class Prober {
  readonly #options: ProberOptions;
  #started: Promise<{ client: Conversation; server: Conversation; ports: ProbePorts }> | null = null;

  constructor(options: ProberOptions) {
    this.#options = options;
  }

  /** One at a time. @returns as `ProbeAnswer`. @throws HarnessError when a process is gone. */
  async measure(task: ProbeTask): Promise<number> {
    this.#started ??= this.#start();
    const { client, ports } = await this.#started;
    const question: ProbeQuestion = { address: this.#options.address, ports, task };
    hold(client, true);
    client.child.stdin?.write(`${JSON.stringify(question)}\n`);
    const answer = JSON.parse(await nextLine(client, "the client")) as ProbeAnswer;
    hold(client, false);
    if ("error" in answer) throw new HarnessError(`Cannot measure ${task.measure}: ${answer.error}`);
    return answer.value;
  }

  async #start(): Promise<{ client: Conversation; server: Conversation; ports: ProbePorts }> {
    const server = converse(this.#options.server, ["probe-server.ts", this.#options.address]);
    const client = converse(this.#options.client, ["probe-client.ts"]);
    try {
      const ports = JSON.parse(await nextLine(server, "the server")) as ProbePorts;
      hold(server, false);
      return { client, server, ports };
    } catch (error) {
      end([client, server]);
      throw error;
    }
  }
}

function converse(spawn: Spawn, [program = "", ...rest]: readonly string[]): Conversation {
  const argv = [process.execPath, join(import.meta.dirname, program), ...rest];
  const child = spawn(argv, { stdio: ["pipe", "pipe", "inherit"] });
  child.on("error", () => {});
  child.stdin?.on("error", () => {});
  if (child.stdout === null) throw new HarnessError(`Cannot start ${program}: it has no standard output`);
  const reader = createInterface({ input: child.stdout });
  return { child, reader, lines: reader[Symbol.asyncIterator]() };
}

function end(conversations: readonly Conversation[]): void {
  for (const { child, reader } of conversations) {
    reader.close();
    child.stdin?.end();
    child.kill();
  }
}

async function nextLine({ lines }: Conversation, name: string): Promise<string> {
  const line = await lines.next();
  if (line.done) throw new HarnessError(`Cannot measure: ${name} of the probe has ended`);
  return line.value;
}

/** Whether this process waits for the other one before it ends. Pipes of children can be let go, which types omit. */
function hold({ child }: Conversation, held: boolean): void {
  for (const part of [child, child.stdin, child.stdout] as (Partial<Record<"ref" | "unref", () => void>> | null)[]) {
    part?.[held ? "ref" : "unref"]?.();
  }
}
