/**
 * Which attributes are changed in a page without scripts. What leads to another document leads to its place on the base
 * host; what is missed here leads nowhere: the app's policy has no frame of another origin. Nothing that only scripts
 * could do has to be thought of.
 */
import { LITE_PATH } from "../../../shared/subprotocol.ts";
import { parseUrl } from "../../../shared/web/origin.ts";
import { liteAddress } from "../../messages/lite-address.ts";
import type { ElementContext } from "../../slot/rewrite/element-rules.ts";
import type { MarkupRules } from "../../slot/rewrite/html-rewriter.ts";
import type { AttributeAccess } from "../../slot/rewrite/html-tag.ts";
import { neutraliseRelations } from "../../slot/rewrite/link-relations.ts";

/** Where elements lead, by the attributes that say it. Of `use`, documents of the page's own origin only are taken. */
const LEADING: Readonly<Record<string, readonly string[]>> = {
  a: ["href", "xlink:href"],
  area: ["href"],
  button: ["formaction"],
  form: ["action"],
  input: ["formaction"],
  use: ["href", "xlink:href"],
};

/** New windows do not open, downloads need a document that may, pings and attribution go past the service worker. */
const TAKEN_AWAY = ["target", "formtarget", "ping", "download", "attributionsrc"];

/** What shows documents or plug-ins inside the page. */
const EMBEDDED = ["src", "srcdoc", "data"];

/** A person's apps for these are the app's to open. RFC 6068, 3966, 5724. */
const OTHER_APPS = /^(?:mailto|tel|sms):/;

/** @returns null to leave it as it is. */
function placeOf(name: string, url: string, context: ElementContext): string | null {
  const isPart = name === "use" && url.trim().startsWith("#");
  // A form without an address goes to its document, whatever its base is (HTML section 4.10.21.3).
  const isOwn = name !== "a" && name !== "area" && url.trim() === "";
  if (isPart || isOwn) return null;
  const target = parseUrl(url, context.base);
  if (target === null) return null;
  if (OTHER_APPS.test(target.protocol)) return LITE_PATH + target.href;
  if (target.protocol !== "http:" && target.protocol !== "https:") return null;
  if (name === "use" && target.origin !== context.realOrigin) return null;
  return liteAddress(target.href);
}

function rewrite(name: string, element: AttributeAccess, context: ElementContext): void {
  for (const attribute of TAKEN_AWAY) if (element.get(attribute) !== null) element.remove(attribute);
  for (const attribute of LEADING[name] ?? []) {
    const written = element.get(attribute);
    const place = written === null ? null : placeOf(name, written, context);
    if (place !== null) element.set(attribute, place);
  }
  switch (name) {
    case "embed":
    case "frame":
    case "iframe":
    case "object":
      for (const attribute of EMBEDDED) if (element.get(attribute) !== null) element.remove(attribute);
      break;
    case "input":
      // All sites share one origin here, for the browser's list of passwords, too.
      if (element.get("type")?.trim().toLowerCase() === "password") element.set("autocomplete", "new-password");
      break;
    case "link": {
      const rel = neutraliseRelations(element.get("rel") ?? "");
      if (rel !== null) element.set("rel", rel);
      break;
    }
    case "meta":
      rewriteMeta(element, context);
  }
}

function rewriteMeta(element: AttributeAccess, context: ElementContext): void {
  const content = element.get("content");
  switch (element.get("http-equiv")?.trim().toLowerCase()) {
    case "content-security-policy":
      element.set("content", context.transformPolicy(content ?? ""));
      break;
    // Nothing goes on by itself without scripts (HTML section 7.1.5, "sandboxed automatic features").
    case "refresh":
    case "x-dns-prefetch-control":
      element.remove("http-equiv");
  }
}

export const LITE_RULES: MarkupRules = {
  elements: new Set([...Object.keys(LEADING), "base", "embed", "frame", "iframe", "img", "link", "meta", "object"]),
  inLinks: /href|target|ping|download|attributionsrc/i,
  rewrite,
  hasScripts: false,
};
