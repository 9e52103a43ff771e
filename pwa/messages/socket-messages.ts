/**
 * A page's WebSocket, from the page or a worker of it to the tunnel, over a MessagePort of its own. The slot's service
 * worker hands the port on once, and may be stopped then.
 */
import type { ScriptCookie } from "../../shared/http/heads.ts";
import type { SocketPart } from "../../shared/http/socket-records.ts";

/** The socket that a page asks for. */
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

/** A script has closed it; or the server has, or has answered the script's close. The code is null where none was given. */
interface Close {
  readonly type: "close";
  readonly code: number | null;
  readonly reason: string;
}

/** So many bytes of the other side's messages were shown to the page, or have left for the server. */
interface Taken {
  readonly type: "taken";
  readonly bytes: number;
}

export type PageToSocket = Message | Close | Taken;

export type SocketToPage =
  | { readonly type: "open"; readonly protocol: string; readonly cookies: readonly ScriptCookie[] }
  | Message
  | Close
  | Taken
  /** There is no socket, or none any more. `message` is for people; `violated` is the policy that does not allow it. */
  | { readonly type: "failed"; readonly message: string; readonly violated?: string | undefined };
