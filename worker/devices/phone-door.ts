/**
 * A phone at its own object: whether it is paired, kept where its sessions are so that a handshake asks nothing else; and
 * answers to all that the app asks with its token. Runtime neutral.
 */
import type { DeviceList, GuestLimits } from "../../shared/devices.ts";
import { ErrorCode, RopewayError } from "../../shared/errors.ts";
import { DOWN_PATH, PROTOCOL_FIELD, UP_PATH } from "../../shared/fetch-road/record.ts";
import { DEVICES_PATH, parseOffer, TOKEN_PATH, TUNNEL_PATH } from "../../shared/subprotocol.ts";
import {
  type CodeTerms,
  type DeviceCalls,
  type DeviceDirectory,
  type DeviceTerms,
  type DeviceUsage,
  type DirectoryCalls,
  type EndReason,
  UNUSED_TIME,
  type Unpairing,
} from "./device-directory.ts";
import { type DeviceToken, issueToken, verifyToken } from "./device-token.ts";
import type { RecordStore } from "./record-store.ts";

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

/**
 * @param request whose token this edge has issued (`askedPhone`); here the question is whether it is this phone's, and
 * still holds.
 */
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

/** The directory, as the object of a device that manages others calls it. */
export type DirectoryDesk = DirectoryCalls &
  Pick<DeviceDirectory, "list" | "rename" | "unpair" | "createCode" | "changeKey" | "events">;

interface Caller {
  readonly id: string;
  readonly terms: DeviceTerms;
}

/**
 * Questions of the app about devices, over plain HTTP with its token:
 *
 * - GET DEVICES_PATH: `DeviceList`
 * - PATCH DEVICES_PATH/ID: renames it; `{ name }`
 * - POST DEVICES_PATH/codes: a `PairingCode`; `{ guest: GuestLimits }` for a guest's
 * - POST DEVICES_PATH/key: a new access key, `{ accessKey }`; `{ unpairsOthers: true }` unpairs all other devices
 * - DELETE DEVICES_PATH/ID: unpairs it; with `?cookies` what sites have stored for it at the edge goes, too
 *
 * A device that is no guest may ask for any of it.
 *
 * @param caller has been admitted.
 */
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

/** @returns id of the phone to whose object a request goes; or a refusal, where this edge has not issued its token. */
export async function askedPhone(accessKey: string, request: Request): Promise<string | Response> {
  const token = await verifyToken(accessKey, tokenOf(request));
  return token === null ? tokenRefused() : token.deviceId;
}

/** The token in the offer, where the request opens a link, else in the Authorization field; "" where there is none. */
function tokenOf({ headers, url }: Request): string {
  const isDown = new URL(url).pathname === TUNNEL_PATH + DOWN_PATH;
  const field = isDown ? PROTOCOL_FIELD : headers.has("upgrade") ? "sec-websocket-protocol" : null;
  if (field === null) return /^Bearer (.*)$/.exec(headers.get("authorization") ?? "")?.[1] ?? "";
  try {
    return parseOffer(headers.get(field) ?? "").token;
  } catch {
    return "";
  }
}

/** Every request of a phone names its device, and has to be of a device that is paired. */
function tokenRefused(): Response {
  const error = "Cannot open a tunnel: the token is not accepted";
  return Response.json({ error }, { status: 401, headers: { "cache-control": "no-store" } });
}

/** To a phone that asks whether its token has kept a handshake from succeeding. */
export function tunnelIsThere(): Response {
  const error = "Cannot open a tunnel: this is not a WebSocket handshake";
  return Response.json({ error }, { status: 426, headers: { upgrade: "websocket", "cache-control": "no-store" } });
}

/**
 * Answer to a request that the edge cannot serve until its owner acts.
 *
 * @throws any error but a RopewayError.
 */
export function unavailable(error: unknown): Response {
  if (!(error instanceof RopewayError)) throw error;
  return Response.json({ error: error.message }, { status: 503, headers: { "cache-control": "no-store" } });
}

/** To phones that are connected while they are unpaired. */
function notPairedAnyMore(): RopewayError {
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

/** Name of the record. */
const RECORD = "device";

/** Milliseconds after which a process that has read the record looks again: another one may have unpaired the phone. */
const RECORD_TIME = 60_000;

/** Milliseconds: "last seen" may be so much too early, since each time that is written is a row. */
const SEEN_STEP = 60_000;

/** Bytes of use that may be lost with the memory of the object. */
const UNSTORED_BYTES = 64 * 1024;

/**
 * Of a guest with a data limit, at which the use is written even while its sockets are open. Without that a guest whose object
 * is aborted again and again would have no limit.
 */
const GUEST_UNSTORED_BYTES = 1024 * 1024;

/** Milliseconds: so often at most does the log hear of a device that is not let in. */
const TURNED_AWAY_STEP = 3_600_000;

/**
 * Secrets that are accepted: the newest, and the one before. Another window may still have that, or the answer with the
 * new one was lost.
 */
const SECRETS_KEPT = 2;

type DeviceRecord = PairedRecord | { readonly state: "void" };

interface PairedRecord {
  readonly state: "paired";
  readonly deviceId: string;
  readonly terms: DeviceTerms;
  /** Newest first. */
  readonly secretHashes: readonly string[];
  readonly seenAt: number;
  readonly bytes: number;
}

interface OwnDeviceOptions {
  readonly store: RecordStore;
  readonly directory: DirectoryCalls;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly isConnected: () => boolean;
  /** Ends its sessions and closes its sockets, of any kind. */
  readonly disconnect: (why: RopewayError) => void;
  /** Forgets what the edge keeps of its pages. */
  readonly forgetPages: () => Promise<void>;
  /** Forgets what sites have stored here. */
  readonly clearSites: () => Promise<void>;
}

/**
 * The pairing of a phone, kept where its sessions are: a handshake asks nothing else. Runtime neutral.
 *
 * ```
 *  unknown ──enrolled by the directory, or adopted──► paired ──unpaired, unused, limit reached──► void
 *                                                        ▲                                          │
 *                                                        └────────── enrolled anew ─────────────────┘
 * ```
 */
export class OwnDevice implements DeviceCalls {
  #options: OwnDeviceOptions;
  /** As last read, and when. */
  #known: { readonly record: DeviceRecord | undefined; readonly at: number } | null = null;
  #isReading = false;
  /** When the directory last heard of it. */
  #turnedAwayAt = Number.NEGATIVE_INFINITY;
  /** Since the record was last written. */
  #unstored = 0;
  /** Bytes that `#unstored` of a guest with a data limit has to reach to be written. */
  #writtenAt = GUEST_UNSTORED_BYTES;
  /** Count of changes: what was read before one is out of date. */
  #changes = 0;

  constructor(options: OwnDeviceOptions) {
    this.#options = options;
  }

  /**
   * Whether it may come in now. A handshake is a use of its token.
   *
   * @param token that this edge issued for it.
   * @param name for the list, where it has none yet.
   * @returns null where it may not.
   */
  async admit(token: DeviceToken, name: string): Promise<DeviceTerms | null> {
    const record = (await this.#read()) ?? (await this.#adopt(token, name));
    if (record.state === "void") this.#tellTurnedAway(token.deviceId);
    if (record.state !== "paired" || !record.secretHashes.includes(token.secretHash)) return null;
    const reason = this.#endOf(record);
    if (reason !== null) await this.#end(record, reason);
    return reason === null ? record.terms : null;
  }

  /** As `admit`, for what follows a handshake; less is read. */
  async isAdmitted(token: DeviceToken): Promise<boolean> {
    const record = this.#isFresh ? this.#known?.record : await this.#read();
    return record?.state === "paired" && record.secretHashes.includes(token.secretHash);
  }

  /** A token in place of the one that it shows. The one before that is void from then on. */
  async renew(accessKey: string, shown: DeviceToken): Promise<string> {
    const { token, secretHash } = await issueToken(accessKey, shown);
    await this.#updatePaired((record) => ({
      ...record,
      secretHashes: [secretHash, shown.secretHash].slice(0, SECRETS_KEPT),
    }));
    return token;
  }

  /** Bytes of frames have come or gone. */
  used(bytes: number): void {
    this.#unstored += bytes;
    const known = this.#known;
    if (!this.#isFresh) return void this.#look();
    if (known?.record?.state !== "paired") return;
    const reason = this.#endOf(known.record);
    if (reason !== null) void this.#end(known.record, reason);
    else if (hasDataLimit(known.record) && this.#unstored >= this.#writtenAt) this.#writeUse();
  }

  /** The phone has closed a socket, or rests. */
  async settle(): Promise<void> {
    const { now, isConnected } = this.#options;
    const record = this.#known?.record;
    const seenAt = record?.state === "paired" ? record.seenAt : 0;
    const isSeenLater = !isConnected() && now() - seenAt >= SEEN_STEP;
    if (this.#unstored >= UNSTORED_BYTES || isSeenLater) await this.#updatePaired((former) => former);
  }

  // DeviceCalls

  async enroll(terms: DeviceTerms, token: DeviceToken): Promise<void> {
    this.#unstored = 0;
    const record = this.#fresh(terms, token);
    await this.#update(() => record);
  }

  async usage(): Promise<DeviceUsage | null> {
    const record = await this.#read();
    if (record?.state !== "paired") return null;
    const isConnected = this.#options.isConnected();
    const seenAt = isConnected ? this.#options.now() : record.seenAt;
    return { seenAt, bytes: record.bytes + this.#unstored, isConnected };
  }

  async unpair({ withCookies }: Unpairing): Promise<void> {
    await this.#update(() => ({ state: "void" }));
    this.#options.disconnect(notPairedAnyMore());
    await this.#options.forgetPages();
    if (withCookies) await this.#options.clearSites();
  }

  get #isFresh(): boolean {
    return this.#known !== null && this.#options.now() - this.#known.at < RECORD_TIME;
  }

  async #read(): Promise<DeviceRecord | undefined> {
    const changes = this.#changes;
    const record = await this.#options.store.get<DeviceRecord>(RECORD);
    if (changes === this.#changes) this.#know(record);
    return this.#known?.record;
  }

  #know(record: DeviceRecord | undefined): void {
    this.#known = { record, at: this.#options.now() };
  }

  /** Reads what is not known any more while frames come and go. */
  async #look(): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    const record = await this.#read().catch(() => undefined);
    this.#isReading = false;
    if (record?.state === "void") this.#options.disconnect(notPairedAnyMore());
  }

  #fresh(terms: DeviceTerms, { deviceId, secretHash }: DeviceToken): PairedRecord {
    return { state: "paired", deviceId, terms, secretHashes: [secretHash], seenAt: this.#options.now(), bytes: 0 };
  }

  async #adopt(token: DeviceToken, name: string): Promise<DeviceRecord> {
    const terms = await this.#options.directory.adopt(token, name);
    if (terms === null) return { state: "void" };
    const adopted = this.#fresh(terms, token);
    await this.#update((record) => record ?? adopted);
    return this.#known?.record ?? adopted;
  }

  /** A phone that is not let in asks again and again. */
  #tellTurnedAway(deviceId: string): void {
    const { now, directory } = this.#options;
    if (now() - this.#turnedAwayAt < TURNED_AWAY_STEP) return;
    this.#turnedAwayAt = now();
    directory.turnedAway(deviceId).catch(() => {});
  }

  #endOf({ terms, seenAt, bytes }: PairedRecord): EndReason | null {
    const now = this.#options.now();
    // A device that is connected is in use.
    if (now - seenAt > UNUSED_TIME && !this.#options.isConnected()) return "unused";
    if (terms.kind === "full") return null;
    if (terms.endsAt !== null && now >= terms.endsAt) return "time-over";
    return terms.mostBytes !== null && bytes + this.#unstored >= terms.mostBytes ? "data-used-up" : null;
  }

  async #end({ deviceId }: PairedRecord, reason: EndReason): Promise<void> {
    this.#know({ state: "void" });
    // A guest leaves nothing behind.
    await this.unpair({ withCookies: reason !== "unused" });
    await this.#options.directory.ended(deviceId, reason);
  }

  #writeUse(): void {
    this.#writtenAt = this.#unstored + GUEST_UNSTORED_BYTES;
    this.#updatePaired((former) => former).then(
      () => {
        this.#writtenAt = GUEST_UNSTORED_BYTES;
      },
      () => {},
    );
  }

  /** @param change of what is kept beside how much it was used. */
  #updatePaired(change: (record: PairedRecord) => PairedRecord): Promise<void> {
    const bytes = this.#unstored;
    const seenAt = this.#options.now();
    return this.#update((record) => {
      if (record?.state !== "paired") return record;
      return { ...change(record), seenAt, bytes: record.bytes + bytes };
    }).then(() => {
      this.#unstored -= bytes;
    });
  }

  #update(change: (record: DeviceRecord | undefined) => DeviceRecord | undefined): Promise<void> {
    return this.#options.store.update<DeviceRecord>(RECORD, (former) => {
      const next = change(former);
      this.#changes += 1;
      this.#know(next);
      return next;
    });
  }
}

function hasDataLimit({ terms }: PairedRecord): boolean {
  return terms.kind === "guest" && terms.mostBytes !== null;
}

/** A name for a device until its person gives it another. By the first that its User-Agent has, as these contain others. */
const KINDS: readonly (readonly [part: RegExp, name: string])[] = [
  [/iPhone/, "iPhone"],
  [/iPad/, "iPad"],
  [/Android.*Mobile/, "Android phone"],
  [/Android/, "Android tablet"],
  [/CrOS/, "Chromebook"],
  [/Windows/, "Windows computer"],
  [/Macintosh/, "Mac"],
  [/Linux/, "Linux computer"],
];

/** Characters of a name. */
const MOST_CHARACTERS = 40;

/** @param userAgent field of its request, or null. */
export function nameByUserAgent(userAgent: string | null): string {
  return KINDS.find(([part]) => part.test(userAgent ?? ""))?.[1] ?? "Device";
}

/** @returns null for what is no name: nothing is left of it. */
export function readName(text: unknown): string | null {
  if (typeof text !== "string") return null;
  const name = [...text.replace(/[\p{C}\p{Z}]+/gu, " ").trim()].slice(0, MOST_CHARACTERS).join("");
  return name === "" ? null : name;
}
