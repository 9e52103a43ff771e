/**
 * A page's WebSocket, from the page or a worker of it to the tunnel, over a MessagePort of its own. The slot's service
 * worker hands the port on once, and may be stopped then.
 */
import type { ScriptCookie } from "../../shared/http/heads.ts";
import type { SocketPart } from "../../shared/http/socket-records.ts";

/** What a page asks for. */
export interface SocketRequest {
  /** `ws:` or `wss:`, without a fragment. */
  readonly url: string;
  readonly protocols: readonly string[];
}

/** The same with the policies that govern what the document, or the worker, connects to: all have to allow it. */
export interface GovernedSocketRequest extends SocketRequest {
  readonly connect: readonly string[];
}

/**
 * The same on its way to the service worker, which knows what policies mean. With it go the socket's port and, from a page,
 * one on which that says when it is left, as for the sockets of its workers.
 */
export interface PageSocketRequest extends GovernedSocketRequest {
  readonly type: "socket";
}

/** Whole. The bytes of a text are UTF-8. */
type Message = { readonly type: "message" } & Pick<SocketPart, "kind" | "bytes">;

export type PageToSocket =
  | Message
  /** As a script has closed it; the code null where it gave none. */
  | { readonly type: "close"; readonly code: number | null; readonly reason: string }
  /** So many bytes of messages were shown to the page. */
  | { readonly type: "taken"; readonly bytes: number };

export type SocketToPage =
  | { readonly type: "open"; readonly protocol: string; readonly cookies: readonly ScriptCookie[] }
  | Message
  /** So many bytes of the page's messages have left. */
  | { readonly type: "sent"; readonly bytes: number }
  /** The server has closed, or answered the close. */
  | { readonly type: "closed"; readonly code: number | null; readonly reason: string }
  /** There is no socket, or none any more. `message` is for people; `violated` is the policy that does not allow it. */
  | { readonly type: "failed"; readonly message: string; readonly violated?: string | undefined };
