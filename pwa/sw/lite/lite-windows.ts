/** What the worker asks of the app's windows, which outlive it: where frames may go, and ports to their tunnels. */
import { BoundedMap } from "../../../shared/bounded-map.ts";
import type { LiteAnswer, LiteOutcome, LiteQuestion } from "../../messages/lite-messages.ts";
import { TunnelPort } from "../tunnel-port.ts";

declare const self: ServiceWorkerGlobalScope;

/** Milliseconds: windows answer at once. */
const PATIENCE = 3_000;
/** Documents whose port is remembered. */
const DOCUMENTS_KNOWN = 64;

/** A window lets a page into its frame. */
export interface Leave {
  readonly port: TunnelPort;
  tell(outcome: LiteOutcome): void;
}

export class LiteWindows {
  /** By the id of the document's client. */
  readonly #ports = new BoundedMap<string, TunnelPort>(DOCUMENTS_KNOWN);

  /** @returns null where the frame is to stay. */
  async leaveFor(question: LiteQuestion & { type: "lite-navigation" }): Promise<Leave | null> {
    const answers = await this.#ask(question);
    const go = answers.find(({ port }) => port !== null);
    if (go === undefined || go.port === null) return null;
    return { port: go.port, tell: (outcome) => go.window.postMessage(outcome) };
  }

  remember(clientId: string, port: TunnelPort): void {
    if (clientId !== "") this.#ports.set(clientId, port);
  }

  /** @param origin of the document. */
  async portOf(clientId: string, origin: string): Promise<TunnelPort | null> {
    const known = this.#ports.get(clientId);
    if (known?.isDead === false) return known;
    const port = (await this.#ask({ type: "lite-port-wanted", origin })).find((answer) => answer.port !== null)?.port;
    if (port === undefined || port === null) return null;
    this.remember(clientId, port);
    return port;
  }

  /** @returns the answer of each window; one alone, where that takes it upon itself. */
  async #ask(question: LiteQuestion): Promise<{ readonly window: Client; readonly port: TunnelPort | null }[]> {
    const all = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
    const windows = all.filter(({ frameType }) => frameType === "top-level");
    return new Promise((resolve) => {
      const answers: { window: Client; port: TunnelPort | null }[] = [];
      if (windows.length === 0) resolve(answers);
      setTimeout(() => resolve(answers), PATIENCE);
      for (const window of windows) {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = ({ data, ports }: MessageEvent<LiteAnswer>) => {
          const [port] = ports;
          const answer = { window, port: port === undefined ? null : new TunnelPort(port, () => {}) };
          answers.push(answer);
          if (data.type !== "not-mine") resolve([answer]);
          else if (answers.length === windows.length) resolve(answers);
        };
        window.postMessage(question, [port2]);
      }
    });
  }
}
