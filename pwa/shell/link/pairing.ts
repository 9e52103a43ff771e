import { toHex } from "../../../shared/base-encodings.ts";
import type { DeviceList, GuestLimits, PairingCode } from "../../../shared/devices.ts";
import { later } from "../../../shared/errors.ts";
import { DEVICES_PATH, PAIR_PATH, TOKEN_PATH } from "../../../shared/subprotocol.ts";
import type { KeyValueStorage } from "../app/settings.ts";

const TOKEN_KEY = "ropeway.token";
/** Fingerprint of the key that the token came from: it shows whether a link brings another key. */
const FINGERPRINT_KEY = "ropeway.key-fingerprint";

export const UNREACHABLE = later("Your edge cannot be reached now.");

/** `refused`: why, in the edge's words; null for a key that is not its. */
export type PairingResult = "paired" | "unreachable" | { readonly refused: string | null };

/** The edge's key pairs nobody (403), too many wrong ones came (429), or the edge cannot read its state (503). */
const REFUSALS: ReadonlySet<number> = new Set([403, 429, 503]);

/** Turns the person's access key into this phone's token, once. The key itself is not kept. */
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

/**
 * Milliseconds that an edge is waited for: a network may drop all without a word. No link of use takes as long: a code is spent
 * though its answer is given up.
 */
const ANSWER_TIME = 90_000;

/** @param isWanted whether the answer still counts. Once another key is asked about it does not: then nothing is stored, and the result means nothing. */
export async function pair(
  storage: KeyValueStorage,
  accessKey: string,
  isWanted: () => boolean = () => true,
): Promise<PairingResult> {
  let response: Response;
  try {
    const headers = { authorization: `Bearer ${accessKey}` };
    response = await fetch(PAIR_PATH, { method: "POST", headers, signal: AbortSignal.timeout(ANSWER_TIME) });
  } catch {
    return "unreachable";
  }
  if (response.status === 401) return { refused: null };
  if (REFUSALS.has(response.status)) {
    const { error } = (await response.json().catch(() => ({}))) as { error?: string };
    return error === undefined ? "unreachable" : { refused: error };
  }
  if (!response.ok) return "unreachable";
  const { token } = (await response.json().catch(() => ({}))) as { token?: string };
  // Cut on its way.
  if (token === undefined || !isWanted()) return "unreachable";
  storeToken(storage, token);
  storage.setItem(FINGERPRINT_KEY, await fingerprint(accessKey));
  return "paired";
}

async function fingerprint(accessKey: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(`ropeway key ${accessKey}`));
  return toHex(new Uint8Array(digest).slice(0, 8));
}

/** Milliseconds. The edge takes a token until the second one after it: windows that were opened before have it yet. */
const RENEWAL_TIME = 30 * 24 * 60 * 60 * 1000;

const RENEWED_KEY = "ropeway.token-renewed";
const LOCK = "ropeway.token";

/**
 * Replaces this device's token now and then, so that one that was copied does not hold for good.
 *
 * @param locks so that of two windows one renews it; without them none does.
 * @param now milliseconds since the epoch.
 */
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

/** `why` is a sentence for a person. */
export type Asked<Answer> = { readonly answer: Answer } | { readonly why: string };

/** Questions of the app to its edge about paired devices (PROTOCOL.md section 1.5). */
export class DeviceRequests {
  #token: string;

  /** @param token of this device. */
  constructor(token: string) {
    this.#token = token;
  }

  list(): Promise<Asked<DeviceList>> {
    return this.#ask("GET", "");
  }

  rename(id: string, name: string): Promise<Asked<null>> {
    return this.#ask("PATCH", `/${id}`, { name });
  }

  unpair(id: string, withCookies: boolean): Promise<Asked<null>> {
    return this.#ask("DELETE", `/${id}${withCookies ? "?cookies" : ""}`);
  }

  /** @param guest null for a device that stays. */
  createCode(guest: GuestLimits | null): Promise<Asked<PairingCode>> {
    return this.#ask("POST", "/codes", guest === null ? {} : { guest });
  }

  changeKey(unpairsOthers: boolean): Promise<Asked<{ readonly accessKey: string }>> {
    return this.#ask("POST", "/key", { unpairsOthers });
  }

  async #ask<Answer>(method: string, path: string, body?: object): Promise<Asked<Answer>> {
    const headers = { authorization: `Bearer ${this.#token}` };
    const init = body === undefined ? { method, headers } : { method, headers, body: JSON.stringify(body) };
    const response = await fetch(DEVICES_PATH + path, init).catch(() => null);
    if (response === null) return { why: UNREACHABLE };
    const answer: unknown = await response.json().catch(() => null);
    return response.ok ? { answer: answer as Answer } : { why: refusal(response.status) };
  }
}

const WHY_REFUSED: Readonly<Record<number, string>> = {
  401: later("This device is not paired any more."),
  403: later("This device is a guest, and guests manage no devices."),
  404: later("Your edge does not know this: it may be older than the app, or the device is gone."),
  503: later("Your edge cannot read what it keeps; its log says why."),
};

function refusal(status: number): string {
  return WHY_REFUSED[status] ?? later("Your edge could not do that.");
}
