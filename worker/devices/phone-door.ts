import type { DeviceList, GuestLimits } from "../../shared/devices.ts";
import { ErrorCode, RopewayError } from "../../shared/errors.ts";
import { DOWN_PATH, PROTOCOL_FIELD, UP_PATH } from "../../shared/fetch-road/record.ts";
import { DEVICES_PATH, parseOffer, TOKEN_PATH, TUNNEL_PATH } from "../../shared/subprotocol.ts";
import type { CodeTerms, DeviceDirectory } from "./device-directory.ts";
import {
  type DeviceTerms,
  type DeviceToken,
  type DirectoryCalls,
  nameByUserAgent,
  readName,
  verifyToken,
} from "./device-token.ts";
import type { OwnDevice } from "./own-device.ts";

// What the app asks about devices, over plain HTTP with its token:
//
// - GET DEVICES_PATH: `DeviceList`
// - PATCH DEVICES_PATH/ID: renames it; `{ name }`
// - POST DEVICES_PATH/codes: a `PairingCode`; `{ guest: GuestLimits }` for a guest's
// - POST DEVICES_PATH/key: a new access key, `{ accessKey }`; `{ unpairsOthers: true }` unpairs all other devices
// - DELETE DEVICES_PATH/ID: unpairs it; with `?cookies` what sites have stored for it at the edge goes, too
//
// A device that is no guest may ask for any of it.

/** The directory, as the object of a device that manages others calls it. */
export type DirectoryDesk = DirectoryCalls &
  Pick<DeviceDirectory, "list" | "rename" | "unpair" | "createCode" | "changeKey" | "events">;

interface Caller {
  readonly id: string;
  readonly terms: DeviceTerms;
}

/** @param caller has been admitted. */
async function answerDevices(request: Request, caller: Caller, directory: DirectoryDesk): Promise<Response> {
  if (caller.terms.kind === "guest") return refusal(403, "this device is a guest");
  const { pathname, searchParams } = new URL(request.url);
  const id = pathname.slice(DEVICES_PATH.length + 1);
  switch (`${request.method} ${ROUTES.has(id) ? id : "ID"}`) {
    case "GET ":
      return answer(await listFor(caller, directory));
    case "POST codes": {
      const terms = termsOf((await bodyOf(request)).guest);
      return terms === null ? refusal(400, "a guest has a limit") : answer(await directory.createCode(terms));
    }
    case "POST key": {
      const unpairsOthers = (await bodyOf(request)).unpairsOthers === true;
      return answer({ accessKey: await directory.changeKey(caller.id, unpairsOthers) });
    }
    case "PATCH ID": {
      const name = readName((await bodyOf(request)).name);
      if (name === null) return refusal(400, "the name is empty");
      return (await directory.rename(id, name)) ? done() : noSuchDevice();
    }
    case "DELETE ID": {
      const unpairing = { withCookies: searchParams.has("cookies") };
      return (await directory.unpair(id, unpairing, caller.id)) ? done() : noSuchDevice();
    }
    default:
      return refusal(405, "there is nothing of that name");
  }
}

/** Below DEVICES_PATH; a device's id is longer. */
const ROUTES: ReadonlySet<string> = new Set(["", "codes", "key"]);

/** @returns null for a guest without a limit. */
function termsOf(guest: unknown): CodeTerms | null {
  if (typeof guest !== "object" || guest === null) return { kind: "full" };
  const { lastsFor, mostBytes }: Partial<Record<keyof GuestLimits, unknown>> = guest;
  const limits = { lastsFor: positive(lastsFor), mostBytes: positive(mostBytes) };
  return limits.lastsFor === null && limits.mostBytes === null ? null : { kind: "guest", ...limits };
}

function positive(value: unknown): number | null {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : null;
}

async function listFor(caller: Caller, directory: DirectoryDesk): Promise<DeviceList> {
  const [devices, events] = await Promise.all([directory.list(), directory.events()]);
  return {
    events,
    devices: devices.map(({ id, name, pairedAt, terms, usage }) => ({
      id,
      name,
      pairedAt,
      isThis: id === caller.id,
      guest: terms.kind === "guest" ? { endsAt: terms.endsAt, mostBytes: terms.mostBytes } : null,
      usage,
    })),
  };
}

/** An empty one for what is no JSON object. */
async function bodyOf(request: Request): Promise<Readonly<Record<string, unknown>>> {
  const body: unknown = await request.json().catch(() => null);
  return typeof body === "object" && body !== null ? { ...body } : {};
}

function answer(body: object): Response {
  return Response.json(body, { headers: { "cache-control": "no-store" } });
}

function done(): Response {
  return new Response(null, { status: 204, headers: { "cache-control": "no-store" } });
}

function noSuchDevice(): Response {
  return refusal(404, "it is not paired");
}

function refusal(status: number, reason: string): Response {
  const error = `Cannot manage devices: ${reason}`;
  return Response.json({ error }, { status, headers: { "cache-control": "no-store" } });
}

interface PhoneRoads {
  /** Completes a handshake: acts on the offer's opening first, then answers 101 with SUBPROTOCOL. */
  openSocket(request: Request): Response;
  answerFetchRoad(request: Request): Promise<Response>;
}

interface PhoneDoorOptions {
  readonly accessKey: string;
  readonly device: Pick<OwnDevice, "admit" | "isAdmitted" | "renew">;
  readonly directory: DirectoryDesk;
  readonly roads: PhoneRoads;
}

/** @param request whose token may have been verified: here it is whether it is this phone's, and still holds. */
export async function answerPhone(request: Request, options: PhoneDoorOptions): Promise<Response> {
  const { accessKey, device, directory, roads } = options;
  const token = await verifyToken(accessKey, tokenOf(request));
  if (token === null) return tokenRefused();
  const { pathname } = new URL(request.url);
  if (pathname === TUNNEL_PATH + UP_PATH)
    return (await device.isAdmitted(token)) ? roads.answerFetchRoad(request) : tokenRefused();
  const terms = await admit(device, token, request);
  if (terms === null) return tokenRefused();
  if (pathname.startsWith(DEVICES_PATH)) return answerDevices(request, { id: token.deviceId, terms }, directory);
  if (pathname === TOKEN_PATH) return renewed(await device.renew(accessKey, token));
  if (pathname !== TUNNEL_PATH) return roads.answerFetchRoad(request);
  return request.headers.get("upgrade") === null ? tunnelIsThere() : roads.openSocket(request);
}

/** The token in the offer, where the request opens a link, else in the Authorization field; "" where there is none. */
export function tokenOf({ headers, url }: Request): string {
  const isDown = new URL(url).pathname === TUNNEL_PATH + DOWN_PATH;
  const field = isDown ? PROTOCOL_FIELD : headers.has("upgrade") ? "sec-websocket-protocol" : null;
  if (field === null) return /^Bearer (.*)$/.exec(headers.get("authorization") ?? "")?.[1] ?? "";
  try {
    return parseOffer(headers.get(field) ?? "").token;
  } catch {
    return "";
  }
}

/** What a phone's object answers: all that comes to it names its device, and has to be of a device that is paired. */
export function tokenRefused(): Response {
  const error = "Cannot open a tunnel: the token is not accepted";
  return Response.json({ error }, { status: 401, headers: { "cache-control": "no-store" } });
}

/** To a phone that asks whether it is its token that kept a handshake from succeeding. */
export function tunnelIsThere(): Response {
  const error = "Cannot open a tunnel: this is not a WebSocket handshake";
  return Response.json({ error }, { status: 426, headers: { upgrade: "websocket", "cache-control": "no-store" } });
}

/**
 * To whoever asks what cannot be answered as long as somebody does something about it.
 *
 * @throws what is no RopewayError.
 */
export function unavailable(error: unknown): Response {
  if (!(error instanceof RopewayError)) throw error;
  return Response.json({ error: error.message }, { status: 503, headers: { "cache-control": "no-store" } });
}

/** To phones that are connected while they are unpaired. */
export function notPairedAnyMore(): RopewayError {
  return new RopewayError(ErrorCode.KEY_NOT_ACCEPTED, "session", "peer", "This phone is not paired any more");
}

function admit(
  device: Pick<OwnDevice, "admit">,
  token: DeviceToken,
  { headers }: Request,
): Promise<DeviceTerms | null> {
  return device.admit(token, nameByUserAgent(headers.get("user-agent")));
}

function renewed(token: string): Response {
  return Response.json({ token }, { headers: { "cache-control": "no-store" } });
}
