/** What a phone's object answers: all that comes to it names its device, and has to be of a device that is paired. */
import { ErrorCode, RopewayError } from "../../shared/errors.ts";
import { DOWN_PATH, PROTOCOL_FIELD, UP_PATH } from "../../shared/fetch-road/record.ts";
import { DEVICES_PATH, parseOffer, TOKEN_PATH, TUNNEL_PATH } from "../../shared/subprotocol.ts";
import { nameByUserAgent } from "./device-name.ts";
import type { DeviceTerms } from "./device-terms.ts";
import { type DeviceToken, verifyToken } from "./device-token.ts";
import { answerDevices, type DirectoryDesk } from "./devices-api.ts";
import type { OwnDevice } from "./own-device.ts";

export interface PhoneRoads {
  /** Completes a handshake: acts on the offer's opening first, then answers 101 with SUBPROTOCOL. */
  openSocket(request: Request): Response;
  answerFetchRoad(request: Request): Promise<Response>;
}

export interface PhoneDoorOptions {
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
