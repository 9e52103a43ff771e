/** Turns the person's access key into this phone's token, once. The key itself is not kept. */
import { PAIR_PATH } from "../../shared/subprotocol.ts";
import type { KeyValueStorage } from "./slot-registry.ts";

const TOKEN_KEY = "ropeway.token";
/** Of the key the token came from, to see whether a link brings another one. */
const FINGERPRINT_KEY = "ropeway.key-fingerprint";

export type PairingResult = "paired" | "refused" | "unreachable";

export function storedToken(storage: KeyValueStorage): string | null {
  return storage.getItem(TOKEN_KEY);
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
  if (response.status === 401) return "refused";
  if (!response.ok) return "unreachable";
  const { token } = (await response.json()) as { token: string };
  storage.setItem(TOKEN_KEY, token);
  storage.setItem(FINGERPRINT_KEY, await fingerprint(accessKey));
  return "paired";
}

async function fingerprint(accessKey: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(`ropeway key ${accessKey}`));
  return Array.from(new Uint8Array(digest).slice(0, 8), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
