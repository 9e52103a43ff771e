/**
 * What files of the app are told where slots have a list of hosts: it is not in their names, as with a wildcard. The app's
 * page gets the list, so that page and policy have the same one, and its service worker what tells one list from another:
 * it fetches the page anew. A slot's files get the origin of the app.
 */
import { RESERVED_PATH } from "../../shared/subprotocol.ts";
import type { ClassifiedHost, HostKind } from "./hosts.ts";

type Tell = (text: string, hosts: ClassifiedHost) => string;

const inPage: Tell = (text, { slotOrigins }) =>
  text.replace("<head>", () => `<head>\n    <meta name="ropeway-slots" content="${slotOrigins.join(" ")}" />`);

const inAppWorker: Tell = (text, hosts) => `self.ropewayList=${JSON.stringify(versionOf(hosts))};\n${text}`;

const inSlotPage: Tell = (text, { baseOrigin }) =>
  text.replace("<script ", () => `<script data-shell="${baseOrigin}" `);

const inSlotWorker: Tell = (text, { baseOrigin, slotOrigins }) =>
  `self.ropewayShell=${JSON.stringify(baseOrigin)};self.ropewaySlots=${JSON.stringify(slotOrigins.join(" "))};\n${text}`;

const TOLD: Readonly<Record<HostKind, ReadonlyMap<string, Tell>>> = {
  base: new Map([
    ["/", inPage],
    ["/sw.js", inAppWorker],
  ]),
  slot: new Map([
    [`${RESERVED_PATH}boot`, inSlotPage],
    [`${RESERVED_PATH}frame`, inSlotPage],
    [`${RESERVED_PATH}wipe`, inSlotPage],
    [`${RESERVED_PATH}sw.js`, inSlotWorker],
  ]),
  other: new Map(),
};

export interface Telling {
  /** Differs where what is told does. */
  readonly version: string;
  /** @returns the file's text with what it is told. */
  tell(text: string): string;
}

/** @returns null for a file that is as it was built. */
export function tellingOf(path: string, hosts: ClassifiedHost): Telling | null {
  const tell = hosts.slotOrigins.length === 0 ? undefined : TOLD[hosts.kind].get(path);
  return tell === undefined ? null : { version: versionOf(hosts), tell: (text) => tell(text, hosts) };
}

/** @param serve answers with the file as it was built. */
export async function serveTold(
  { version, tell }: Telling,
  request: Request,
  serve: (request: Request) => Promise<Response>,
): Promise<Response> {
  const ending = `.${version}"`;
  const known = request.headers.get("if-none-match");
  const headers = new Headers(request.headers);
  for (const name of ["if-none-match", "if-modified-since"]) headers.delete(name);
  if (known?.endsWith(ending) === true) headers.set("if-none-match", `${known.slice(0, -ending.length)}"`);
  const file = await serve(new Request(request, { headers }));
  const answer = new Response(file.ok ? tell(await file.text()) : null, file);
  const etag = file.headers.get("etag");
  if (etag !== null) answer.headers.set("etag", etag.replace(/"$/, ending));
  for (const name of ["content-length", "last-modified"]) answer.headers.delete(name);
  return answer;
}

/** FNV-1a, 32 bits: nobody gains by another list of the same. */
function versionOf({ baseOrigin, slotOrigins }: ClassifiedHost): string {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode([baseOrigin, ...slotOrigins].join(" ")))
    hash = Math.imul(hash ^ byte, 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, "0");
}
