/** A phone without a browser: the app's own tunnel over Node's sockets, and a person who reads one page after the other. */

import { setTimeout as wait } from "node:timers/promises";
import { crc32 } from "node:zlib";
import { WebSocket as NodeSocket } from "ws";
import type { SocketPlatform } from "../../../pwa/tunnel/sockets/first-socket.ts";
import { Tunnel } from "../../../pwa/tunnel/tunnel.ts";
import { monotonicClock } from "../../../shared/clock.ts";
import type { ResponseConsumer } from "../../../shared/http/exchange.ts";
import type { RequestHead, ResponseHead } from "../../../shared/http/heads.ts";
import { withDefaultAccept } from "../../../shared/http/phone-fields.ts";
import { dialWebSocket } from "../../../shared/phone-socket.ts";
import { KEEP_ALIVE } from "../../../shared/subprotocol.ts";
import { seededRandom } from "../../demo/random.ts";
import { CHECK_FIELD, PATHS } from "../origin/paths.ts";
import type { PhoneTally } from "./tally.ts";
import type { Behaviour } from "./task.ts";

/** Milliseconds after a page's start within which its link may be cut. */
const CUT_WITHIN = 300;
const FORM_BYTES = 2_000;

export class Phone {
  /** That the edge answered. */
  keepAlives = 0;

  readonly #origin: string;
  readonly #tally: PhoneTally;
  readonly #random: () => number;
  readonly #tunnel: Tunnel;
  /** Of all channels. */
  #sockets = new Set<NodeSocket>();
  readonly #rest = new AbortController();

  /** @param seed of all that the person does. */
  constructor(
    edge: { readonly url: string; readonly token: string; readonly channels: number | null },
    origin: string,
    seed: number,
    tally: PhoneTally,
  ) {
    this.#origin = origin;
    this.#tally = tally;
    this.#random = seededRandom(seed);
    const open = (url: string, protocols: string[]) => this.#open(url, protocols);
    const platform: SocketPlatform = {
      dial: (offer, listener) => dialWebSocket(offer, listener, open),
      dialFurther: (offer, listener) => dialWebSocket(offer, listener, open),
      random: this.#random,
      ...monotonicClock,
      probe: async () => "reachable",
    };
    this.#tunnel = new Tunnel({ onPhase() {}, onTraffic() {} }, platform);
    this.#tunnel.introduce({ userAgent: "Mozilla/5.0 (Linux; Android 10; K) Chrome/140.0.0.0", acceptLanguage: "en" });
    this.#tunnel.takePushes("http");
    this.#tunnel.setExperiment(edge.channels === null ? {} : { channels: edge.channels });
    this.#tunnel.start(edge.url, edge.token);
  }

  /** One small request. */
  async touch(): Promise<void> {
    await this.#fetch(this.#head(PATHS.small));
  }

  /** Reads pages until `rest`, the first after part of the time that people think. */
  async read(behaviour: Behaviour): Promise<void> {
    const { signal } = this.#rest;
    const think = (share: number): Promise<void> =>
      wait(share * behaviour.think, undefined, { signal }).catch(() => {});
    await think(this.#random());
    while (!signal.aborted) {
      await this.visit(behaviour);
      await think(0.5 + this.#random());
    }
  }

  /** No page is begun after this, ever. */
  rest(): void {
    this.#rest.abort();
  }

  async visit({ cuts, downloads, forms, downloadBytes }: Behaviour): Promise<void> {
    this.#tunnel.leavePage();
    const isCut = this.#random() < cuts;
    if (isCut) void wait(this.#random() * CUT_WITHIN).then(() => this.cut());
    const name = `${Math.floor(this.#random() * 1e6)}`;
    const document = await this.#fetch({ ...this.#head(PATHS.page + name, "GET", "document"), mode: "navigate" });
    const resources = [...document.matchAll(/src="([^"]+)"/g)].map(([, path]) => path ?? "");
    const requests = resources.map((path) => {
      const destination = path.endsWith("js") ? "script" : "image";
      return this.#fetch({ ...this.#head(path, "GET", destination), mode: "no-cors" });
    });
    if (this.#random() < forms) requests.push(this.#fetch(this.#head(PATHS.form, "POST"), form(FORM_BYTES)));
    await Promise.all(requests);
    if (this.#random() < downloads) await this.#fetch(this.#head(`${PATHS.large}${downloadBytes}`), null, "large");
  }

  /** The network is gone without a word, and back at once. */
  cut(): void {
    if (!this.isLinked) return;
    this.#tally.cuts += 1;
    for (const socket of this.#sockets) socket.terminate();
  }

  get sessions(): number {
    return this.#tunnel.stats().sessions;
  }

  get resumes(): number {
    return this.#tunnel.stats().resumes;
  }

  /** Bytes of messages that are no keep-alives, both ways. */
  get frameBytes(): number {
    const { linkBytesUp, linkBytesDown } = this.#tunnel.stats();
    return linkBytesUp + linkBytesDown - 2 * KEEP_ALIVE.length * this.keepAlives;
  }

  get isLinked(): boolean {
    return [...this.#sockets].some(({ readyState }) => readyState === NodeSocket.OPEN);
  }

  #open(url: string, protocols: string[]): WebSocket {
    const socket = new NodeSocket(url, protocols, { perMessageDeflate: false });
    socket.onerror = () => {};
    socket.on("message", (_, isBinary) => {
      if (!isBinary) this.keepAlives += 1;
    });
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
    return socket as unknown as WebSocket;
  }

  /** With the accept of a browser: without it nothing that is pushed answers the request. */
  #head(path: string, method = "GET", destination: RequestHead["destination"] = ""): RequestHead {
    return {
      method,
      url: this.#origin + path,
      headers: withDefaultAccept([], destination),
      destination,
      mode: "cors",
      credentials: "include",
      redirect: "follow",
      referrer: "",
      origin: this.#origin,
      topLevelOrigin: this.#origin,
    };
  }

  /** @returns the body's text, empty where it failed; what came of it is tallied. */
  #fetch(head: RequestHead, body: Uint8Array | null = null, size: "small" | "large" = "small"): Promise<string> {
    const startedAt = performance.now();
    const chunks: Uint8Array[] = [];
    let response: ResponseHead | null = null;
    let bytes = 0;
    let check = 0;
    return new Promise((resolve) => {
      const over = (failure: string | null): void => {
        this.#tally.add(size, performance.now() - startedAt, bytes, failure);
        resolve(failure === null ? new TextDecoder().decode(Buffer.concat(chunks)) : "");
      };
      const stream = body === null ? null : new Blob([body as Uint8Array<ArrayBuffer>]).stream();
      const consumer: ResponseConsumer = {
        onHead: (answer) => {
          response = answer;
        },
        onBody: (chunk) => {
          bytes += chunk.length;
          check = crc32(chunk, check);
          if (head.destination === "document") chunks.push(chunk.slice());
          return undefined;
        },
        onEnd: () => over(faultOf(response, check)),
        onError: (error) => over(error.message),
      };
      this.#tunnel.ask({ head, body: stream, push: null }, consumer);
    });
  }
}

function faultOf(head: ResponseHead | null, check: number): string | null {
  if (head?.status !== 200) return `status ${head?.status}`;
  const expected = head.headers.find(([name]) => name === CHECK_FIELD)?.[1];
  return expected === String(check) ? null : "wrong bytes";
}

function form(length: number): Uint8Array {
  return new Uint8Array(length).fill(97);
}
