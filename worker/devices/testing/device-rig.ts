/** A directory and the devices in it, in memory, on a clock that the test moves. */
import { DeviceDirectory } from "../device-directory.ts";
import { type DeviceToken, verifyToken } from "../device-token.ts";
import { OwnDevice } from "../phone-door.ts";
import { memoryRecordStore, type RecordStore } from "../record-store.ts";

export const KEY = "kept-to-itself-in-32-characters.";

interface RiggedDevice {
  readonly own: OwnDevice;
  readonly store: RecordStore;
  /** What was done to it, in order. */
  readonly seen: string[];
  isConnected: boolean;
}

export class DeviceRig {
  /** Milliseconds since the epoch. */
  time = 1_800_000_000_000;
  directory: DeviceDirectory;
  #directoryStore: RecordStore;
  #devices = new Map<string, RiggedDevice>();
  /** That it began with: tokens are signed with it. */
  readonly #accessKey: string;

  constructor(accessKey = KEY, directoryStore = memoryRecordStore()) {
    this.#directoryStore = directoryStore;
    this.#accessKey = accessKey;
    this.directory = this.#open(accessKey);
  }

  /** All that is in memory goes; what is stored stays. */
  restart(accessKey = KEY): void {
    this.directory = this.#open(accessKey);
    for (const [id, { store }] of this.#devices) this.#devices.set(id, this.#makeDevice(store));
  }

  device(id: string): RiggedDevice {
    const known = this.#devices.get(id) ?? this.#makeDevice(memoryRecordStore());
    this.#devices.set(id, known);
    return known;
  }

  /** @returns its token, as it was issued and as it is read. */
  async pair(name = "Phone", secret = this.#accessKey): Promise<{ readonly token: string } & DeviceToken> {
    const answer = await this.directory.pair({ secret, name });
    if (answer.kind !== "paired") throw new Error(`Cannot pair: ${answer.why}`);
    return { token: answer.token, ...(await read(answer.token, this.#accessKey)) };
  }

  /** Whether a handshake with that token succeeds. */
  async comesIn(token: DeviceToken): Promise<boolean> {
    return (await this.device(token.deviceId).own.admit(token, "Adopted")) !== null;
  }

  #open(accessKey: string): DeviceDirectory {
    return new DeviceDirectory({
      accessKey,
      store: this.#directoryStore,
      deviceOf: (id) => this.device(id).own,
      now: () => this.time,
    });
  }

  #makeDevice(store: RecordStore): RiggedDevice {
    const seen: string[] = [];
    const own = new OwnDevice({
      store,
      directory: {
        adopt: (device, name) => this.directory.adopt(device, name),
        turnedAway: (id) => this.directory.turnedAway(id),
        ended: (id, reason) => this.directory.ended(id, reason),
      },
      now: () => this.time,
      isConnected: () => device.isConnected,
      disconnect: () => void seen.push("disconnected"),
      forgetPages: async () => void seen.push("pages forgotten"),
      clearSites: async () => void seen.push("sites cleared"),
    });
    const device = { own, store, seen, isConnected: false };
    return device;
  }
}

export async function read(token: string, accessKey = KEY): Promise<DeviceToken> {
  const verified = await verifyToken(accessKey, token);
  if (verified === null) throw new Error("Cannot read the token: it is not of this key");
  return verified;
}
