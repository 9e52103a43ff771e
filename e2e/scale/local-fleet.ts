/** An edge on its own in a process, phones and an origin on the same machine. */
import { spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { type RunningEdge, startEdge } from "../../scripts/edge-process.ts";
import { ensureOpenFiles } from "./open-files.ts";
import { type ScaleOrigin, startOrigin } from "./origin/start-origin.ts";
import { Fleet } from "./phones/fleet.ts";
import type { PhonesReport } from "./phones/task.ts";
import { type ProcessFigures, readProcess } from "./process-figures.ts";
import type { Runtime } from "./result.ts";

/** That the app opens by itself. */
const MOST_CHANNELS = 6;
/** Milliseconds. */
const POLL = 250;

export class LocalFleet {
  readonly fleet: Fleet;
  /** Before the first phone. */
  readonly empty: ProcessFigures;
  readonly #edge: RunningEdge;
  readonly #origin: ScaleOrigin;
  readonly #originUrl: string;
  readonly #directory: string;
  readonly #seed: number;
  readonly #channels: number | null;

  private constructor(
    parts: {
      readonly fleet: Fleet;
      readonly edge: RunningEdge;
      readonly origin: ScaleOrigin;
      readonly originUrl: string;
      readonly directory: string;
      readonly channels: number | null;
    },
    seed: number,
  ) {
    this.fleet = parts.fleet;
    this.#edge = parts.edge;
    this.#origin = parts.origin;
    this.#originUrl = parts.originUrl;
    this.#directory = parts.directory;
    this.#channels = parts.channels;
    this.#seed = seed;
    this.empty = this.look();
  }

  /**
   * Starts the edge as `npm start` does, with the origin in the demo site's place.
   *
   * @param channels of every phone; null to let the app decide.
   */
  static async open(
    runtime: Runtime,
    phones: number,
    seed: number,
    channels: number | null = null,
  ): Promise<LocalFleet> {
    ensureOpenFiles(phones, channels ?? MOST_CHANNELS);
    const directory = await mkdtemp(join(tmpdir(), "ropeway-scale-"));
    process.once("exit", () => rmSync(directory, { recursive: true, force: true }));
    const closing: (() => Promise<unknown>)[] = [() => rm(directory, { recursive: true, force: true })];
    try {
      const origin = await startOrigin(([program, ...args]) =>
        spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] }),
      );
      closing.push(() => origin.close());
      const originUrl = `http://scale.localhost:${origin.port}`;
      const edge = await startEdge({
        runtime,
        port: 0,
        demo: { url: `${originUrl}/`, origins: [originUrl] },
        stateDirectory: join(directory, "state"),
      });
      closing.push(() => edge.close());
      return new LocalFleet({ fleet: new Fleet(phones), edge, origin, originUrl, directory, channels }, seed);
    } catch (error) {
      for (const close of closing.reverse()) await close().catch(() => {});
      throw error;
    }
  }

  /** @param rate phones a second. */
  join(rate: number): Promise<PhonesReport> {
    const { url, accessKey } = this.#edge;
    const edge = url.replace("//localhost:", "//127.0.0.1:");
    return this.fleet.join(
      { edge, accessKey, origin: this.#originUrl, seed: this.#seed, channels: this.#channels },
      rate,
    );
  }

  look(): ProcessFigures {
    return readProcess(this.#edge.pid);
  }

  /** Tunnel objects in workerd's memory; 0 on Deno, which has none. */
  get objects(): number {
    return Math.max(0, this.look().databases - this.empty.databases);
  }

  /**
   * Waits until no object is in memory, or for as long as that takes where it cannot be seen.
   *
   * @param timeout milliseconds; workerd keeps an object ten seconds longer than anybody asks for it.
   */
  async untilHibernated(timeout: number): Promise<void> {
    const end = performance.now() + timeout;
    if (this.empty.databases === 0) return void (await wait(timeout / 2));
    while (this.objects > 0 && performance.now() < end) await wait(POLL);
  }

  async close(): Promise<void> {
    this.fleet.close();
    await Promise.allSettled([this.#edge.close(), this.#origin.close()]);
    await rm(this.#directory, { recursive: true, force: true });
  }
}

/** Runnable processes of late, on the whole machine. */
export function machineLoad(): number {
  return Number((loadavg()[0] ?? 0).toFixed(2));
}
