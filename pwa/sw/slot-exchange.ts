import type { ScriptCookie } from "../../shared/http/heads.ts";
import type { ImageNote } from "../../shared/http/phone-fields.ts";
import { hasNullBody } from "../../shared/web/origin.ts";
import type { PortRequestHead, SilentDocument, SlotBinding } from "../messages/port-messages.ts";
import type { WorkerConfig } from "../slot/page-workers.ts";
import { type SlotIdentity, shellOriginOf } from "../slot/slot-url.ts";
import type { TunnelResponse } from "./tunnel-port.ts";

/** One request of a slot's page, from the fetch event to the answer. */
export interface SlotExchange {
  readonly request: Request;
  readonly context: SlotContext;
  /** The request as the tunnel gets it. */
  readonly head: PortRequestHead;
  /** Its origin gets `Save-Data: on`, of which the page's scripts may know. */
  readonly savesData: boolean;
  /** Sends it, over as many ports as it takes. Rejects with a RopewayError; with PortLost when there is none any more. */
  send(): Promise<TunnelResponse>;
  /** Resolves when scripts of the slot's pages can read these cookies. */
  showCookies(cookies: readonly ScriptCookie[]): Promise<void>;
  /** The page is told that a picture is not its origin's. */
  showPicture(note: ImageNote): void;
  /** The navigation ends without a document. @param leadsTo where it leads to another app: that one's address. */
  noDocument(leadsTo?: string): void;
  /** The navigation ends in a document that the page script cannot tell of. */
  silentDocument(document: Omit<SilentDocument, "type">): void;
  /** A worker's script as the worker is to run it; left out where no scripts run. */
  workerScript?(body: ReadableStream<Uint8Array>, config: WorkerConfig): ReadableStream<Uint8Array<ArrayBuffer>>;
  /** Nothing is outstanding that the browser does not wait for by itself. */
  finish(): void;
}

/**
 * The response's body. The browser keeps the worker for as long as it reads one; what it does not get is drained.
 *
 * @param onEnd called when it has been read or given up.
 */
export function trackedBody(
  exchange: SlotExchange,
  response: TunnelResponse,
  onEnd: () => void = () => {},
): ReadableStream<Uint8Array<ArrayBuffer>> | null {
  response.watch({ onEnd });
  if (hasNullBody(exchange.request.method, response.head.status)) {
    // Drained, so that the exchange ends as any other.
    void response
      .body()
      .pipeTo(new WritableStream())
      .catch(() => {})
      .finally(exchange.finish);
    return null;
  }
  exchange.finish();
  return response.body();
}

/** A slot's service worker knows of its slot the host that it runs on, and the binding of its port. */
export interface SlotContext extends SlotIdentity {
  readonly binding: SlotBinding;
  /** `http://localhost:8787`: where the shell is. */
  readonly shellOrigin: string;
  /** CSP sources of all slots: `http://*.localhost:8787`, or a list. */
  readonly slotSources: string;
}

/** Globals that the edge puts before the slot's worker where slots have a list of hosts (`worker/front/hosts.ts`). */
export interface ToldHosts {
  readonly ropewayShell?: string;
  /** Origins, between spaces. */
  readonly ropewaySlots?: string;
  /** Path of the worker's own script, on the shell's host (`slot-sw.ts`). */
  ropewayWorker?: string;
}

/** Whether this host is one of a list, which other origins had before and others will have. */
export function isListed(told: ToldHosts = globalThis as ToldHosts): boolean {
  return told.ropewaySlots !== undefined;
}

/** @param slot location of the service worker. */
export function slotContext(
  slot: { readonly origin: string; readonly protocol: string; readonly host: string },
  binding: SlotBinding,
  told: ToldHosts = globalThis as ToldHosts,
): SlotContext {
  const shellOrigin = told.ropewayShell ?? shellOriginOf(slot.origin);
  return {
    slotOrigin: slot.origin,
    realOrigin: binding.origin,
    binding,
    shellOrigin,
    slotSources: told.ropewaySlots ?? shellOrigin.replace("//", "//*."),
  };
}
