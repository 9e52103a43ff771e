/** Turns the person's access key into this phone's token, once. The key itself is not kept. */
import { toHex } from "../../../shared/base-encodings.ts";
import { PAIR_PATH } from "../../../shared/subprotocol.ts";
import type { KeyValueStorage } from "../app/key-value-storage.ts";

const TOKEN_KEY = "ropeway.token";
/** Fingerprint of the key that the token came from: it shows whether a link brings another key. */
const FINGERPRINT_KEY = "ropeway.key-fingerprint";

/** `refused`: why, in the edge's words; null for a key that is not its. */
export type PairingResult = "paired" | "unreachable" | { readonly refused: string | null };

/** The edge's key pairs nobody (403), too many wrong ones came (429), or the edge cannot read its state (503). */
const REFUSALS: ReadonlySet<number> = new Set([403, 429, 503]);

export function storedToken(storage: KeyValueStorage): string | null {
  return storage.getItem(TOKEN_KEY);
}

export function storeToken(storage: KeyValueStorage, token: string): void {
  storage.setItem(TOKEN_KEY, token);
}

/** Whether the stored token already came from this key. */
export async function isPairedWith(storage: KeyValueStorage, accessKey: string): Promise<boolean> {
  return storedToken(storage) !== null && storage.getItem(FINGERPRINT_KEY) === (await fingerprint(accessKey));
}

export async function pair(storage: KeyValueStorage, accessKey: string): Promise<PairingResult> {
  let response: Response;
  try {
    response = await fetch(PAIR_PATH, { method: "POST", headers: { authorization: `Bearer ${accessKey}` } });
  } catch {
    return "unreachable";
  }
  if (response.status === 401) return { refused: null };
  if (REFUSALS.has(response.status)) {
    const { error } = (await response.json().catch(() => ({}))) as { error?: string };
    return error === undefined ? "unreachable" : { refused: error };
  }
  if (!response.ok) return "unreachable";
  const { token } = (await response.json()) as { token: string };
  storeToken(storage, token);
  storage.setItem(FINGERPRINT_KEY, await fingerprint(accessKey));
  return "paired";
}

async function fingerprint(accessKey: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(`ropeway key ${accessKey}`));
  return toHex(new Uint8Array(digest).slice(0, 8));
}
