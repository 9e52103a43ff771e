/** What the edge tells the app about paired devices (below DEVICES_PATH). Times are in milliseconds since the epoch. */

export interface DeviceList {
  /** In the order in which they were paired. */
  readonly devices: readonly PairedDevice[];
}

export interface PairedDevice {
  readonly id: string;
  readonly name: string;
  readonly pairedAt: number;
  /** Whether it is the one that asks. */
  readonly isThis: boolean;
  /** What ends the pairing of a guest; null for a device that stays. */
  readonly guest: { readonly endsAt: number | null; readonly mostBytes: number | null } | null;
  /** Null where the edge cannot tell now. */
  readonly usage: {
    readonly seenAt: number;
    /** Of frames in both directions, since it was paired. */
    readonly bytes: number;
    readonly isConnected: boolean;
  } | null;
}
