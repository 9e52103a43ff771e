/**
 * What the app asks about devices, over plain HTTP with its token:
 *
 * - GET DEVICES_PATH: `DeviceList`
 * - PATCH DEVICES_PATH/ID: renames it; `{ name }`
 * - POST DEVICES_PATH/codes: a `PairingCode`; `{ guest: GuestLimits }` for a guest's
 * - POST DEVICES_PATH/key: a new access key, `{ accessKey }`; `{ unpairsOthers: true }` unpairs all other devices
 * - DELETE DEVICES_PATH/ID: unpairs it; with `?cookies` what sites have stored for it at the edge goes, too
 *
 * A device that is no guest may ask for any of it.
 */
import type { DeviceList, GuestLimits } from "../../shared/devices.ts";
import { DEVICES_PATH } from "../../shared/subprotocol.ts";
import type { DeviceDirectory } from "./device-directory.ts";
import { readName } from "./device-name.ts";
import type { DeviceTerms, DirectoryCalls } from "./device-terms.ts";
import type { CodeTerms } from "./pairing-codes.ts";

/** The directory, as the object of a device that manages others calls it. */
export type DirectoryDesk = DirectoryCalls &
  Pick<DeviceDirectory, "list" | "rename" | "unpair" | "createCode" | "changeKey" | "events">;

export interface Caller {
  readonly id: string;
  readonly terms: DeviceTerms;
}

/** @param caller has been admitted. */
export async function answerDevices(request: Request, caller: Caller, directory: DirectoryDesk): Promise<Response> {
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
