/** Answers of the edge about paired devices (below DEVICES_PATH). Times are in milliseconds since the epoch. */

export interface DeviceList {
  /** In the order in which they were paired. */
  readonly devices: readonly PairedDevice[];
  /** History of pairings, newest first. */
  readonly events: readonly DeviceEvent[];
}

/** `name` is that of the device; `by` that of the device from which it was done. */
export type DeviceEvent = { readonly at: number } & (
  | { readonly kind: "paired"; readonly name: string; readonly with: "key" | "code" | "token" }
  | { readonly kind: "unpaired"; readonly name: string; readonly by: string | null }
  | { readonly kind: "ended"; readonly name: string; readonly why: "unused" | "time-over" | "data-used-up" }
  /** A device that is not paired any more asked to come in. */
  | { readonly kind: "turned-away"; readonly name: string }
  /** Somebody showed a wrong key or code, `count` times. */
  | { readonly kind: "refused"; readonly count: number }
  | { readonly kind: "key-changed"; readonly by: string | null }
);

/** A code that pairs one device. */
export interface PairingCode {
  /** As a person reads it, "K7QM-3F9T". */
  readonly code: string;
  readonly expiresAt: number;
}

/** Limits of a guest's pairing; at least one of the two is set. */
export interface GuestLimits {
  /** Milliseconds from when it is paired. */
  readonly lastsFor: number | null;
  /** Bytes of frames, in both directions. */
  readonly mostBytes: number | null;
}

export interface PairedDevice {
  readonly id: string;
  readonly name: string;
  readonly pairedAt: number;
  /** Whether it is the one that asks. */
  readonly isThis: boolean;
  /** The limits of a guest's pairing; null for a device that stays. */
  readonly guest: { readonly endsAt: number | null; readonly mostBytes: number | null } | null;
  /** Null where the edge cannot tell now. */
  readonly usage: {
    readonly seenAt: number;
    /** Bytes of frames in both directions, since it was paired. */
    readonly bytes: number;
    readonly isConnected: boolean;
  } | null;
}
