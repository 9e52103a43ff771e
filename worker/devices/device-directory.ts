/**
 * The list of paired devices, and who becomes one. There is one for an edge, and no handshake waits for it but a
 * device's first. Runtime neutral.
 */
import { isStrongAccessKey } from "../../shared/access-key.ts";
import {
  type DeviceCalls,
  type DeviceTerms,
  type DeviceUsage,
  type DirectoryCalls,
  type EndReason,
  UNUSED_TIME,
  type Unpairing,
} from "./device-terms.ts";
import { equalSecrets, hashOf, issueToken, newDeviceId } from "./device-token.ts";
import type { RecordStore } from "./record-store.ts";

/** More than a household has; the list asks each of them how it is. */
const MOST_DEVICES = 1_000;

const DEVICE = "device/";
const ACCESS = "access";

interface DeviceEntry {
  readonly id: string;
  readonly name: string;
  readonly terms: DeviceTerms;
  /** Milliseconds since the epoch. */
  readonly pairedAt: number;
}

/** Which access key the devices are paired under. */
interface AccessRecord {
  /** Of ROPEWAY_ACCESS_KEY. */
  readonly keyHash: string;
}

export interface ListedDevice extends DeviceEntry {
  /** Null where its object does not answer. */
  readonly usage: DeviceUsage | null;
}

export interface PairingRequest {
  /** What the device shows: the access key. */
  readonly secret: string;
  readonly name: string;
}

export type PairingAnswer =
  | { readonly kind: "paired"; readonly token: string }
  | { readonly kind: "refused"; readonly why: "not-accepted" | "weak-key" | "too-many" };

export interface DeviceDirectoryOptions {
  /** ROPEWAY_ACCESS_KEY, which signs tokens. */
  readonly accessKey: string;
  readonly store: RecordStore;
  readonly deviceOf: (deviceId: string) => DeviceCalls;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

export class DeviceDirectory implements DirectoryCalls {
  #options: DeviceDirectoryOptions;

  constructor(options: DeviceDirectoryOptions) {
    this.#options = options;
  }

  async pair({ secret, name }: PairingRequest): Promise<PairingAnswer> {
    const { accessKey, deviceOf } = this.#options;
    await this.#noticeNewKey();
    if (!(await equalSecrets(secret, accessKey))) return { kind: "refused", why: "not-accepted" };
    if (!isStrongAccessKey(accessKey)) return { kind: "refused", why: "weak-key" };
    if (await this.#isFull()) return { kind: "refused", why: "too-many" };
    const { token, deviceId, secretHash } = await issueToken(accessKey, newDeviceId());
    const terms: DeviceTerms = { kind: "full" };
    await this.#add({ id: deviceId, name, terms });
    // Where it cannot be told now, it asks at its first handshake.
    await deviceOf(deviceId)
      .enroll(terms, { deviceId, secretHash })
      .catch(() => {});
    return { kind: "paired", token };
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
    for (const { id } of listed.filter(isUnused)) await this.unpair(id, { withCookies: false });
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
   * @returns whether there is such a device.
   */
  async unpair(deviceId: string, unpairing: Unpairing): Promise<boolean> {
    const { store, deviceOf } = this.#options;
    if ((await store.get(DEVICE + deviceId)) === undefined) return false;
    // What is listed no more could not be unpaired once more.
    await deviceOf(deviceId).unpair(unpairing);
    await this.#remove(deviceId);
    return true;
  }

  // DirectoryCalls

  async adopt(deviceId: string, name: string): Promise<DeviceTerms | null> {
    await this.#noticeNewKey();
    const entry = await this.#options.store.get<DeviceEntry>(DEVICE + deviceId);
    if (entry !== undefined) return entry.terms;
    if (await this.#isFull()) return null;
    const terms: DeviceTerms = { kind: "full" };
    await this.#add({ id: deviceId, name, terms });
    return terms;
  }

  async ended(deviceId: string, _reason: EndReason): Promise<void> {
    await this.#remove(deviceId);
  }

  async #isFull(): Promise<boolean> {
    return (
      (await this.#options.store.list(DEVICE)).length >= MOST_DEVICES && (await this.list()).length >= MOST_DEVICES
    );
  }

  #add(entry: Omit<DeviceEntry, "pairedAt">): Promise<void> {
    const pairedAt = this.#options.now();
    return this.#options.store.update<DeviceEntry>(DEVICE + entry.id, () => ({ ...entry, pairedAt }));
  }

  #remove(deviceId: string): Promise<void> {
    return this.#options.store.update<DeviceEntry>(DEVICE + deviceId, () => undefined);
  }

  /** Under another ROPEWAY_ACCESS_KEY all tokens are void: their devices go, and do not come back with the former key. */
  async #noticeNewKey(): Promise<void> {
    const { store, accessKey } = this.#options;
    const keyHash = await hashOf(accessKey);
    const known = await store.get<AccessRecord>(ACCESS);
    if (known?.keyHash === keyHash) return;
    for (const { id } of await store.list<DeviceEntry>(DEVICE)) await this.unpair(id, { withCookies: false });
    await store.update<AccessRecord>(ACCESS, () => ({ keyHash }));
  }
}
