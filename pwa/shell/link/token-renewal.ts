/** Replaces this device's token now and then, so that one that was copied does not hold for good. */
import { TOKEN_PATH } from "../../../shared/subprotocol.ts";
import type { KeyValueStorage } from "../app/key-value-storage.ts";
import { storedToken, storeToken } from "./pairing.ts";

/** Milliseconds. The edge takes a token until the second one after it: windows that were opened before have it yet. */
const RENEWAL_TIME = 30 * 24 * 60 * 60 * 1000;

const RENEWED_KEY = "ropeway.token-renewed";
const LOCK = "ropeway.token";

/** @param locks so that of two windows one renews it; without them none does. @param now milliseconds since the epoch. */
export async function renewToken(
  storage: KeyValueStorage,
  locks: Pick<LockManager, "request"> | null,
  now: () => number,
): Promise<void> {
  await locks?.request(LOCK, async () => {
    const token = storedToken(storage);
    const renewedAt = Number(storage.getItem(RENEWED_KEY) ?? Number.NaN);
    if (token === null || now() - renewedAt < RENEWAL_TIME) return;
    // A device that was just paired has a new one.
    if (!Number.isNaN(renewedAt)) {
      const headers = { authorization: `Bearer ${token}` };
      const response = await fetch(TOKEN_PATH, { method: "POST", headers }).catch(() => null);
      // An edge of before, or none: at the next start.
      if (!response?.ok) return;
      const renewed = (await response.json()) as { readonly token: string };
      // Paired anew meanwhile.
      if (storedToken(storage) !== token) return;
      storeToken(storage, renewed.token);
    }
    storage.setItem(RENEWED_KEY, String(now()));
  });
}
