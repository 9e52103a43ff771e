/** A connection of the Chrome DevTools Protocol, which Chromium and Deno speak: https://chromedevtools.github.io/devtools-protocol/ */

interface Answer {
  readonly id?: number;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly message: string };
}

export class Cdp {
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

  /** @param url the target's webSocketDebuggerUrl. */
  static async open(url: string): Promise<Cdp> {
    const socket = new WebSocket(url);
    await new Promise((resolve, reject) => {
      socket.addEventListener("open", resolve, { once: true });
      socket.addEventListener("error", () => reject(new Error(`Cannot inspect: no answer from ${url}`)), {
        once: true,
      });
    });
    return new Cdp(socket);
  }

  /**
   * @param sessionId of a target that is attached with `flatten`; else the connection's own.
   * @throws Error with the other side's word of why.
   */
  async call<Result = unknown>(
    method: string,
    params: Readonly<Record<string, unknown>> = {},
    sessionId?: string,
  ): Promise<Result> {
    const id = this.#nextId++;
    const answer = await new Promise<Answer>((resolve) => {
      this.#waiting.set(id, resolve);
      this.#socket.send(JSON.stringify({ id, method, params, ...(sessionId === undefined ? {} : { sessionId }) }));
    });
    if (answer.error !== undefined) throw new Error(`Cannot inspect: ${method}: ${answer.error.message}`);
    return answer.result as Result;
  }

  close(): void {
    this.#socket.close();
  }
}
