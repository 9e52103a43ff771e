import { toBase64Url } from "../../shared/base-encodings.ts";
import { BoundedMap } from "../../shared/bounded-map.ts";

/** Tokens that are not checked again, least used dropped first: more than a household has phones. */
const CHECKED_TOKENS_KEPT = 1_000;

const encoder = new TextEncoder();
/** 128 random bits. */
const RANDOM_BYTES = 16;
const RANDOM = /^[A-Za-z0-9_-]{22}$/;
const SIGNATURE_BYTES = 16;

/** The device that a token is for. */
export interface NamedDevice {
  readonly deviceId: string;
  /** A guest's token stays one, whatever the edge has forgotten about it. */
  readonly isGuest: boolean;
}

/** Content of a token; without its key, whether the edge issued it is not known. */
export interface DeviceToken extends NamedDevice {
  /** SHA-256 of the secret, in base64url: as it is stored. */
  readonly secretHash: string;
}

/**
 * A token is what a paired device shows. The signature tells, without asking anything that is stored, that this edge has issued
 * the token: nobody else makes a phone's object start. Whether the device is still paired, and which secret it has by
 * now, its own object knows (`own-device.ts`).
 *
 * token = device id, ".", secret, ".", base64url(first 16 bytes of HMAC-SHA-256(key, "ropeway device " + id + " " + secret));
 * "ropeway guest " for a guest's.
 */
export function newDeviceId(): string {
  return randomText();
}

/** @returns the token, and what is stored of it. */
export async function issueToken(
  accessKey: string,
  { deviceId, isGuest }: NamedDevice,
): Promise<{ readonly token: string } & DeviceToken> {
  const secret = randomText();
  const token = `${deviceId}.${secret}.${await signatureOf(accessKey, { deviceId, isGuest }, secret)}`;
  return { token, deviceId, isGuest, secretHash: await hashOf(secret) };
}

/**
 * Tokens by key and text, the last used last. On Deno cryptography waits for a thread, of which name lookups and files
 * take some too: a phone that comes back does not.
 */
const checked = new BoundedMap<string, DeviceToken>(CHECKED_TOKENS_KEPT);

/** @returns null when the token was not issued with this key. */
export async function verifyToken(accessKey: string, token: string): Promise<DeviceToken | null> {
  const entry = `${accessKey} ${token}`;
  const verified = checked.get(entry) ?? (await check(accessKey, token));
  if (verified !== null) checked.set(entry, verified);
  return verified;
}

async function check(accessKey: string, token: string): Promise<DeviceToken | null> {
  const [deviceId = "", secret = "", signature = "", ...rest] = token.split(".");
  if (rest.length > 0 || !RANDOM.test(deviceId) || !RANDOM.test(secret)) return null;
  const secretHash = await hashOf(secret);
  for (const isGuest of [false, true]) {
    const device = { deviceId, isGuest };
    if (await equalSecrets(signature, await signatureOf(accessKey, device, secret))) return { ...device, secretHash };
  }
  return null;
}

/** Compares without telling by its time how much matched: both sides are hashed under a random key first. */
export async function equalSecrets(a: string, b: string): Promise<boolean> {
  const key = await crypto.subtle.generateKey({ name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const [left, right] = await Promise.all(
    [a, b].map(
      async (text) => new Uint8Array(await crypto.subtle.sign("HMAC", key as CryptoKey, encoder.encode(text))),
    ),
  );
  return left !== undefined && right !== undefined && left.every((byte, index) => byte === right[index]);
}

/** SHA-256 in base64url. For secrets of 128 random bits, which need no salt. */
export async function hashOf(secret: string): Promise<string> {
  return toBase64Url(new Uint8Array(await crypto.subtle.digest("SHA-256", encoder.encode(secret))));
}

function randomText(): string {
  return toBase64Url(crypto.getRandomValues(new Uint8Array(RANDOM_BYTES)));
}

async function signatureOf(accessKey: string, { deviceId, isGuest }: NamedDevice, secret: string): Promise<string> {
  const text = `ropeway ${isGuest ? "guest" : "device"} ${deviceId} ${secret}`;
  const key = await crypto.subtle.importKey(
    "raw",
    encoder.encode(accessKey),
    { name: "HMAC", hash: "SHA-256" },
    false,
    ["sign"],
  );
  const signature = await crypto.subtle.sign("HMAC", key, encoder.encode(text));
  return toBase64Url(new Uint8Array(signature, 0, SIGNATURE_BYTES));
}
