/** What a device may do, and how it ended: what its own object and the directory tell each other. */

import type { DeviceToken, NamedDevice } from "./device-token.ts";

/** Milliseconds without use after which a device is not paired any more. */
export const UNUSED_TIME = 90 * 24 * 60 * 60 * 1000;

/** A guest manages no devices, and its pairing ends by itself. */
export type DeviceTerms = { readonly kind: "full" } | GuestTerms;

export interface GuestTerms {
  readonly kind: "guest";
  /** Milliseconds since the epoch, or null for no such limit. */
  readonly endsAt: number | null;
  /** Bytes of frames in both directions, or null for no such limit. */
  readonly mostBytes: number | null;
}

export type EndReason = "unused" | "time-over" | "data-used-up";

export interface DeviceUsage {
  /** Milliseconds since the epoch; now while it is connected. */
  readonly seenAt: number;
  /** Bytes of frames in both directions, since it was paired. */
  readonly bytes: number;
  readonly isConnected: boolean;
}

export interface Unpairing {
  /** Whether what the edge keeps for its sites is deleted, too. */
  readonly withCookies: boolean;
}

/** A device's own object, as the directory calls it. */
export interface DeviceCalls {
  /** Pairs it, whatever it was before, with that token alone. */
  enroll(terms: DeviceTerms, token: DeviceToken): Promise<void>;
  /** Null where it is not paired. */
  usage(): Promise<DeviceUsage | null>;
  /** From now on its token is void; its sessions end, and its sockets close. */
  unpair(unpairing: Unpairing): Promise<void>;
}

/** The directory, as a device's own object calls it. */
export interface DirectoryCalls {
  /**
   * A device whose token this edge has issued, and whose object knows nothing of it: one that was paired before there
   * was a list, or whose state was lost. A guest's limits cannot be lost: where the list has it not, it is over.
   *
   * @param name where the list has none yet.
   * @returns null where it may not come in.
   */
  adopt(device: NamedDevice, name: string): Promise<DeviceTerms | null>;
  /** Its pairing is over. */
  ended(deviceId: string, reason: EndReason): Promise<void>;
  /** It is not paired any more, and asked to come in. */
  turnedAway(deviceId: string): Promise<void>;
}
