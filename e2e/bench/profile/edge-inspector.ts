/**
 * Profiles an edge through its inspector, from the network namespace that it is started in. The inspector's address is
 * the only argument. It takes lines, `start` and `stop FILE`, and answers each with a line.
 */
import { writeFile } from "node:fs/promises";
import { createInterface } from "node:readline";

interface Answer {
  readonly id?: number;
  readonly result?: { readonly profile?: unknown };
  readonly error?: { readonly message: string };
}

/** Microseconds. */
const SAMPLING_INTERVAL = 500;

/** A connection to one of the inspector's targets. */
class Inspector {
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  #nextId = 1;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener("message", ({ data }) => {
      const answer = JSON.parse(String(data)) as Answer;
      this.#waiting.get(answer.id ?? 0)?.(answer);
      this.#waiting.delete(answer.id ?? 0);
    });
  }

  static async open(address: string, service: string): Promise<Inspector> {
    const targets = (await (await fetch(`http://${address}/json`)).json()) as { webSocketDebuggerUrl: string }[];
    const target = targets.find(({ webSocketDebuggerUrl }) => webSocketDebuggerUrl.endsWith(service));
    if (target === undefined) throw new Error(`Cannot profile the edge: its inspector has no target "${service}"`);
    const socket = new WebSocket(target.webSocketDebuggerUrl);
    await new Promise((resolve, reject) => {
      socket.addEventListener("open", resolve, { once: true });
      socket.addEventListener("error", reject, { once: true });
    });
    return new Inspector(socket);
  }

  async call(method: string, params: Readonly<Record<string, unknown>> = {}): Promise<Answer["result"]> {
    const id = this.#nextId++;
    const answer = await new Promise<Answer>((resolve) => {
      this.#waiting.set(id, resolve);
      this.#socket.send(JSON.stringify({ id, method, params }));
    });
    if (answer.error !== undefined) throw new Error(`Cannot profile the edge: ${method}: ${answer.error.message}`);
    return answer.result;
  }
}

if (import.meta.main) {
  const inspector = await Inspector.open(process.argv[2] ?? "", "edge");
  await inspector.call("Profiler.enable");
  await inspector.call("Profiler.setSamplingInterval", { interval: SAMPLING_INTERVAL });
  console.log("ready");
  for await (const line of createInterface({ input: process.stdin })) {
    const [command, file] = line.split(" ");
    if (command === "start") await inspector.call("Profiler.start");
    else if (command === "stop" && file !== undefined) {
      const stopped = await inspector.call("Profiler.stop");
      await writeFile(file, JSON.stringify(stopped?.profile));
    }
    console.log("done");
  }
  process.exit(0);
}
