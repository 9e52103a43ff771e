/** A server of tunnels as a scripted phone meets it, with what it was asked to keep and when it was at work. */
import type { ServerRequest, ServerResponse } from "../../shared/http/exchange.ts";
import type { PhoneTraits } from "../../shared/http/phone-traits.ts";
import { bodyOf, responseHead } from "../../shared/testing/http/exchange-rig.ts";
import type { FirstSnapshot } from "../session/served-session.ts";
import { rememberingEdge } from "./remembering-edge.ts";
import type { WiredPhone } from "./wired-phone.ts";

type Handle = (request: ServerRequest, phone: PhoneTraits) => Promise<ServerResponse>;

export const hello = async (): Promise<ServerResponse> => ({ head: responseHead, body: bodyOf("hello") });

export function setUp(handle: Handle = hello) {
  const activity: boolean[] = [];
  return { ...rememberingEdge({ handle, onActive: (active) => activity.push(active) }), activity };
}

/** Of the phone's socket; null while it must not hibernate. */
export function snapshotOf(edge: ReturnType<typeof setUp>, phone: WiredPhone): FirstSnapshot | null {
  const snapshot = (phone.wire && edge.snapshots.get(phone.wire.transport)) ?? null;
  return snapshot !== null && "session" in snapshot ? snapshot : null;
}
