/** Files that the app's service worker keeps for offline use. */
import { securityHeaders } from "../../worker/front/hosts.ts";
import type { BuiltFiles } from "./built-files.ts";
import { contentHash, withoutContentHash } from "./content-hash.ts";

const OF_SHELL = new Set([
  ".ropeway/tunnel.js",
  ".ropeway/store.js",
  ".ropeway/decoder.js",
  ".ropeway/brotli.js",
  ".ropeway/page-sockets.js",
  ".ropeway/sign-ins.js",
  ".ropeway/downloads.js",
  ".ropeway/sheets.js",
  ".ropeway/library.js",
  ".ropeway/devices.js",
  ".ropeway/downloads-sheet.js",
  ".ropeway/find.js",
  ".ropeway/find-text.js",
  ".ropeway/reader.js",
  ".ropeway/view.js",
  ".ropeway/permissions.js",
]);

/** The rest below `.ropeway` belongs to the slots' hosts; screenshots are for whoever is about to install the app. */
const isPrecached = (path: string): boolean =>
  !path.startsWith("screenshots/") &&
  (!path.startsWith(".ropeway/") || OF_SHELL.has(withoutContentHash(path))) &&
  !path.endsWith(".map");

/** The platform serves pages without their ending, and sends whoever asks with it there. */
function servedAs(path: string): string {
  return path === "index.html" ? "/" : `/${path.replace(/\.html$/, "")}`;
}

/** The edge's header fields for a file of the app, on a host that stands for any. */
function edgeHeaders(path: string): Readonly<Record<string, string>> {
  return securityHeaders(new URL(path, "https://ropeway.example"), "base", { base: "ropeway.example", listed: [] });
}

/**
 * Entries as Workbox takes them: the URL as it is asked for, and a hash of the content and of the header fields that the
 * edge sends with it. An installed app has both from its cache, so a change of either has to reach it.
 */
export function precacheManifest(files: BuiltFiles, headersOf = edgeHeaders): { url: string; revision: string }[] {
  return [...files]
    .filter(([path]) => isPrecached(path))
    .map(([path, contents]) => {
      const url = servedAs(path);
      const headers = new TextEncoder().encode(JSON.stringify(headersOf(url)));
      return { url, revision: contentHash(Buffer.concat([contents, headers])) };
    })
    .sort((a, b) => (a.url < b.url ? -1 : 1));
}
