/**
 * A document says real values about itself. `location` cannot be changed, and `baseURI` stays with it:
 * scripts compare it with `a.href`, which the browser resolves on the slot.
 */

import type { PageConfig } from "../documents/page-config.ts";
import { removeNetworkFeatures } from "../documents/this-document.ts";
import { beforeScript, blobPrelude, dataScript, type PageSockets, serveWorker } from "../page-workers.ts";
import { toReal } from "../slot-url.ts";
import { blobOf } from "./blob-documents.ts";
import { trusted } from "./elements.ts";
import { htmlElement } from "./navigation-rules.ts";
import type { OwnOrigin } from "./own-origin.ts";
import type { PageContext, Realm } from "./page-context.ts";
import { patchAccessor, patchConstructor, patchMethod, removeProperties } from "./patch.ts";

function patchDocument({ config, realUrl }: PageContext): void {
  const url = () => toReal(location.href, config);
  const { viewed } = config;
  if (viewed !== undefined) {
    document.doctype?.remove();
    patchAccessor(Document.prototype, "contentType", {
      get: (native, self) => (self === document ? viewed : native()),
    });
  }
  patchAccessor(Document.prototype, "URL", { get: (native) => toReal(String(native()), config) });
  patchAccessor(Document.prototype, "documentURI", { get: (native) => toReal(String(native()), config) });
  patchAccessor(Document.prototype, "referrer", {
    get: (native, self) => (self === document ? config.referrer : native()),
  });
  patchAccessor(Document.prototype, "domain", {
    get: () => new URL(url()).hostname,
    set(_native, _self, value) {
      const host = new URL(realUrl()).hostname;
      const domain = String(value);
      if (domain !== host && !(domain.includes(".") && host.endsWith(`.${domain}`)))
        throw new DOMException(`Cannot set domain: ${domain} is no suffix of ${host}`, "SecurityError");
    },
  });
}

/** Milliseconds in which a worker has begun to load. */
const SCRIPT_FETCH_TIME = 10_000;

/** Real URLs of the page's own origin where the browser insists on the slot's. */
function patchUrlArguments(context: PageContext, own: OwnOrigin, sockets: PageSockets): void {
  const { config } = context;
  for (const name of ["pushState", "replaceState"]) {
    patchMethod(History.prototype, name, (native, self, [state, unused, url]) => {
      native(self, url === undefined || url === null ? [state, unused] : [state, unused, own.onSlot(url)]);
      // HTML section 7.4.4: the document state that it makes has no POST resource. Sites use it to be rid of theirs.
      context.isPosted = false;
    });
  }
  patchAskers(window, config, own, sockets);
  for (const name of ["baseVal", "animVal"])
    patchAccessor(SVGAnimatedString.prototype, name, {
      get: (native) => own.real(native()),
      set: (native, _self, value) => native(/^https?:/i.test(String(value)) ? own.onSlot(value) : value),
    });
}

/** Likewise in requests and workers of the window, or of a frame's that has no page script, and in what their answers tell. */
export function patchAskers(realm: Realm, config: PageConfig, own: OwnOrigin, sockets: PageSockets): void {
  own.patchRequests(realm);
  for (const name of ["Worker", "SharedWorker"] as const)
    patchConstructor(realm, name, (construct, [url, given, ...rest]) => {
      // The site's host may be another's before such a worker ends.
      const isExtended = typeof given === "object" && given !== null && "extendedLifetime" in given;
      const options = isExtended ? { ...given, extendedLifetime: false } : given;
      const script = dataScript(String(url)) ?? blobOf(String(url));
      const start = (address: unknown): object => {
        const worker = construct([trusted("ScriptURL", address, url), options, ...rest]);
        serveWorker(worker, sockets);
        return worker;
      };
      if (script === null) return start(own.onSlot(url));
      const connect = sockets.connect();
      const isModule = typeof given === "object" && given !== null && "type" in given && given.type === "module";
      // Where a policy keeps a module's imports out, the whole of it fails.
      if (isModule && connect.length > 0 && script instanceof Blob) return start(url);
      const prelude = blobPrelude(config.slotOrigin, { origin: config.realOrigin, base: "", connect }, isModule, name);
      const parts = [typeof script === "string" ? beforeScript(prelude, script) : prelude, script];
      const blobUrl = URL.createObjectURL(new Blob(parts, { type: "text/javascript" }));
      // A shared one is found again by its address.
      if (name === "Worker") setTimeout(() => URL.revokeObjectURL(blobUrl), SCRIPT_FETCH_TIME);
      return start(blobUrl);
    });
}

/** Modules run once, by whichever of their addresses. Elements name the slot's (`rewriteElement`). */
function mapImports({ slotOrigin, realOrigin, nonce }: PageConfig): void {
  // Chromium takes further maps, the page's own, since the release that has this. Firefox does not.
  if (!("moveBefore" in Element.prototype) || "InternalError" in window) return;
  const text = JSON.stringify({ imports: { [`${realOrigin}/`]: `${slotOrigin}/` } });
  const map = Object.assign(htmlElement(document, "script"), {
    type: "importmap",
    nonce,
    text: trusted("Script", text),
  });
  document.documentElement.append(map);
  map.remove();
}

/** Not every browser has it. */
export function connectionOf(realm: Window): EventTarget | undefined {
  return (realm.navigator as Navigator & { readonly connection?: EventTarget }).connection;
}

/** The browser knows only what is set for all of its sites. */
export function patchConnection(realm: Window, context: PageContext): void {
  const connection = connectionOf(realm);
  if (connection !== undefined)
    patchAccessor(Object.getPrototypeOf(connection), "saveData", { get: (native) => native() || context.savesData });
}

export function patchIdentity(context: PageContext, own: OwnOrigin, sockets: PageSockets): void {
  patchDocument(context);
  patchConnection(window, context);
  patchUrlArguments(context, own, sockets);
  mapImports(context.config);
  const named = {
    get origin(): unknown {
      return context.config.realOrigin;
    },
    // Pages may replace it, as they may the native one.
    set origin(value) {
      Object.defineProperty(window, "origin", { value, configurable: true, writable: true });
    },
  };
  Object.defineProperty(window, "origin", Object.getOwnPropertyDescriptor(named, "origin") as PropertyDescriptor);
  removeNetworkFeatures(window);
  removeProperties(Navigator.prototype, ["serviceWorker"]);
  // Chromium's own player of such lists (156) takes no answer that a worker makes: pages that ask bring theirs.
  patchMethod(HTMLMediaElement.prototype, "canPlayType", (native, self, args) =>
    /mpegurl/i.test(String(args[0])) ? "" : native(self, args),
  );
}
