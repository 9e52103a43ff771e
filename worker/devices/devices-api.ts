/**
 * What the app asks about devices, over plain HTTP with its token:
 *
 * - GET DEVICES_PATH: `DeviceList`
 * - PATCH DEVICES_PATH/ID: renames it; `{ name }`
 * - DELETE DEVICES_PATH/ID: unpairs it; with `?cookies` what sites have stored for it at the edge goes, too
 *
 * A device that is no guest may ask for any of it.
 */
import type { DeviceList } from "../../shared/devices.ts";
import { DEVICES_PATH } from "../../shared/subprotocol.ts";
import type { DeviceDirectory } from "./device-directory.ts";
import { readName } from "./device-name.ts";
import type { DeviceTerms, DirectoryCalls } from "./device-terms.ts";

/** The directory, as the object of a device that manages others calls it. */
export type DirectoryDesk = DirectoryCalls & Pick<DeviceDirectory, "list" | "rename" | "unpair">;

export interface Caller {
  readonly id: string;
  readonly terms: DeviceTerms;
}

/** @param caller has been admitted. */
export async function answerDevices(request: Request, caller: Caller, directory: DirectoryDesk): Promise<Response> {
  if (caller.terms.kind === "guest") return refusal(403, "this device is a guest");
  const { pathname, searchParams } = new URL(request.url);
  const id = pathname.slice(DEVICES_PATH.length + 1);
  const route = `${request.method} ${id === "" ? "all" : "one"}`;
  switch (route) {
    case "GET all":
      return answer(await listFor(caller, directory));
    case "PATCH one": {
      const name = readName((await bodyOf(request)).name);
      if (name === null) return refusal(400, "the name is empty");
      return (await directory.rename(id, name)) ? done() : noSuchDevice();
    }
    case "DELETE one":
      return (await directory.unpair(id, { withCookies: searchParams.has("cookies") })) ? done() : noSuchDevice();
    default:
      return refusal(405, "there is nothing of that name");
  }
}

async function listFor(caller: Caller, directory: DirectoryDesk): Promise<DeviceList> {
  const devices = await directory.list();
  return {
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
