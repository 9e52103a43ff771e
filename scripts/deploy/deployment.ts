/**
 * Deploys edge and hosts of slots, one step after the other; each may be repeated. The edge comes first, since it tells
 * the account's name below workers.dev. The list of hosts comes last, when all of them answer: it is kept as a secret, as the
 * plan is, which the next deployment of the edge leaves as it is.
 */
import { createInterface } from "node:readline/promises";
import type { Plan } from "../../worker/front/edge-settings.ts";
import type { Platform, SecretChanges, Worker } from "./platform.ts";
import { slotHostPattern, slotNames } from "./slot-workers.ts";

const KEY = "ROPEWAY_ACCESS_KEY";
const BASE = "ROPEWAY_HOST";
const LIST = "ROPEWAY_SLOT_HOSTS";
const PLAN = "ROPEWAY_PLAN";

export interface AccessKeys {
  /** Makes one where there is none. */
  kept(): Promise<{ readonly key: string; readonly isNew: boolean }>;
  forget(): Promise<void>;
}

export interface Deployment {
  readonly platform: Platform;
  readonly edge: Worker;
  /** The base host where there is a wildcard below it, or a list of its own; null where the platform names the edge. */
  readonly host: string | null;
  /** How many hosts to make where the platform names the edge; 0 for none. */
  readonly slots: number;
  /** Puts a new access key in the place of the one that the edge has. */
  readonly newKey: boolean;
  readonly keys: AccessKeys;
  /** @param baseOrigin of the shell. @param list what ROPEWAY_SLOT_HOSTS will be. */
  slotWorkers(names: readonly string[], baseOrigin: string, list: string): Promise<readonly Worker[]>;
  /** @param isTold the edge has been told of one. @returns null where that stays as it is. */
  plan(isTold: boolean): Promise<Plan | null>;
  say(line: string): void;
}

export interface Deployed {
  /** Origin of the shell. */
  readonly url: string;
  /** Null where the edge has one that is not known here. */
  readonly key: string | null;
}

export async function deployAll(deployment: Deployment): Promise<Deployed> {
  const { platform, edge, host, newKey, keys } = deployment;
  const named = await platform.deploy(edge);
  const url = host === null ? named : `https://${host}`;
  const list = host === null && isPlatformsOwn(named) ? await deploySlots(deployment, named) : null;
  const names = await platform.secretNames(edge);
  const plan = await deployment.plan(names.includes(PLAN));
  if (newKey) await keys.forget();
  const { key, isNew } = await keys.kept();
  const isKnown = !names.includes(KEY) || !isNew || newKey;
  const changes = {
    ...(host === null && !isPlatformsOwn(named) ? {} : (list ?? withoutList(names))),
    ...(plan === null ? {} : { [PLAN]: plan }),
    ...(isKnown && (isNew || !names.includes(KEY)) ? { [KEY]: key } : {}),
  };
  try {
    if (Object.keys(changes).length > 0) await platform.changeSecrets(edge, changes);
  } catch (error) {
    if (isNew) await keys.forget();
    throw error;
  }
  if (!isKnown) await keys.forget();
  return { url, key: isKnown ? key : null };
}

function isPlatformsOwn(origin: string): boolean {
  return new URL(origin).hostname.endsWith(".workers.dev");
}

/** @returns what tells the edge of its hosts; null where none were to be. */
async function deploySlots(
  { platform, edge, slots, slotWorkers, say }: Deployment,
  baseOrigin: string,
): Promise<SecretChanges | null> {
  if (slots === 0) return null;
  const baseHost = new URL(baseOrigin).hostname;
  const pattern = slotHostPattern(baseHost, slots);
  const workers = await slotWorkers(slotNames(edge.name, slots), baseOrigin, pattern);
  const names = workers.map(({ name }) => name).values();
  for await (const origin of platform.deployAlike(workers, say)) {
    const wanted = baseHost.replace(edge.name, String(names.next().value));
    if (new URL(origin).hostname !== wanted) throw new Error(`Cannot deploy: ${wanted} is at ${origin}`);
  }
  return { [BASE]: baseHost, [LIST]: pattern };
}

/** Takes away the settings of slots that an earlier deployment has. */
function withoutList(names: readonly string[]): SecretChanges {
  return Object.fromEntries([BASE, LIST].filter((name) => names.includes(name)).map((name) => [name, null]));
}

/** @throws Error for another word. */
export function readPlanFlag(text: string | undefined): Plan | null {
  if (text === undefined || text === "free" || text === "paid") return text ?? null;
  throw new Error(`Cannot deploy: the plan is "${text}": --plan takes free or paid`);
}

/** @returns null where nobody can answer. */
export async function askPlan({
  stdin,
  stdout,
}: {
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly stdout: NodeJS.WritableStream;
}): Promise<Plan | null> {
  if (stdin.isTTY !== true) return null;
  const lines = createInterface({ input: stdin, output: stdout });
  try {
    const answer = await lines.question("Is the account on Cloudflare's free plan? [y/n] ");
    return /^y/i.test(answer.trim()) ? "free" : "paid";
  } finally {
    lines.close();
  }
}
