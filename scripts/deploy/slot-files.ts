/**
 * The static files of a site's host where no worker of ours answers: what boots it, and `_headers`
 * (https://developers.cloudflare.com/workers/static-assets/headers/). Any other path is answered by `404.html` with status
 * 404: a document goes on to the boot page from there, and what is no document gets nothing that it could take for its own.
 */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { classifyHost, freshnessOf, readSlotHosts, securityHeaders, tellingOf } from "../../worker/front/hosts.ts";
import type { BuiltFiles } from "../build/built-files.ts";
import { appDirectory } from "../build/paths.ts";

type Fields = Readonly<Record<string, string>>;

/** As Cloudflare's `parseHeaders` has it; what is longer is passed over in silence there. */
const LONGEST_LINE = 2000;
const MOST_RULES = 100;

/** Leads a document to the boot page. */
const ALL_OTHERS = "404.html";
const LOST = ".ropeway/lost.html";

/** Pages below that path are all for slots, each with a script of its name. */
const PAGE = /^\.ropeway\/\w+\.html$/;

const SERVICE_WORKER = ".ropeway/sw.js";

/** Its header fields are what it is there for. */
const CLEARED = ".ropeway/cleared";

/** The slot's worker proper, for the minutes in which the shell's host has that of another release (slot-sw.ts). */
const SLOT_WORKER = /^\.ropeway\/slot-worker-[0-9a-f]{20}\.js$/;

/**
 * Of the app as it was built.
 *
 * @param baseOrigin of the shell.
 * @param list ROPEWAY_SLOT_HOSTS.
 */
export async function builtSlotFiles(baseOrigin: string, list: string): Promise<BuiltFiles> {
  const app: BuiltFiles = new Map();
  for (const entry of await readdir(appDirectory, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name);
    if (entry.isFile()) app.set(file.slice(appDirectory.length + 1), await readFile(file));
  }
  return slotFiles(app, baseOrigin, list);
}

/** Files of the app that a host has, by name: as they are asked for, so that nothing is redirected. */
function sourcesOf(app: BuiltFiles): Map<string, string> {
  const sources = new Map([[SERVICE_WORKER, SERVICE_WORKER]]);
  for (const path of app.keys()) {
    if (SLOT_WORKER.test(path)) sources.set(path, path);
    if (!PAGE.test(path)) continue;
    const script = path.replace(/html$/, "js");
    sources.set(path === LOST ? ALL_OTHERS : path.replace(/\.html$/, ""), path).set(script, script);
  }
  return sources;
}

/** The same for all hosts of the list. */
export function slotFiles(app: BuiltFiles, baseOrigin: string, list: string): BuiltFiles {
  const base = new URL(baseOrigin);
  const hosts = { base: base.hostname, listed: readSlotHosts(list, base.hostname) };
  // A rule for one host is a rule for each.
  const at = (path: string): URL => new URL(path, baseOrigin.replace(base.hostname, hosts.listed[0] ?? ""));
  const classified = classifyHost(at("/"), hosts);
  const files: BuiltFiles = new Map([[CLEARED, new Uint8Array()]]);
  for (const [name, source] of sourcesOf(app)) {
    const contents = app.get(source);
    if (contents === undefined) throw new Error(`Cannot make a site's host: ${source} was not built`);
    const telling = tellingOf(`/${name}`, classified);
    const told = telling?.tell(new TextDecoder().decode(contents));
    files.set(name, told === undefined ? contents : new TextEncoder().encode(told));
  }
  const headersOf = (path: string): Fields => securityHeaders(at(path), "slot", hosts);
  const paths = [...files.keys()].filter((name) => name !== ALL_OTHERS).map((name) => `/${name}`);
  const rules = new Map(paths.map((path) => [path, { ...headersOf(path), ...fileFields(path) }]));
  const everywhere = { ...headersOf("/any/page"), "cache-control": "no-store" };
  files.set("_headers", new TextEncoder().encode(headersFile(everywhere, rules)));
  return files;
}

function fileFields(path: string): Fields {
  const type = path.endsWith(".js") ? "text/javascript" : "text/html";
  const freshness = path === `/${CLEARED}` ? "no-store" : (freshnessOf(path) ?? "public, max-age=0, must-revalidate");
  return { "content-type": `${type}; charset=utf-8`, "cache-control": freshness };
}

/**
 * @param everywhere fields of each answer.
 * @param rules fields of a path, all of them.
 */
export function headersFile(everywhere: Fields, rules: ReadonlyMap<string, Fields>): string {
  const lines = ["/*", ...Object.entries(everywhere).map(fieldLine)];
  for (const [path, fields] of rules) {
    const differs = (name: string): boolean => fields[name] !== everywhere[name];
    // A second value of a field goes after the first one, unless that is taken away before.
    const gone = Object.keys(everywhere).filter(differs);
    const own = Object.entries(fields).filter(([name]) => differs(name));
    lines.push(path, ...gone.map((name) => `  ! ${name}`), ...own.map(fieldLine));
  }
  if (rules.size + 1 > MOST_RULES) throw new Error(`Cannot write _headers: it has more than ${MOST_RULES} rules`);
  const long = lines.find((line) => line.length > LONGEST_LINE);
  if (long !== undefined)
    throw new Error(`Cannot write _headers: a line has ${long.length} of ${LONGEST_LINE} characters; take fewer hosts`);
  return `${lines.join("\n")}\n`;
}

function fieldLine([name, value]: readonly [string, string]): string {
  return `  ${name}: ${value}`;
}
