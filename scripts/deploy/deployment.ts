/** Deploys the edge, one step after the other; each may be repeated. */
import type { Platform, Worker } from "./platform.ts";

const KEY = "ROPEWAY_ACCESS_KEY";

export interface AccessKeys {
  /** Makes one where there is none. */
  kept(): Promise<{ readonly key: string; readonly isNew: boolean }>;
  forget(): Promise<void>;
}

export interface Deployment {
  readonly platform: Platform;
  readonly edge: Worker;
  /** The base host where there is a wildcard below it; null where the platform names the edge. */
  readonly host: string | null;
  /** Puts a new access key in the place of the one that the edge has. */
  readonly newKey: boolean;
  readonly keys: AccessKeys;
}

export interface Deployed {
  /** Origin of the shell. */
  readonly url: string;
  /** Null where the edge has one that is not known here. */
  readonly key: string | null;
}

export async function deployAll({ platform, edge, host, newKey, keys }: Deployment): Promise<Deployed> {
  const named = await platform.deploy(edge);
  const url = host === null ? named : `https://${host}`;
  const names = await platform.secretNames(edge);
  if (newKey) await keys.forget();
  const { key, isNew } = await keys.kept();
  const isKnown = !names.includes(KEY) || !isNew || newKey;
  try {
    if (isKnown && (isNew || !names.includes(KEY))) await platform.changeSecrets(edge, { [KEY]: key });
  } catch (error) {
    if (isNew) await keys.forget();
    throw error;
  }
  if (!isKnown) await keys.forget();
  return { url, key: isKnown ? key : null };
}
