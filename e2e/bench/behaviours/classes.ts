/** What the runner of experiment C needs: the application classes, what serves them, and how to follow a replay. */
import type { ChildProcess, SpawnOptions } from "node:child_process";
import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Frame } from "@playwright/test";
import { build } from "esbuild";
import { ContestantError, HarnessError } from "../failure.ts";
import { startServer } from "../servers/server-process.ts";
import { readWorkload, type Workload } from "./behaviour.ts";
import type { ReplayOutcome } from "./replay/replay-outcome.ts";
import type { ReplayWindow } from "./replay/replay-page.ts";
import { bodyBytes, hostsOf, type ReplayPlan, replayPlan } from "./replay/replay-plan.ts";

export interface ReplayClass {
  /** Such as "social". */
  readonly name: string;
  /** The page that replays it. It waits for `startReplay`. */
  readonly url: string;
  /** All hosts that it asks, the page's own first: each to be proxied to the replay server. */
  readonly hosts: readonly string[];
  readonly plan: ReplayPlan;
  /** Of all bodies that the page gets. */
  readonly bytesDown: number;
}

/** The paper's four. */
export const APPLICATIONS = ["browser", "newspaper", "video", "social"] as const;

/** The classes from the behaviour files. */
export function replayClasses(names: readonly string[] = APPLICATIONS): Promise<readonly ReplayClass[]> {
  return Promise.all(
    names.map(async (name): Promise<ReplayClass> => {
      const file = join(import.meta.dirname, "files", `${name}.tsv`);
      return replayClassOf(readWorkload(await readFile(file, "utf8"), name, file));
    }),
  );
}

/** @param workload whose hosts have names that the laboratory's DNS may answer for. */
function replayClassOf(workload: Workload): ReplayClass {
  const { name } = workload;
  const hosts = hostsOf(workload);
  const plan = replayPlan(workload);
  const url = `https://${hosts[0]}/replay.html?plan=${name}&hold`;
  return { name, url, hosts, plan, bytesDown: bodyBytes(plan).down };
}

/** Puts the replay page, its script and plans where a replay origin finds them. */
export async function writeReplayFiles(directory: string, plans: readonly ReplayPlan[]): Promise<void> {
  await mkdir(join(directory, "plan"), { recursive: true });
  await copyFile(join(import.meta.dirname, "replay", "replay.html"), join(directory, "replay.html"));
  await build({
    entryPoints: [join(import.meta.dirname, "replay", "replay-page.ts")],
    outfile: join(directory, "replay.js"),
    bundle: true,
    format: "esm",
    target: "es2022",
    logLevel: "silent",
  });
  for (const plan of plans) await writeFile(join(directory, "plan", `${plan.name}.json`), JSON.stringify(plan));
}

export interface ReplayServer {
  /** For Caddy: every host of the classes, at the server's port. */
  readonly proxied: readonly { readonly name: string; readonly upstream: string }[];
  close(): Promise<void>;
}

/**
 * Starts the replay origin of some classes.
 *
 * @param options.spawn starts it where Caddy runs: `lab.origins.spawn`.
 * @param options.directory of the run; replay files are written to a folder in it.
 * @throws HarnessError when it does not start.
 */
export async function startReplayServer(options: {
  readonly classes: readonly ReplayClass[];
  readonly directory: string;
  readonly spawn: (argv: readonly string[], options: SpawnOptions) => ChildProcess;
}): Promise<ReplayServer> {
  const { classes, spawn } = options;
  const directory = join(options.directory, "replay");
  await writeReplayFiles(
    directory,
    classes.map(({ plan }) => plan),
  );
  const program = join(import.meta.dirname, "replay", "replay-origin.ts");
  const server = await startServer({
    name: "the replay origin",
    child: spawn([process.execPath, program, directory, "0"], { stdio: ["pipe", "pipe", "pipe"] }),
    readyLine: /^\d+$/,
  });
  const hosts = [...new Set(classes.flatMap((each) => each.hosts))];
  return {
    proxied: hosts.map((name) => ({ name, upstream: `127.0.0.1:${server.readyLine}` })),
    close: () => server.close(),
  };
}

/** Milliseconds between two looks at the page. */
const LOOK_EVERY = 250;

/**
 * Waits until the replay page in this frame has its plan and is held. Counters may be read now, then `startReplay`.
 *
 * @throws ContestantError when the page does not get that far in `timeout` milliseconds.
 */
export async function replayReady(frame: Frame, timeout: number): Promise<void> {
  await settle(frame, ["ready", "running", "done", "failed"], timeout, "load the replay page");
  const error = await frame.evaluate(() => (window as unknown as ReplayWindow).replay.error);
  if (error !== null) throw new ContestantError(error);
}

export async function startReplay(frame: Frame): Promise<void> {
  await frame.evaluate(() => (window as unknown as ReplayWindow).replay.start());
}

/**
 * Waits for the end of a replay.
 *
 * @param timeout milliseconds.
 * @throws ContestantError when it has not ended by then. Requests that failed are in the outcome, no error.
 */
export async function readReplay(frame: Frame, timeout: number): Promise<ReplayOutcome> {
  await settle(frame, ["done", "failed"], timeout, "finish the replay");
  const { outcome, error } = await frame.evaluate(() => (window as unknown as ReplayWindow).replay);
  if (outcome === null) throw new ContestantError(error ?? "Cannot read the replay: the page has no outcome");
  return outcome;
}

async function settle(frame: Frame, phases: readonly string[], timeout: number, what: string): Promise<void> {
  try {
    await frame.waitForFunction((wanted) => wanted.includes(document.documentElement.dataset.replay ?? ""), phases, {
      timeout,
      polling: LOOK_EVERY,
    });
  } catch (error) {
    if (frame.isDetached()) throw new HarnessError(`Cannot ${what}: its frame is gone`, { cause: error });
    const done = await frame
      .evaluate(() => (window as unknown as Partial<ReplayWindow>).replay?.done ?? 0)
      .catch(() => "unknown many");
    throw new ContestantError(`Cannot ${what}: after ${timeout} ms, ${done} requests were done`, { cause: error });
  }
}
