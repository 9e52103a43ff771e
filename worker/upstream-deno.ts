/** The upstream on Deno: its fetch, its resolver for the check of private addresses, and a key-value store. */
import { lookup } from "node:dns/promises";
import { demoExemption } from "./demo-exemption.ts";
import type { EdgeBackend } from "./edge-handler.ts";
import type { EdgeOptions } from "./environment.ts";
import type { CookieJarStore } from "./upstream/cookie-jar.ts";
import { createUpstreamParts } from "./upstream/create-upstream.ts";

export function createDenoUpstream(options: EdgeOptions, store: CookieJarStore): EdgeBackend {
  const { upstream, jar } = createUpstreamParts({
    fetch: (request) => fetch(request),
    allowPrivate: options.ROPEWAY_ALLOW_PRIVATE === "1",
    isExempt: demoExemption(options.ROPEWAY_DEMO_ORIGINS),
    resolveName: async (host) => (await lookup(host, { all: true })).map((entry) => entry.address),
    cookieJarStore: store,
    now: () => Date.now(),
  });
  return {
    upstream,
    siteData: {
      async setScriptCookie(topLevelOrigin, documentUrl, cookieString) {
        await jar.setScriptCookie(topLevelOrigin, new URL(documentUrl), cookieString);
      },
      clear: () => jar.clear(),
    },
  };
}
