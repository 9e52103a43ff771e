/** The Durable Object of an edge that has the list of its devices. */
import { DurableObject } from "cloudflare:workers";
import { epochClock } from "../../shared/clock.ts";
import type { DeviceEvent, PairingCode } from "../../shared/devices.ts";
import { ListKeeper } from "../blocking/tracker-blocker.ts";
import {
  type CodeTerms,
  DeviceDirectory,
  type ListedDevice,
  type PairingAnswer,
  type PairingRequest,
} from "../devices/device-directory.ts";
import type { DeviceCalls, DeviceTerms, EndReason, NamedDevice, Unpairing } from "../devices/device-token.ts";
import type { DirectoryDesk } from "../devices/phone-door.ts";
import { readBlockLists } from "../front/edge-settings.ts";
import { askWithState, type ObjectState, objectRecordStore } from "./object-state.ts";
import { StateDisk } from "./state-disk.ts";
import type { WorkerEnvironment } from "./worker-environment.ts";

/** What others ask of it. */
export type DirectoryStub = DirectoryDesk &
  Pick<DeviceDirectory, "pair"> & {
    /** As of `ListKeeper.compiled`. */
    blockList(): Promise<Uint8Array | null>;
  };

/** There is one. */
const NAME = "devices";

/**
 * Remote calls of the runtime: what they take and give is cloned. They throw RopewayErrors where the list cannot be read
 * (`askWithState`).
 */
export function directoryOf(env: WorkerEnvironment): DirectoryStub {
  const id = env.DIRECTORY.idFromName(NAME);
  const state: ObjectState = {
    env,
    directory: env.DIRECTORY_DIRECTORY,
    id,
    holds: "the list of devices; those that are paired stay so, and are listed again when they next come",
    subject: "its list of devices",
    isRepeatable: true,
  };
  type Call = (...values: readonly unknown[]) => Promise<unknown>;
  const callOf = (name: string): Call => {
    // A stub of its own for each call: one that has failed goes on to fail.
    const stub = () => env.DIRECTORY.get(id) as unknown as Readonly<Record<string, Call>>;
    return (...values) => askWithState(async () => stub()[name]?.(...values), state);
  };
  return new Proxy({} as DirectoryStub, { get: (_, name) => callOf(String(name)) });
}

export class DirectoryObject extends DurableObject<WorkerEnvironment> implements DirectoryStub {
  #directory: DeviceDirectory;
  #lists: ListKeeper;

  constructor(ctx: DurableObjectState, env: WorkerEnvironment) {
    super(ctx, env);
    const store = objectRecordStore(ctx.storage, new StateDisk(env));
    this.#lists = new ListKeeper({
      store,
      urls: readBlockLists(env),
      fetch: (url, init) => fetch(url, init),
      now: epochClock.now,
      log: (line) => console.error(line),
    });
    this.#directory = new DeviceDirectory({
      accessKey: env.ROPEWAY_ACCESS_KEY ?? "",
      store,
      deviceOf: (deviceId) => env.TUNNEL.get(env.TUNNEL.idFromName(deviceId)) as unknown as DeviceCalls,
      now: epochClock.now,
    });
  }

  pair(request: PairingRequest): Promise<PairingAnswer> {
    return this.#directory.pair(request);
  }

  list(): Promise<ListedDevice[]> {
    return this.#directory.list();
  }

  rename(deviceId: string, name: string): Promise<boolean> {
    return this.#directory.rename(deviceId, name);
  }

  unpair(deviceId: string, unpairing: Unpairing, by: string | null): Promise<boolean> {
    return this.#directory.unpair(deviceId, unpairing, by);
  }

  createCode(terms: CodeTerms): Promise<PairingCode> {
    return this.#directory.createCode(terms);
  }

  changeKey(by: string, unpairsOthers: boolean): Promise<string> {
    return this.#directory.changeKey(by, unpairsOthers);
  }

  events(): Promise<DeviceEvent[]> {
    return this.#directory.events();
  }

  turnedAway(deviceId: string): Promise<void> {
    return this.#directory.turnedAway(deviceId);
  }

  adopt(device: NamedDevice, name: string): Promise<DeviceTerms | null> {
    return this.#directory.adopt(device, name);
  }

  ended(deviceId: string, reason: EndReason): Promise<void> {
    return this.#directory.ended(deviceId, reason);
  }

  blockList(): Promise<Uint8Array | null> {
    return this.#lists.compiled();
  }
}
