/**
 * A document says real values about itself. `location` cannot be changed, and `baseURI` stays with it:
 * scripts compare it with `a.href`, which the browser resolves on the slot.
 */

import { removeNetworkFeatures } from "../documents/this-document.ts";
import { beforeScript, blobPrelude, dataScript, type PageSockets, serveWorker } from "../page-workers.ts";
import { toReal, toSlot } from "../slot-url.ts";
import { blobOf } from "./blob-documents.ts";
import { resolved } from "./navigation-rules.ts";
import type { PageContext } from "./page-context.ts";
import { patchAccessor, patchConstructor, patchMethod, patchResponseType, removeProperties } from "./patch.ts";

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

/** @param mapped gives the slot's URL for a real one of the page's own origin. */
function patchRequests({ config }: PageContext, mapped: (url: unknown) => unknown): void {
  patchMethod(window, "fetch", (native, self, args) => {
    const [input, given] = args;
    const isRequest = input instanceof Request;
    const { mode = isRequest ? input.mode : "", referrer = isRequest && input.referrer === "" ? "" : null } = (given ??
      {}) as { readonly mode?: string; readonly referrer?: string };
    // The worker cannot tell no referrer from one that the browser has left out.
    const init = referrer === "" ? { ...(given as RequestInit), referrerPolicy: "no-referrer" } : given;
    // A referrer is told whole where the browser takes the target for its own.
    if (mode !== "same-origin" && !referrer) return native(self, init === given ? args : [input, init]);
    return native(self, [isRequest ? new Request(toSlot(input.url, config), input) : mapped(input), ownReferrer(init)]);
  });
  /** The browser takes no referrer of another origin. */
  const ownReferrer = (given: unknown): unknown => {
    const { referrer } = (given ?? {}) as RequestInit;
    if (!referrer) return given;
    const told = mapped(referrer);
    return told === referrer ? given : { ...(given as RequestInit), referrer: told };
  };
  patchConstructor("Request", (construct, [input, init, ...rest]) => construct([input, ownReferrer(init), ...rest]));
  patchAccessor(Request.prototype, "referrer", { get: (native) => toReal(String(native()), config) });
  patchResponseType([config.slotOrigin, config.realOrigin]);
}

/** Real URLs of the page's own origin where the browser insists on the slot's. */
function patchUrlArguments(context: PageContext, sockets: PageSockets): void {
  const { config } = context;
  const own = (url: unknown) => {
    const text = String(url);
    return toSlot(resolved(text, document) ?? text, config);
  };
  const mapped = (url: unknown) => {
    const slotUrl = own(url);
    return slotUrl.startsWith(config.slotOrigin) && !String(url).startsWith(config.slotOrigin) ? slotUrl : url;
  };
  for (const name of ["pushState", "replaceState"]) {
    patchMethod(History.prototype, name, (native, self, [state, unused, url]) => {
      native(self, url === undefined || url === null ? [state, unused] : [state, unused, mapped(url)]);
      // HTML section 7.4.4: the document state that it makes has no POST resource. Sites use it to be rid of theirs.
      context.isPosted = false;
    });
  }
  patchRequests(context, mapped);
  for (const name of ["Worker", "SharedWorker"] as const)
    patchConstructor(name, (construct, [url, given, ...rest]) => {
      // The site's host may be another's before such a worker ends.
      const isExtended = typeof given === "object" && given !== null && "extendedLifetime" in given;
      const options = isExtended ? { ...given, extendedLifetime: false } : given;
      const script = dataScript(String(url)) ?? blobOf(String(url));
      const start = (address: unknown): object => {
        const worker = construct([address, options, ...rest]);
        serveWorker(worker, sockets);
        return worker;
      };
      if (script === null) return start(mapped(url));
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

export function patchIdentity(context: PageContext, sockets: PageSockets): void {
  patchDocument(context);
  patchConnection(window, context);
  patchUrlArguments(context, sockets);
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
