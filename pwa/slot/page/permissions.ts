/**
 * Permissions that the person may give a page: location, clipboard, camera and microphone. The app asks the person in the
 * site's name. The app passes on places and copied text, which are plain data; a camera or a microphone is the browser's to
 * give, once the frame's policy lets it. And passkeys, which fail; and passwords, of which the browser's list may be one for
 * all sites. Loads late, with the first call of a script, or the first password.
 */
import {
  type Ask,
  type AskAnswer,
  type AskedFeature,
  MESSAGE_TAG,
  type PlainCoordinates,
} from "../../messages/page-messages.ts";
import { isFramedByOthers } from "../documents/this-document.ts";
import type { PageContext } from "./page-context.ts";

interface Call {
  readonly method: string;
  /** The number that `watchPosition` has given the script. */
  readonly id: number;
  readonly args: readonly unknown[];
  /** As the browser would have it, which refuses: but for passkeys and media, by the policy of the frame. */
  readonly native: () => unknown;
}

/** Milliseconds within which the app says that it has heard. */
const HEARD_WITHIN = 10_000;

/** By the names that scripts and policies use. */
const FEATURES: Readonly<Record<string, AskedFeature>> = {
  geolocation: "location",
  "clipboard-read": "clipboard",
  camera: "camera",
  microphone: "microphone",
};

export function answer(context: PageContext, call: Call): unknown {
  switch (call.method) {
    case "getCurrentPosition":
    case "watchPosition":
      return findPosition(context, call);
    case "clearWatch":
      return watches.get(Number(call.args[0]))?.();
    case "query":
      return query(context, call);
    case "read":
    case "readText":
      return readClipboard(context, call);
    case "getUserMedia":
      return openMedia(context, call);
    case "get":
    case "create":
      return useCredential(context, call);
    case "getClientCapabilities":
      return allFalse(call);
    default:
      return false;
  }
}

/** @param hear is told the answers, but for that of "heard"; null: the app does not answer. @returns says that no more is wanted. */
function askApp(context: PageContext, ask: Ask, hear: (answer: AskAnswer | null) => void): () => void {
  const { port1, port2 } = new MessageChannel();
  const over = new AbortController();
  const end = () => {
    over.abort();
    clearTimeout(timer);
    port1.postMessage(null);
    port1.close();
  };
  const timer = setTimeout(() => {
    end();
    hear(null);
  }, HEARD_WITHIN);
  port1.onmessage = ({ data }: MessageEvent<AskAnswer>) => {
    clearTimeout(timer);
    if (data.kind !== "heard") hear(data);
  };
  window.addEventListener("pagehide", end, { signal: over.signal });
  context.toShell({ tag: MESSAGE_TAG, type: "asks", ask }, [port2]);
  return end;
}

function firstAnswer(context: PageContext, ask: Ask): Promise<AskAnswer | null> {
  return new Promise((resolve) => {
    const end = askApp(context, ask, (told) => {
      resolve(told);
      if (told !== null) end();
    });
  });
}

/** Whether the response's `Permissions-Policy` keeps a feature from its own document. The app's own policy keeps all. */
export function isOff(policy: string, feature: string, origin: string): boolean {
  // A list without an end is taken whole, for nothing in it to be looked at again: such a policy says nothing.
  const member = new RegExp(`(?:^|,)\\s*${feature}\\s*=\\s*(\\*|[\\w-]+|\\([^)]*\\)?)`, "g");
  const value = [...policy.matchAll(member)].at(-1)?.[1];
  return value !== undefined && !/\*|\bself\b|^\([^)]*$/.test(value) && !value.includes(`"${origin}"`);
}

const isOffHere = ({ config }: PageContext, feature: string) =>
  isOff(config.permissions ?? "", feature, config.realOrigin);

const watches = new Map<number, () => void>();

function findPosition(context: PageContext, { method, id, args }: Call): void {
  const [found, missed, options] = args as readonly [PositionCallback, PositionErrorCallback?, PositionOptions?];
  const isWatch = method === "watchPosition";
  const { enableHighAccuracy, maximumAge, timeout } = options ?? {};
  const chosen = {
    ...(enableHighAccuracy !== undefined && { enableHighAccuracy: Boolean(enableHighAccuracy) }),
    ...(maximumAge !== undefined && { maximumAge: Number(maximumAge) }),
    ...(timeout !== undefined && { timeout: Number(timeout) }),
  };
  const fail = (code: number, message: string) => {
    if (typeof missed === "function") missed(positionError(code, message));
  };
  if (isOffHere(context, "geolocation"))
    return fail(1, "Geolocation has been disabled in this document by permissions policy.");
  const end = askApp(context, { kind: "position", isWatch, options: chosen }, (told) => {
    if (!isWatch && told !== null) end();
    if (told?.kind === "position") found(position(told.coords, told.timestamp));
    else if (told?.kind === "failed") fail(told.code, told.message);
    else fail(2, "The app does not answer.");
  });
  watches.set(id, () => {
    watches.delete(id);
    end();
  });
}

/** As the browser's own objects, whose classes let no script make one. */
function shapedAs<Shape extends object>(shape: { readonly prototype: Shape }, values: object): Shape {
  const toJSON = () => values;
  const properties = Object.entries({ ...values, toJSON }).map(([name, value]) => {
    return [name, { value, enumerable: name !== "toJSON" }] as const;
  });
  return Object.create(shape.prototype, Object.fromEntries(properties)) as Shape;
}

const position = (coords: PlainCoordinates, timestamp: number) =>
  shapedAs(GeolocationPosition, { coords: shapedAs(GeolocationCoordinates, coords), timestamp });
const positionError = (code: number, message: string) => shapedAs(GeolocationPositionError, { code, message });

async function query(context: PageContext, { args, native }: Call): Promise<unknown> {
  const { name } = (args[0] ?? {}) as { readonly name?: unknown };
  const status = (await native()) as PermissionStatus;
  const feature = FEATURES[String(name)];
  if (feature === undefined || isOffHere(context, String(name))) return status;
  let state: PermissionState | null = null;
  await new Promise<void>((resolve) => {
    askApp(context, { kind: "state", feature }, (told) => {
      const isNews = state !== null;
      if (told?.kind === "state") state = told.state;
      resolve();
      if (isNews) status.dispatchEvent(new Event("change"));
    });
  });
  if (state !== null) Object.defineProperty(status, "state", { get: () => state, configurable: true });
  return status;
}

async function readClipboard(context: PageContext, { method, native }: Call): Promise<unknown> {
  if (!document.hasFocus() || isOffHere(context, "clipboard-read")) return native();
  const isText = method === "readText";
  const told = await firstAnswer(context, { kind: "clipboard", isText });
  if (told?.kind !== "clipboard")
    throw new DOMException(told?.kind === "failed" ? told.message : "The app does not answer.", "NotAllowedError");
  if (isText) return told.items[0]?.["text/plain"] ?? "";
  return told.items.map((types) => new ClipboardItem(types));
}

async function openMedia(context: PageContext, { args, native }: Call): Promise<unknown> {
  const { video, audio } = (args[0] ?? {}) as MediaStreamConstraints;
  const features = [...(video ? (["camera"] as const) : []), ...(audio ? (["microphone"] as const) : [])];
  if (features.length === 0 || features.some((feature) => isOffHere(context, feature))) return native();
  const { featurePolicy } = document as Document & { featurePolicy?: { allowsFeature(name: string): boolean } };
  // Where the browser does not say, its own answer has to do.
  const isDelegated = features.every((feature) => featurePolicy?.allowsFeature(feature) !== false);
  const told = await firstAnswer(context, { kind: "media", features, isDelegated });
  if (told?.kind === "allowed") return native();
  throw new DOMException("Permission denied", "NotAllowedError");
}

/** Of a passkey: as where the person has cancelled (Web Authentication section 14.5.2). */
async function useCredential({ tell }: PageContext, { args, native }: Call): Promise<unknown> {
  const { publicKey, mediation, signal } = (args[0] ?? {}) as CredentialRequestOptions;
  if (publicKey === undefined || isFramedByOthers()) return native();
  signal?.throwIfAborted();
  if (mediation === "conditional")
    return new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
  tell("passkey");
  const details = "https://www.w3.org/TR/webauthn-2/#sctn-privacy-considerations-client";
  throw new DOMException(`The operation either timed out or was not allowed. See: ${details}.`, "NotAllowedError");
}

let isGuarded = false;

/** Where several sites have the host one after another, the browser is to offer no password that it has for it. */
export function guardPasswords(context: PageContext): void {
  if (isGuarded) return;
  isGuarded = true;
  void firstAnswer(context, { kind: "password" }).then((told) => {
    if (told?.kind !== "shared") return;
    const guard = () => {
      const fields = document.querySelectorAll<HTMLInputElement>(
        "input[type=password i]:not([autocomplete=new-password])",
      );
      for (const field of fields) field.autocomplete = "new-password";
    };
    guard();
    document.addEventListener("focusin", guard, true);
  });
}

async function allFalse({ native }: Call): Promise<object> {
  const names = Object.keys((await native()) as object);
  return Object.fromEntries(names.map((name) => [name, false]));
}
