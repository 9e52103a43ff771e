import type { DocumentPhase, PageToShell } from "../../messages/page-messages.ts";
import type { NavigationRequest } from "../../messages/tunnel-messages.ts";
import type { Destination, PageError, TabState } from "../app/state.ts";

/** The document that the frame has, or had last; all empty for the start page. */
export type CommittedPage = Pick<TabState, "url" | "title" | "icon">;

export const NO_PAGE: CommittedPage = { url: "", title: "", icon: null };

/** How the tab comes to a navigation. */
export interface Going {
  readonly by: Destination["kind"];
  readonly replace?: boolean;
  /** Id of this very navigation, if the tunnel has it already. */
  readonly begun?: number | null;
  /** The frame sets out for the page once the link is open. */
  readonly waitsForLink?: boolean;
  /** When it was asked for, by `performance.now()`; now by default. */
  readonly askedAt?: number;
  /** See SelfSends. */
  readonly isSelfSend?: boolean;
  /** The entry shown is one of before the app was closed, and this is its page. */
  readonly isReopening?: boolean;
}

/** What the shell has asked the tunnel for. */
export interface SentNavigation {
  readonly id: number;
  readonly request: NavigationRequest;
  readonly by: Destination["kind"];
  /** The error that the try before ended in. The frame may still be on its way to the notice of that. */
  readonly retries: PageError | null;
  /** How often this failed before, in a row. */
  readonly attempts: number;
  /** It failed, and its site may have acted on it. */
  mayHaveRun: boolean;
  /** The tunnel has the response, which waits for its slot. */
  isAnswered: boolean;
  /** How the frame is to set out for the page, as `PageFrame.show` takes it; null when it has set out. */
  frameWaits: { readonly replaces: boolean; readonly isAgain: boolean } | null;
}

/**
 * What the tab is about, beside the committed page. Steps:
 *
 *     setOut      any state        ─▶ underway
 *     arrive      any state        ─▶ loading or loaded
 *     fail        any state        ─▶ failed
 *     LOADED      any state        ─▶ loaded: the committed page is what counts
 *     STOPPED     any state        ─▶ loaded
 *     reload      loaded, loading  ─▶ loading
 *     comeBack    loaded           ─▶ underway
 *     giveUp      any state        ─▶ the same, and the tunnel goes on with nothing
 *
 * Pages say what they like when they like, so what they lead to may come in any state. What only the shell begins is a
 * mistake of the shell's in a state that it does not lead from: that throws.
 *
 * `sent` is null where the page itself went there, or nothing has to be asked for.
 */
export type Navigation =
  /** @property isStopped the person pressed stop; a document that was on its way is stopped when it comes. */
  | { readonly kind: "loaded"; readonly isStopped: boolean }
  /** The document is there, and not all of it. */
  | { readonly kind: "loading"; readonly sent: SentNavigation | null }
  | { readonly kind: "underway"; readonly destination: Destination; readonly sent: SentNavigation | null }
  /** @property by as the destination's kind. */
  | {
      readonly kind: "failed";
      readonly by: Destination["kind"];
      readonly error: PageError;
      readonly sent: SentNavigation | null;
    };

export const LOADED: Navigation = { kind: "loaded", isStopped: false };
export const STOPPED: Navigation = { kind: "loaded", isStopped: true };

/** @property error of what could not be opened. */
export type FailedNavigation = Extract<Navigation, { kind: "failed" }>;

export function sentBy(navigation: Navigation): SentNavigation | null {
  return navigation.kind === "loaded" ? null : navigation.sent;
}

/** The frame is sent somewhere, or the page goes there. */
export function setOut(destination: Destination, sent: SentNavigation | null): Navigation {
  return { kind: "underway", destination, sent };
}

/** A document is there. One that the person has stopped counts as whole. */
export function arrive(from: Navigation, phase: DocumentPhase): Navigation {
  if (from.kind === "loaded" && from.isStopped) return from;
  return phase === "loaded" ? LOADED : { kind: "loading", sent: sentBy(from) };
}

export function fail(from: Navigation, by: Destination["kind"], error: PageError): FailedNavigation {
  return { kind: "failed", by, error, sent: sentBy(from) };
}

/** The tunnel is not to go on with it. */
export function giveUp(from: Navigation): Navigation {
  return from.kind === "loaded" ? from : { ...from, sent: null };
}

/** The committed page is loaded anew in its frame. */
export function reload(from: Navigation): Navigation {
  if (from.kind === "underway" || from.kind === "failed") throw new Error(`Cannot reload the page: it is ${from.kind}`);
  return { kind: "loading", sent: sentBy(from) };
}

/** The frame has lost the committed page, and goes back to it. */
export function comeBack(from: Navigation, url: string): Navigation {
  if (from.kind !== "loaded") throw new Error(`Cannot come back to a page: the frame's next one is ${from.kind}`);
  return setOut({ kind: "started", url }, null);
}

type Notice = Pick<PageToShell & { type: "failed" }, "url" | "code" | "message">;

type DrawnNavigation = CommittedPage & Pick<TabState, "phase" | "error" | "destination">;

/**
 * What the chrome shows of it. The page before stays visible and usable until the next one commits, so the bar has that
 * page's address and title until then, whatever a page has set out for: an address that a page chose is progress only.
 * What the person typed shows at once. An error covers the frame.
 */
export function drawNavigation(committed: CommittedPage, navigation: Navigation): DrawnNavigation {
  const none = { error: null, destination: null };
  switch (navigation.kind) {
    case "loaded":
      return { ...committed, ...none, phase: committed.url === "" ? "idle" : "loaded" };
    case "loading":
      return { ...committed, ...none, phase: "loading" };
    case "underway": {
      const { destination } = navigation;
      const page = destination.kind === "typed" ? { ...NO_PAGE, url: destination.url } : committed;
      return { ...page, error: null, phase: "loading", destination };
    }
    case "failed": {
      const { error } = navigation;
      return { ...NO_PAGE, url: error.url, destination: null, phase: "failed", error };
    }
  }
}

/** The shell's own navigation reports a failure before the frame has its notice: this one is of the try before. */
export function isNoticeOfFormer(navigation: Navigation, { url, code, message }: Notice): boolean {
  if (navigation.kind !== "underway") return false;
  const { retries = null } = navigation.sent ?? {};
  return retries?.url === url && retries.code === code && retries.detail === message;
}
