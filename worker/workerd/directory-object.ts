/** The Durable Object of an edge that has the list of its devices. */
import { DurableObject } from "cloudflare:workers";
import { epochClock } from "../../shared/clock.ts";
import { ListKeeper } from "../blocking/tracker-blocker.ts";
import { type DeviceCalls, DeviceDirectory } from "../devices/device-directory.ts";
import type { DirectoryDesk } from "../devices/phone-door.ts";
import { EdgeSettings } from "../front/edge-settings.ts";
import { askWithState, type ObjectState, objectRecordStore } from "./object-state.ts";
import { StateDisk } from "./state-disk.ts";
import type { WorkerEnvironment } from "./worker-environment.ts";

/** Calls of phones and of the router. */
export type DirectoryStub = DirectoryDesk &
  Pick<DeviceDirectory, "pair"> & {
    /** As of `ListKeeper.compiled`. */
    blockList(): Promise<Uint8Array | null>;
  };

/** An edge has one such object. */
const NAME = "devices";

/**
 * Remote calls of the runtime: values that they take and give are cloned. They throw RopewayErrors where the list cannot be read
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

type Given<Name extends keyof DirectoryStub> = Parameters<DirectoryStub[Name]>;
type Told<Name extends keyof DirectoryStub> = ReturnType<DirectoryStub[Name]>;

export class DirectoryObject extends DurableObject<WorkerEnvironment> implements DirectoryStub {
  #directory: DeviceDirectory;
  #lists: ListKeeper;

  constructor(ctx: DurableObjectState, env: WorkerEnvironment) {
    super(ctx, env);
    const store = objectRecordStore(ctx.storage, new StateDisk(env));
    this.#lists = new ListKeeper({
      store,
      urls: new EdgeSettings(env).blockLists,
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

  pair(...given: Given<"pair">): Told<"pair"> {
    return this.#directory.pair(...given);
  }

  list(...given: Given<"list">): Told<"list"> {
    return this.#directory.list(...given);
  }

  rename(...given: Given<"rename">): Told<"rename"> {
    return this.#directory.rename(...given);
  }

  unpair(...given: Given<"unpair">): Told<"unpair"> {
    return this.#directory.unpair(...given);
  }

  createCode(...given: Given<"createCode">): Told<"createCode"> {
    return this.#directory.createCode(...given);
  }

  changeKey(...given: Given<"changeKey">): Told<"changeKey"> {
    return this.#directory.changeKey(...given);
  }

  events(...given: Given<"events">): Told<"events"> {
    return this.#directory.events(...given);
  }

  turnedAway(...given: Given<"turnedAway">): Told<"turnedAway"> {
    return this.#directory.turnedAway(...given);
  }

  adopt(...given: Given<"adopt">): Told<"adopt"> {
    return this.#directory.adopt(...given);
  }

  ended(...given: Given<"ended">): Told<"ended"> {
    return this.#directory.ended(...given);
  }

  blockList(): Promise<Uint8Array | null> {
    return this.#lists.compiled();
  }
}
