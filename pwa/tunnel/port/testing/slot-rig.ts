import { onTestFinished } from "vitest";
import { setTimer } from "../../../../shared/clock.ts";
import type { ResponseConsumer } from "../../../../shared/http/exchange.ts";
import type { RequestHead } from "../../../../shared/http/heads.ts";
import { fetchHead } from "../../../../shared/testing/http/request-heads.ts";
import { settle } from "../../../../shared/testing/turns.ts";
import {
  HELD_RESPONSE_TIME,
  type PortRequestHead,
  type PortToTunnel,
  type SilentDocument,
  type SlotBinding,
  type TunnelToPort,
} from "../../../messages/port-messages.ts";
import { type Ask, askInOrder } from "../../exchange/exchange.ts";
import { HeldResponses, heldNavigations } from "../../requests/held-responses.ts";
import { FrameStarts, type OfferedFile, PageStarts, SlotPort } from "../slot-port.ts";

export const ORIGIN = "https://a.example";
export const URL_A = `${ORIGIN}/page`;
export const OTHER = "https://b.example";
export const TOP_LEVEL: SlotBinding = { origin: ORIGIN, topLevelOrigin: ORIGIN, topLevel: true };
export const FRAME: SlotBinding = { origin: ORIGIN, topLevelOrigin: "https://top.example", topLevel: false };

export const subresource: PortRequestHead = { ...fetchHead, url: URL_A };
export const navigation: PortRequestHead = { ...subresource, mode: "navigate", destination: "document" };

export interface HostRequest {
  readonly head: RequestHead;
  readonly body: ReadableStream<Uint8Array> | null;
  readonly consumer: ResponseConsumer;
  cancelled: boolean;
}

/**
 * A slot port whose slot is played by the test, and whose tunnel writes down what it is asked.
 *
 * @param answer the tunnel's own answers, where it gives any.
 */
export function slotRig(binding: SlotBinding = TOP_LEVEL, answer?: Ask) {
  const { port1, port2 } = new MessageChannel();
  onTestFinished(() => {
    port1.close();
    port2.close();
  });
  const requests: HostRequest[] = [];
  const received: TunnelToPort[] = [];
  const moved: string[] = [];
  const noDocuments: unknown[] = [];
  const silentDocuments: SilentDocument[] = [];
  const brokenDocuments: unknown[] = [];
  const failedDocuments: unknown[] = [];
  const keptFrom = new Set<string>();
  const held = new HeldResponses({ setTimer: () => () => {} }, HELD_RESPONSE_TIME);
  const network: Ask = ({ head, body }, consumer) => {
    const request: HostRequest = { head, body, consumer, cancelled: false };
    requests.push(request);
    return {
      cancel: () => {
        request.cancelled = true;
      },
    };
  };
  const frameStarts = new FrameStarts();
  const pageStarts = new PageStarts();
  const wishes = { savesData: false };
  const files: OfferedFile[] = [];
  const ports = new Set<SlotPort>();
  port2.onmessage = (event: MessageEvent<readonly TunnelToPort[]>) => received.push(...event.data);
  new SlotPort(port1, binding, {
    ask: askInOrder([heldNavigations(held)], answer ?? network),
    held,
    frameStarts,
    pageStarts,
    onSocket: () => {},
    onNavigationMoved: (id, url) => moved.push(`${id} ${url}`),
    onNoDocument: (document) => noDocuments.push(document),
    isPageKept: (url) => keptFrom.has(url),
    onDocumentFailed: (failure) => failedDocuments.push(failure),
    onReadsPixels: () => {},
    onFile: (file) => files.push(file),
    onSilentDocument: (document) => silentDocuments.push(document),
    onBrokenDocument: (document) => brokenDocuments.push(document),
    savesData: () => wishes.savesData,
    ports,
    setTimer: (task) => setTimer(task, 0),
  });
  return {
    wishes,
    files,
    ports,
    requests,
    moved,
    noDocuments,
    silentDocuments,
    brokenDocuments,
    failedDocuments,
    keptFrom,
    held,
    frameStarts,
    pageStarts,
    far: port2,
    /** Posts messages as one turn's, and returns what came back. */
    async say(...messages: readonly unknown[]): Promise<TunnelToPort[]> {
      port2.postMessage(messages);
      await settle();
      return received.splice(0);
    },
    async ask(head: PortRequestHead, id = 1, body: ArrayBuffer | "stream" | null = null): Promise<TunnelToPort[]> {
      return this.say({ type: "request", id, head, body } satisfies PortToTunnel);
    },
    async heard(): Promise<TunnelToPort[]> {
      await settle();
      return received.splice(0);
    },
    first(): HostRequest {
      const request = requests[0];
      if (request === undefined) throw new Error("Cannot look at a request: none was made");
      return request;
    },
  };
}

export function typesOf(messages: readonly TunnelToPort[]): string[] {
  return messages.map((message) => message.type).filter((type) => type !== "bound");
}

export function errorCodes(messages: readonly TunnelToPort[]): number[] {
  return messages.flatMap((message) => (message.type === "error" ? [message.code] : []));
}
