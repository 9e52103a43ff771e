/** A request of a page without scripts, as the tunnel gets it. */

import { BoundedMap } from "../../../shared/bounded-map.ts";
import type { CacheMode, CredentialsMode, Destination, RedirectMode, RequestMode } from "../../../shared/http/heads.ts";
import { LITE_PATH } from "../../../shared/subprotocol.ts";
import { isMixedContent } from "../../../shared/web/origin.ts";
import { applyReferrerPolicy, parseReferrerPolicy } from "../../../shared/web/policies.ts";
import {
  type LiteAnswer,
  type LiteOutcome,
  type LiteQuestion,
  type LiteToShell,
  realOf,
} from "../../messages/lite-messages.ts";
import type { PortRequestHead } from "../../messages/port-messages.ts";
import { forwardedFields } from "../request/slot-request.ts";
import type { SlotContext } from "../slot-exchange.ts";
import { TunnelPort } from "../tunnel-port.ts";

/**
 * What a subresource is really asked for by.
 *
 * @param page real URL of the document that asks.
 * @returns null for what no page has: files of the base host but those at places of the page's own origin. So an address
 * is never one site's and then another's, or the app's.
 */
export function realTarget(request: Pick<Request, "url">, base: string, page: string): string | null {
  const url = new URL(request.url);
  const { origin } = new URL(page);
  if (url.origin === base) {
    const real = realOf(url);
    return real !== null && new URL(real).origin === origin ? real : null;
  }
  if (isMixedContent(url, origin)) url.protocol = "https:";
  return url.href;
}

/** @param page real URL of the document that asks or is left, or null. @param target real. */
export function liteReferrer(
  { referrer, referrerPolicy }: Pick<Request, "referrer" | "referrerPolicy">,
  page: string | null,
  target: string,
): string {
  // The browser has cut it where it took the target for another origin.
  if (referrer === "" || page === null) return "";
  return applyReferrerPolicy(parseReferrerPolicy(referrerPolicy), page, target);
}

/** @param target real. @param page as of `liteReferrer`. */
export function liteHead(
  request: Request,
  target: string,
  page: string | null,
  bodyLength: number | null,
): PortRequestHead {
  const url = new URL(target);
  url.hash = "";
  const isNavigation = request.mode === "navigate";
  return {
    method: request.method,
    url: url.href,
    headers: forwardedFields(request, bodyLength),
    destination: isNavigation ? "document" : (request.destination as Destination),
    mode: request.mode as RequestMode,
    credentials: isNavigation ? "include" : (request.credentials as CredentialsMode),
    redirect: isNavigation ? "same-origin" : (request.redirect as RedirectMode),
    ...(request.cache === "default" ? {} : { cache: request.cache as CacheMode }),
    referrer: liteReferrer(request, page, url.href),
  };
}

/** Redirects that are remembered: navigations may be given up. */
const KEPT = 16;
/** Milliseconds: the browser follows at once. */
const LIFETIME = 5_000;

/**
 * Redirects within a site that the browser is following: its next request needs no judgement. It is of the same
 * navigation, which has one client to come (Fetch section 4.4, "reserved client"); a page cannot make another one of it.
 */
export class FollowedRedirects<Leave> {
  readonly #expected = new BoundedMap<string, { readonly address: string; readonly at: number; readonly leave: Leave }>(
    KEPT,
  );
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** @param address on the base host, without a fragment. */
  expect(navigation: string, address: string, leave: Leave): void {
    if (navigation !== "") this.#expected.set(navigation, { address, at: this.#now(), leave });
  }

  /** Once. A redirect is followed by a GET. */
  take(navigation: string, method: string, address: string): Leave | null {
    const expected = this.#expected.get(navigation);
    this.#expected.delete(navigation);
    if (expected === undefined || method !== "GET" || expected.address !== address) return null;
    return this.#now() - expected.at < LIFETIME ? expected.leave : null;
  }
}

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

/** The worker's questions to the app's windows, which outlive it: where frames may go, and ports to their tunnels. */
export class LiteWindows {
  /** By the id of the document's client. */
  readonly #ports = new BoundedMap<string, TunnelPort>(DOCUMENTS_KNOWN);

  /** @returns null where the frame is to stay. */
  async leaveFor(question: LiteQuestion & { type: "lite-navigation" }): Promise<Leave | null> {
    const answers = await this.#ask(question);
    const go = answers.find(({ port }) => port !== null);
    if (go === undefined || go.port === null) return null;
    return {
      port: go.port,
      tell: (outcome) => go.window.postMessage({ type: "lite-outcome", outcome } satisfies LiteToShell),
    };
  }

  remember(clientId: string, port: TunnelPort): void {
    if (clientId !== "") this.#ports.set(clientId, port);
  }

  /** @param origin of the document. */
  async portOf(clientId: string, origin: string): Promise<TunnelPort | null> {
    const known = this.#ports.get(clientId);
    if (known?.isOpen === true) return known;
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
          if (data !== "not-mine") resolve([answer]);
          else if (answers.length === windows.length) resolve(answers);
        };
        window.postMessage(question, [port2]);
      }
    });
  }
}

/**
 * Of the pages of an origin on the base host, as of a slot. In place of a host they have a place (`liteAddress`), below
 * which all addresses of the origin are.
 */
export function liteContext(base: string, origin: string): SlotContext {
  return {
    slotOrigin: base + LITE_PATH + origin.replace("//", ""),
    realOrigin: origin,
    binding: { origin, topLevelOrigin: origin, topLevel: true },
    shellOrigin: base,
    // None: frames do not open.
    slotSources: base,
  };
}
