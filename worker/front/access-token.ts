/**
 * Who may open a tunnel. The person's access key pairs a phone once; from then on the phone shows a token that names
 * the device and is signed with the key, so that the key itself stays out of every later request. Changing the key
 * makes all tokens void.
 *
 * token = device id, ".", base64url(HMAC-SHA-256(key, "ropeway device " + device id))
 */
import { toBase64Url } from "../../shared/base-encodings.ts";
import { BoundedMap } from "../../shared/bounded-map.ts";

/** Device tokens that are not verified again, least used dropped first: more than a household has phones. */
const VERIFIED_TOKENS_KEPT = 1_000;

const encoder = new TextEncoder();
const DEVICE_ID = /^[A-Za-z0-9_-]{22}$/;
const DEVICE_ID_BYTES = 16;

/** A token for a device that was never seen before. */
export async function issueToken(accessKey: string): Promise<string> {
  const deviceId = toBase64Url(crypto.getRandomValues(new Uint8Array(DEVICE_ID_BYTES)));
  return `${deviceId}.${toBase64Url(await sign(accessKey, deviceId))}`;
}

/**
 * Device ids by key and token, the last used last. On Deno cryptography waits for a thread, of which name lookups and
 * files take some too: a phone that comes back does not.
 */
const verified = new BoundedMap<string, string>(VERIFIED_TOKENS_KEPT);

/** @returns the device's id, or null when the token was not issued with this key. */
export async function verifyToken(accessKey: string, token: string): Promise<string | null> {
  const entry = `${accessKey} ${token}`;
  const deviceId = verified.get(entry) ?? (await checkToken(accessKey, token));
  if (deviceId === null) return null;
  verified.set(entry, deviceId);
  return deviceId;
}

async function checkToken(accessKey: string, token: string): Promise<string | null> {
  const [deviceId = "", signature = "", ...rest] = token.split(".");
  if (rest.length > 0 || !DEVICE_ID.test(deviceId)) return null;
  const expected = toBase64Url(await sign(accessKey, deviceId));
  return (await equalSecrets(signature, expected)) ? deviceId : null;
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

async function sign(accessKey: string, deviceId: string): Promise<Uint8Array> {
  const key = await crypto.subtle.importKey(
    "raw",
    encoder.encode(accessKey),
    { name: "HMAC", hash: "SHA-256" },
    false,
    ["sign"],
  );
  return new Uint8Array(await crypto.subtle.sign("HMAC", key, encoder.encode(`ropeway device ${deviceId}`)));
}
