import { isStrongAccessKey } from "../../shared/access-key.ts";
import { toBase64Url } from "../../shared/base-encodings.ts";
import type { DeviceEvent, PairingCode } from "../../shared/devices.ts";
import { type DeviceToken, equalSecrets, hashOf, issueToken, type NamedDevice, newDeviceId } from "./device-token.ts";
import type { RecordStore } from "./record-store.ts";

/** Milliseconds without use after which a device is not paired any more. */
export const UNUSED_TIME = 90 * 24 * 60 * 60 * 1000;

/** A guest manages no devices, and its pairing ends by itself. */
export type DeviceTerms = { readonly kind: "full" } | GuestTerms;

interface GuestTerms {
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
   * A device whose token this edge has issued, and whose object knows nothing of it: its state was lost. A guest's limits
   * cannot be lost: where the list has it not, it is over.
   *
   * @param name where the list has none yet.
   * @returns null where it may not come in.
   */
  adopt(device: NamedDevice, name: string): Promise<DeviceTerms | null>;
  /** Its pairing is over. */
  ended(deviceId: string, reason: EndReason): Promise<void>;
  /** The device is not paired any more, and asked to come in. */
  turnedAway(deviceId: string): Promise<void>;
}

/** Events that are kept, the oldest dropped first: enough for a year of a household. Deno KV takes 64 KiB a value. */
const MOST_EVENTS = 200;

/** Milliseconds between two writes of refusals, so that somebody who guesses keys does not make a row with each. */
const REFUSALS_STEP = 10_000;
/** Milliseconds: those that follow each other within this count as one event. */
const REFUSALS_TIME = 600_000;

const EVENTS_RECORD = "events";

/** An event of the log, with the id of its device: for later events of a device that is not listed any more. */
type KeptEvent = DeviceEvent & { readonly deviceId?: string };

/**
 * The log of pairings: which device, what became of it, and when. It has nothing of what devices looked at, nor of
 * where they were.
 */
export class AuditLog {
  #store: RecordStore;
  #now: () => number;
  #refusals = 0;
  #refusalsWrittenAt = Number.NEGATIVE_INFINITY;

  /** @param now milliseconds since the epoch. */
  constructor(store: RecordStore, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  note(
    event: KeptEvent extends infer Event ? (Event extends unknown ? Omit<Event, "at"> : never) : never,
  ): Promise<void> {
    return this.#change((events) => [...events, { ...event, at: this.#now() } as KeptEvent]);
  }

  /** Somebody showed a key or a code that is none. */
  async refused(): Promise<void> {
    this.#refusals += 1;
    const now = this.#now();
    if (now - this.#refusalsWrittenAt < REFUSALS_STEP) return;
    this.#refusalsWrittenAt = now;
    const count = this.#refusals;
    this.#refusals = 0;
    await this.#change((events) => {
      const last = events.at(-1);
      if (last?.kind !== "refused" || now - last.at > REFUSALS_TIME)
        return [...events, { kind: "refused", at: now, count }];
      return [...events.slice(0, -1), { kind: "refused", at: now, count: last.count + count }];
    });
  }

  /** The name that a device had last. */
  async nameOf(deviceId: string): Promise<string | null> {
    const known = (await this.#read()).findLast((event) => event.deviceId === deviceId);
    return known !== undefined && "name" in known ? known.name : null;
  }

  /** Newest first. */
  async list(): Promise<DeviceEvent[]> {
    return (await this.#read()).map(({ deviceId: _, ...event }) => event as DeviceEvent).reverse();
  }

  async #read(): Promise<readonly KeptEvent[]> {
    return (await this.#store.get<readonly KeptEvent[]>(EVENTS_RECORD)) ?? [];
  }

  #change(change: (events: readonly KeptEvent[]) => readonly KeptEvent[]): Promise<void> {
    return this.#store.update<readonly KeptEvent[]>(EVENTS_RECORD, (events = []) => change(events).slice(-MOST_EVENTS));
  }
}

/** Milliseconds: time to fetch the other device; a stranger has some thousand guesses of 2^40 by then. */
export const CODE_TIME = 600_000;

/** Without letters that look like others (Crockford's base 32). */
const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const LENGTH = 8;
/** Codes that are open at a time; the oldest gives way. */
const MOST_CODES = 20;
const CODES_RECORD = "codes";

/** Terms of a device that shows the code. `lastsFor` in milliseconds from then on. */
export type CodeTerms =
  | { readonly kind: "full" }
  | { readonly kind: "guest"; readonly lastsFor: number | null; readonly mostBytes: number | null };

interface OpenCode {
  readonly hash: string;
  readonly expiresAt: number;
  readonly terms: CodeTerms;
}

/** Codes in place of the access key: each pairs one device, once, within ten minutes. */
class PairingCodes {
  #store: RecordStore;
  #now: () => number;

  /** @param now milliseconds since the epoch. */
  constructor(store: RecordStore, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  async create(terms: CodeTerms): Promise<{ readonly code: string; readonly expiresAt: number }> {
    const letters = [...crypto.getRandomValues(new Uint8Array(LENGTH))].map((byte) => ALPHABET[byte % ALPHABET.length]);
    const code = letters.join("");
    const hash = await hashOf(code);
    const expiresAt = this.#now() + CODE_TIME;
    await this.#store.update<readonly OpenCode[]>(CODES_RECORD, (codes = []) =>
      [...this.#open(codes), { hash, expiresAt, terms }].slice(-MOST_CODES),
    );
    return { code: `${code.slice(0, LENGTH / 2)}-${code.slice(LENGTH / 2)}`, expiresAt };
  }

  /** @returns null for what is no code, or no longer one. Otherwise the code is void from now on. */
  async redeem(text: string): Promise<DeviceTerms | null> {
    const code = readCode(text);
    if (code === null) return null;
    const hash = await hashOf(code);
    let found: OpenCode | undefined;
    await this.#store.update<readonly OpenCode[]>(CODES_RECORD, (codes = []) => {
      const open = this.#open(codes);
      found = open.find((each) => each.hash === hash);
      return open.filter((each) => each !== found);
    });
    if (found === undefined) return null;
    const { terms } = found;
    if (terms.kind === "full") return terms;
    const endsAt = terms.lastsFor === null ? null : this.#now() + terms.lastsFor;
    return { kind: "guest", endsAt, mostBytes: terms.mostBytes };
  }

  /** All open codes become void. */
  clear(): Promise<void> {
    return this.#store.update(CODES_RECORD, () => undefined);
  }

  #open(codes: readonly OpenCode[]): OpenCode[] {
    return codes.filter(({ expiresAt }) => expiresAt > this.#now());
  }
}

/** However a person typed it. */
function readCode(text: string): string | null {
  const code = text.toUpperCase().replace(/[\s-]/g, "").replaceAll("O", "0").replace(/[IL]/g, "1");
  return code.length === LENGTH && [...code].every((letter) => ALPHABET.includes(letter)) ? code : null;
}

/** More than a household has; the list asks each of them how it is. */
const MOST_DEVICES = 1_000;

/** Bytes of a new access key: as text it is strong, whichever characters it gets. */
const OWN_KEY_BYTES = 24;

const DEVICE = "device/";
const ACCESS = "access";

interface DeviceEntry {
  readonly id: string;
  readonly name: string;
  readonly terms: DeviceTerms;
  /** Milliseconds since the epoch. */
  readonly pairedAt: number;
}

/** Access key that the devices are paired under. */
interface AccessRecord {
  /** Hash of ROPEWAY_ACCESS_KEY. */
  readonly keyHash: string;
  /**
   * Hash of the key that a person has put in its place for pairing. Tokens are still signed with ROPEWAY_ACCESS_KEY.
   */
  readonly ownKeyHash?: string;
}

export interface ListedDevice extends DeviceEntry {
  /** Null where its object does not answer. */
  readonly usage: DeviceUsage | null;
}

export interface PairingRequest {
  /** Secret that the device shows: the access key, or a code. */
  readonly secret: string;
  readonly name: string;
}

export type PairingAnswer =
  | { readonly kind: "paired"; readonly token: string }
  | { readonly kind: "refused"; readonly why: "not-accepted" | "weak-key" | "too-many" };

interface DeviceDirectoryOptions {
  /** ROPEWAY_ACCESS_KEY, which signs tokens. */
  readonly accessKey: string;
  readonly store: RecordStore;
  readonly deviceOf: (deviceId: string) => DeviceCalls;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/**
 * The list of paired devices, and who becomes one. There is one for an edge, and no handshake waits for it but a
 * device's first. Runtime neutral.
 */
export class DeviceDirectory implements DirectoryCalls {
  #options: DeviceDirectoryOptions;
  #codes: PairingCodes;
  #log: AuditLog;

  constructor(options: DeviceDirectoryOptions) {
    this.#options = options;
    this.#codes = new PairingCodes(options.store, options.now);
    this.#log = new AuditLog(options.store, options.now);
  }

  async pair({ secret, name }: PairingRequest): Promise<PairingAnswer> {
    const { accessKey, deviceOf } = this.#options;
    const isKey = await this.#isAccessKey(secret);
    if (isKey && !isStrongAccessKey(secret)) return { kind: "refused", why: "weak-key" };
    if (await this.#isFull()) return { kind: "refused", why: "too-many" };
    const terms: DeviceTerms | null = isKey ? { kind: "full" } : await this.#codes.redeem(secret);
    if (terms === null) {
      await this.#log.refused();
      return { kind: "refused", why: "not-accepted" };
    }
    const { token, deviceId, secretHash, isGuest } = await issueToken(accessKey, {
      deviceId: newDeviceId(),
      isGuest: terms.kind === "guest",
    });
    await this.#add({ id: deviceId, name, terms }, isKey ? "key" : "code");
    // If its object cannot be told now, that asks at the first handshake.
    await deviceOf(deviceId)
      .enroll(terms, { deviceId, secretHash, isGuest })
      .catch(() => {});
    return { kind: "paired", token };
  }

  /** A code that pairs one device, once and for ten minutes. */
  createCode(terms: CodeTerms): Promise<PairingCode> {
    return this.#codes.create(terms);
  }

  /** Events of pairings, newest first. */
  events(): Promise<DeviceEvent[]> {
    return this.#log.list();
  }

  /**
   * Puts a new access key in the place of the one that pairs devices. All that are paired stay so, unless the others are
   * to go. Another ROPEWAY_ACCESS_KEY takes its place in turn.
   *
   * @param by the device that asks.
   */
  async changeKey(by: string, unpairsOthers: boolean): Promise<string> {
    const { store, accessKey } = this.#options;
    const ownKey = toBase64Url(crypto.getRandomValues(new Uint8Array(OWN_KEY_BYTES)));
    const access = { keyHash: await hashOf(accessKey), ownKeyHash: await hashOf(ownKey) };
    await this.#noticeNewKey();
    await store.update<AccessRecord>(ACCESS, () => access);
    await this.#codes.clear();
    await this.#log.note({ kind: "key-changed", by: await this.#nameOf(by) });
    const others = unpairsOthers ? (await store.list<DeviceEntry>(DEVICE)).filter(({ id }) => id !== by) : [];
    for (const { id } of others) await this.unpair(id, { withCookies: false }, by);
    return ownKey;
  }

  /** All that are paired, in the order in which they were. Those that were not used for long are no more. */
  async list(): Promise<ListedDevice[]> {
    const { store, deviceOf, now } = this.#options;
    await this.#noticeNewKey();
    const entries = await store.list<DeviceEntry>(DEVICE);
    const listed = await Promise.all(
      entries.map(async (entry) => ({
        ...entry,
        usage: await deviceOf(entry.id)
          .usage()
          .catch(() => null),
      })),
    );
    const isUnused = ({ usage }: ListedDevice) => usage !== null && now() - usage.seenAt > UNUSED_TIME;
    for (const { id } of listed.filter(isUnused)) {
      await deviceOf(id).unpair({ withCookies: false });
      await this.ended(id, "unused");
    }
    return listed.filter((device) => !isUnused(device)).sort((a, b) => a.pairedAt - b.pairedAt);
  }

  /** @returns whether there is such a device. */
  async rename(deviceId: string, name: string): Promise<boolean> {
    let isKnown = false;
    await this.#options.store.update<DeviceEntry>(DEVICE + deviceId, (entry) => {
      isKnown = entry !== undefined;
      return entry && { ...entry, name };
    });
    return isKnown;
  }

  /**
   * Its token is void at once, its sessions end and its sockets close.
   *
   * @param by the device that asks; none where it is the edge.
   * @returns whether there is such a device.
   */
  async unpair(deviceId: string, unpairing: Unpairing, by: string | null = null): Promise<boolean> {
    const { deviceOf } = this.#options;
    const name = await this.#nameOf(deviceId);
    if (name === null) return false;
    const byName = by === null ? null : await this.#nameOf(by);
    // A device that is listed no more could not be unpaired once more.
    await deviceOf(deviceId).unpair(unpairing);
    await this.#remove(deviceId);
    await this.#log.note({ kind: "unpaired", deviceId, name, by: byName });
    return true;
  }

  // DirectoryCalls

  async adopt({ deviceId, isGuest }: NamedDevice, name: string): Promise<DeviceTerms | null> {
    await this.#noticeNewKey();
    const entry = await this.#options.store.get<DeviceEntry>(DEVICE + deviceId);
    if (entry !== undefined) return entry.terms;
    if (isGuest) return null;
    // A person who knows the replaced key can sign a token.
    if ((await this.#access())?.ownKeyHash !== undefined || (await this.#isFull())) return null;
    const terms: DeviceTerms = { kind: "full" };
    await this.#add({ id: deviceId, name, terms }, "token");
    return terms;
  }

  async ended(deviceId: string, why: EndReason): Promise<void> {
    const name = await this.#nameOf(deviceId);
    await this.#remove(deviceId);
    if (name !== null) await this.#log.note({ kind: "ended", deviceId, name, why });
  }

  async turnedAway(deviceId: string): Promise<void> {
    const name = await this.#log.nameOf(deviceId);
    if (name !== null) await this.#log.note({ kind: "turned-away", deviceId, name });
  }

  async #isAccessKey(secret: string): Promise<boolean> {
    await this.#noticeNewKey();
    const ownKeyHash = (await this.#access())?.ownKeyHash;
    if (ownKeyHash === undefined) return equalSecrets(secret, this.#options.accessKey);
    return equalSecrets(await hashOf(secret), ownKeyHash);
  }

  #access(): Promise<AccessRecord | undefined> {
    return this.#options.store.get<AccessRecord>(ACCESS);
  }

  async #nameOf(deviceId: string): Promise<string | null> {
    return (await this.#options.store.get<DeviceEntry>(DEVICE + deviceId))?.name ?? null;
  }

  async #isFull(): Promise<boolean> {
    return (
      (await this.#options.store.list(DEVICE)).length >= MOST_DEVICES && (await this.list()).length >= MOST_DEVICES
    );
  }

  async #add(entry: Omit<DeviceEntry, "pairedAt">, by: "key" | "code" | "token"): Promise<void> {
    const pairedAt = this.#options.now();
    await this.#options.store.update<DeviceEntry>(DEVICE + entry.id, () => ({ ...entry, pairedAt }));
    await this.#log.note({ kind: "paired", deviceId: entry.id, name: entry.name, with: by });
  }

  #remove(deviceId: string): Promise<void> {
    return this.#options.store.update<DeviceEntry>(DEVICE + deviceId, () => undefined);
  }

  /** Under another ROPEWAY_ACCESS_KEY all tokens are void: their devices go, and do not come back with the former key. */
  async #noticeNewKey(): Promise<void> {
    const { store, accessKey } = this.#options;
    const keyHash = await hashOf(accessKey);
    const isNoticed = async () => (await this.#access())?.keyHash === keyHash;
    if (await isNoticed()) return;
    const listed = await store.list<DeviceEntry>(DEVICE);
    // Another process may have noticed the new key before, and may have paired devices, which are in the list.
    if (await isNoticed()) return;
    for (const { id } of listed) await this.unpair(id, { withCookies: false });
    await store.update<AccessRecord>(ACCESS, (known) => (known?.keyHash === keyHash ? known : { keyHash }));
  }
}
