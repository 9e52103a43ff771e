/** What the controller is given. */
import type { SlotFrames } from "../frames/slot-frames.ts";
import type { TunnelClient } from "../link/tunnel-client.ts";
import type { BrowserState } from "./browser-state.ts";
import type { SettingsStore } from "./settings-store.ts";
import type { SiteStore } from "./site-store.ts";
import type { TotalsStore } from "./totals-store.ts";

export interface BrowserOptions {
  readonly tunnel: TunnelClient;
  /** Null where the deployment has only one host. */
  readonly frames: SlotFrames | null;
  readonly sites: SiteStore;
  readonly settings: SettingsStore;
  readonly totals: TotalsStore;
  readonly demoUrl: string | null;
  readonly render: (state: BrowserState) => void;
  readonly pair: (accessKey: string) => Promise<void>;
  /** Tries once more to pair with a key that the edge could not be asked about. */
  readonly ensurePaired: () => void;
  readonly forgetSlots: () => void;
  /** Another document has come into the frame. */
  readonly onCommit: () => void;
  /** Hands a URL to the app of the phone that opens such. @returns false where the person has done nothing that asks for it. */
  readonly openOtherApp: (url: string) => boolean;
}
