/**
 * The life of a channel. The peer was heard once it has said HELLO on any of the transports.
 *
 * ```
 *            phone's attach            HELLO             detach           attach
 *        new ──────────────► joining ─────────► live ─────────────► lost ────────► resuming
 *                              │ ▲               │ ▲                 ▲                │ │
 *                       detach │ │ attach attach │ │ HELLO           │ detach         │ │ HELLO: live
 *                              ▼ │               ▼ │                 │                │ │ detach: lost
 *     rejoining ◄─── attach ─ missed            moving ──────────────┘ ◄── attach ────┘
 *
 *     rejoining ── attach: joining, detach: missed, HELLO: live
 *     edge: any ── resume: moving;  new ── adopt: live          any ── end: ended
 * ```
 *
 * moving: it went straight from one transport to the next, so nothing is lost. resuming, rejoining: the last transport
 * was lost, and this one may never open. joining, missed, rejoining: the peer was not heard yet.
 *
 * A further channel has a second state beside this one, its `Retirement`:
 *
 * ```
 *          begin            phone closes it in order, all is quiet (edge)
 *     none ─────► begun ────────────────────────────────────────────────► confirmed
 *
 *     phone: begun ── its transport is closed: none; ended, too, if the edge confirmed that and all is quiet
 *     edge: begun, confirmed ── resume: none; ended first, if the phone begins the channel anew
 * ```
 */
import type { Transport } from "../../transport.ts";

/** What a channel goes over. */
export type ChannelLink = OwnLink | CarriedLink | SettlingLink;

interface OwnLink {
  readonly kind: "own";
  readonly transport: Transport;
}

/** The first channel's link, which is to this one the link of that number (PROTOCOL.md section 4.5). */
interface CarriedLink {
  readonly kind: "carried";
  readonly transport: Transport;
  readonly number: number;
}

/**
 * Phone: the same, while what the edge sends again is under way. It would all come once more on a transport of its own,
 * so that waits.
 */
interface SettlingLink {
  readonly kind: "settling";
  readonly transport: Transport;
  readonly number: number;
  readonly next: Transport | null;
}

export type ChannelState = LastingState | EndedState;

export type LastingState = DetachedState | AttachedState;

interface EndedState {
  readonly name: "ended";
  readonly link: null;
}

interface DetachedState {
  readonly name: "new" | "missed" | "lost";
  readonly link: null;
}

export interface AttachedState {
  readonly name: "joining" | "rejoining" | "live" | "moving" | "resuming";
  readonly link: ChannelLink;
}

/** How far a further channel is on its way out: its transport is closed in an orderly way, since it does not pay any more. */
export type Retirement =
  | { readonly name: "none" }
  /** Until the peer confirms it: if no more frames are sent than these, both have all of them. */
  | { readonly name: "begun"; readonly sent: number }
  /** Edge: kept until the phone begins the channel anew, or resumes it, as it does if it has missed the end. */
  | { readonly name: "confirmed" };

const AFTER_ATTACH: Record<LastingState["name"], AttachedState["name"]> = {
  new: "joining",
  joining: "joining",
  missed: "rejoining",
  rejoining: "joining",
  live: "moving",
  moving: "moving",
  lost: "resuming",
  resuming: "moving",
};

/** Phone: takes a fresh transport. */
export function attached(state: LastingState, link: ChannelLink): AttachedState {
  return { name: AFTER_ATTACH[state.name], link };
}

/** The peer said HELLO. */
export function greeted({ link }: AttachedState): AttachedState {
  return { name: "live", link };
}

/** The transport is gone. */
export function detached(state: AttachedState): DetachedState {
  return { name: wasHeard(state) ? "lost" : "missed", link: null };
}

/** A transport of its own is there before the channel has settled, or gone again. */
export function waitingFor(next: Transport | null, { name, link }: SettlingState): AttachedState {
  return { name, link: { ...link, next } };
}

/** All that the edge sent again has come. */
export function settled({ name, link }: SettlingState): AttachedState {
  return { name, link: { kind: "carried", transport: link.transport, number: link.number } };
}

export type SettlingState = AttachedState & { readonly link: SettlingLink };

export function isSettling(state: ChannelState): state is SettlingState {
  return state.link?.kind === "settling";
}

/** Whether its transport is the first channel's link. */
export function isCarried({ link }: ChannelState): boolean {
  return link !== null && link.kind !== "own";
}

/** Whether the peer has said HELLO on any transport. */
export function wasHeard({ name }: ChannelState): boolean {
  return name === "live" || name === "moving" || name === "lost" || name === "resuming";
}

/** The first frame on a fresh transport must be HELLO, and no later one may be. */
export function awaitsHello({ name }: ChannelState): boolean {
  return name !== "live";
}

/** Phone: nothing was heard yet on a transport that took the place of a lost one. */
export function isResuming({ name }: ChannelState): boolean {
  return name === "resuming" || name === "rejoining";
}
