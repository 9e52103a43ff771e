/**
 * Whether a phone is paired, kept where its sessions are: a handshake asks nothing else. Runtime neutral.
 *
 * ```
 *  unknown ──enrolled by the directory, or adopted──► paired ──unpaired, unused, limit reached──► void
 *                                                        ▲                                          │
 *                                                        └────────── enrolled anew ─────────────────┘
 * ```
 */

import {
  type DeviceCalls,
  type DeviceTerms,
  type DeviceToken,
  type DeviceUsage,
  type DirectoryCalls,
  type EndReason,
  issueToken,
  UNUSED_TIME,
  type Unpairing,
} from "./device-token.ts";
import type { RecordStore } from "./record-store.ts";

/** Name of the record. */
const RECORD = "device";

/** Milliseconds after which a process that has read the record looks again: another one may have unpaired the phone. */
const RECORD_TIME = 60_000;

/** Milliseconds: "last seen" may be so much too early, since each time that is written is a row. */
const SEEN_STEP = 60_000;

/** Bytes of use that may be lost with the memory of the object. */
const UNSTORED_BYTES = 64 * 1024;

/** The same for a guest with a data limit: one that has its object aborted again and again would have no limit. */
const GUEST_UNSTORED_BYTES = 1024 * 1024;

/** Milliseconds: so often at most does the log hear of a device that is not let in. */
const TURNED_AWAY_STEP = 3_600_000;

/**
 * Secrets that are accepted: the newest, and the one before. Another window may still have that, or the answer with the
 * new one was lost.
 */
const SECRETS_KEPT = 2;

type DeviceRecord = PairedRecord | { readonly state: "void" };

interface PairedRecord {
  readonly state: "paired";
  readonly deviceId: string;
  readonly terms: DeviceTerms;
  /** Newest first. */
  readonly secretHashes: readonly string[];
  readonly seenAt: number;
  readonly bytes: number;
}

export interface OwnDeviceOptions {
  readonly store: RecordStore;
  readonly directory: DirectoryCalls;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly isConnected: () => boolean;
  /** Ends its sessions and closes its sockets, of any kind. */
  readonly disconnect: () => void;
  /** Forgets what the edge keeps of its pages. */
  readonly forgetPages: () => Promise<void>;
  /** Forgets what sites have stored here. */
  readonly clearSites: () => Promise<void>;
}

export class OwnDevice implements DeviceCalls {
  #options: OwnDeviceOptions;
  /** As last read, and when. */
  #known: { readonly record: DeviceRecord | undefined; readonly at: number } | null = null;
  #isReading = false;
  /** When the directory last heard of it. */
  #turnedAwayAt = Number.NEGATIVE_INFINITY;
  /** Since the record was last written. */
  #unstored = 0;
  /** What `#unstored` of a guest with a data limit has to reach to be written. */
  #writtenAt = GUEST_UNSTORED_BYTES;
  /** Count of changes: what was read before one is out of date. */
  #changes = 0;

  constructor(options: OwnDeviceOptions) {
    this.#options = options;
  }

  /**
   * Whether it may come in now. A handshake is a use of its token.
   *
   * @param token that this edge issued for it.
   * @param name for the list, where it has none yet.
   * @returns null where it may not.
   */
  async admit(token: DeviceToken, name: string): Promise<DeviceTerms | null> {
    const record = (await this.#read()) ?? (await this.#adopt(token, name));
    if (record.state === "void") this.#tellTurnedAway(token.deviceId);
    if (record.state !== "paired" || !record.secretHashes.includes(token.secretHash)) return null;
    const reason = this.#endOf(record);
    if (reason !== null) await this.#end(record, reason);
    return reason === null ? record.terms : null;
  }

  /** As `admit`, for what follows a handshake; less is read. */
  async isAdmitted(token: DeviceToken): Promise<boolean> {
    const record = this.#isFresh ? this.#known?.record : await this.#read();
    return record?.state === "paired" && record.secretHashes.includes(token.secretHash);
  }

  /** A token in place of the one that it shows. The one before that is void from then on. */
  async renew(accessKey: string, shown: DeviceToken): Promise<string> {
    const { token, secretHash } = await issueToken(accessKey, shown);
    await this.#updatePaired((record) => ({
      ...record,
      secretHashes: [secretHash, shown.secretHash].slice(0, SECRETS_KEPT),
    }));
    return token;
  }

  /** Bytes of frames have come or gone. */
  used(bytes: number): void {
    this.#unstored += bytes;
    const known = this.#known;
    if (!this.#isFresh) return void this.#look();
    if (known?.record?.state !== "paired") return;
    const reason = this.#endOf(known.record);
    if (reason !== null) void this.#end(known.record, reason);
    else if (hasDataLimit(known.record) && this.#unstored >= this.#writtenAt) this.#writeUse();
  }

  /** It has closed a socket, or rests. */
  async settle(): Promise<void> {
    const { now, isConnected } = this.#options;
    const record = this.#known?.record;
    const seenAt = record?.state === "paired" ? record.seenAt : 0;
    const isSeenLater = !isConnected() && now() - seenAt >= SEEN_STEP;
    if (this.#unstored >= UNSTORED_BYTES || isSeenLater) await this.#updatePaired((former) => former);
  }

  // DeviceCalls

  async enroll(terms: DeviceTerms, token: DeviceToken): Promise<void> {
    this.#unstored = 0;
    const record = this.#fresh(terms, token);
    await this.#update(() => record);
  }

  async usage(): Promise<DeviceUsage | null> {
    const record = await this.#read();
    if (record?.state !== "paired") return null;
    const isConnected = this.#options.isConnected();
    const seenAt = isConnected ? this.#options.now() : record.seenAt;
    return { seenAt, bytes: record.bytes + this.#unstored, isConnected };
  }

  async unpair({ withCookies }: Unpairing): Promise<void> {
    await this.#update(() => ({ state: "void" }));
    this.#options.disconnect();
    await this.#options.forgetPages();
    if (withCookies) await this.#options.clearSites();
  }

  get #isFresh(): boolean {
    return this.#known !== null && this.#options.now() - this.#known.at < RECORD_TIME;
  }

  async #read(): Promise<DeviceRecord | undefined> {
    const changes = this.#changes;
    const record = await this.#options.store.get<DeviceRecord>(RECORD);
    if (changes === this.#changes) this.#know(record);
    return this.#known?.record;
  }

  #know(record: DeviceRecord | undefined): void {
    this.#known = { record, at: this.#options.now() };
  }

  /** Reads what is not known any more while frames come and go. */
  async #look(): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    const record = await this.#read().catch(() => undefined);
    this.#isReading = false;
    if (record?.state === "void") this.#options.disconnect();
  }

  #fresh(terms: DeviceTerms, { deviceId, secretHash }: DeviceToken): PairedRecord {
    return { state: "paired", deviceId, terms, secretHashes: [secretHash], seenAt: this.#options.now(), bytes: 0 };
  }

  async #adopt(token: DeviceToken, name: string): Promise<DeviceRecord> {
    const terms = await this.#options.directory.adopt(token, name);
    if (terms === null) return { state: "void" };
    const adopted = this.#fresh(terms, token);
    await this.#update((record) => record ?? adopted);
    return this.#known?.record ?? adopted;
  }

  /** A phone that is not let in asks again and again. */
  #tellTurnedAway(deviceId: string): void {
    const { now, directory } = this.#options;
    if (now() - this.#turnedAwayAt < TURNED_AWAY_STEP) return;
    this.#turnedAwayAt = now();
    directory.turnedAway(deviceId).catch(() => {});
  }

  #endOf({ terms, seenAt, bytes }: PairedRecord): EndReason | null {
    const now = this.#options.now();
    // A device that is connected is in use.
    if (now - seenAt > UNUSED_TIME && !this.#options.isConnected()) return "unused";
    if (terms.kind === "full") return null;
    if (terms.endsAt !== null && now >= terms.endsAt) return "time-over";
    return terms.mostBytes !== null && bytes + this.#unstored >= terms.mostBytes ? "data-used-up" : null;
  }

  async #end({ deviceId }: PairedRecord, reason: EndReason): Promise<void> {
    this.#know({ state: "void" });
    // A guest leaves nothing behind.
    await this.unpair({ withCookies: reason !== "unused" });
    await this.#options.directory.ended(deviceId, reason);
  }

  #writeUse(): void {
    this.#writtenAt = this.#unstored + GUEST_UNSTORED_BYTES;
    this.#updatePaired((former) => former).then(
      () => {
        this.#writtenAt = GUEST_UNSTORED_BYTES;
      },
      () => {},
    );
  }

  /** @param change of what is kept beside how much it was used. */
  #updatePaired(change: (record: PairedRecord) => PairedRecord): Promise<void> {
    const bytes = this.#unstored;
    const seenAt = this.#options.now();
    return this.#update((record) => {
      if (record?.state !== "paired") return record;
      return { ...change(record), seenAt, bytes: record.bytes + bytes };
    }).then(() => {
      this.#unstored -= bytes;
    });
  }

  #update(change: (record: DeviceRecord | undefined) => DeviceRecord | undefined): Promise<void> {
    return this.#options.store.update<DeviceRecord>(RECORD, (former) => {
      const next = change(former);
      this.#changes += 1;
      this.#know(next);
      return next;
    });
  }
}

function hasDataLimit({ terms }: PairedRecord): boolean {
  return terms.kind === "guest" && terms.mostBytes !== null;
}
