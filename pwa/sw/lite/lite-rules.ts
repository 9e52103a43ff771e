/**
 * Which attributes are changed in a page without scripts. What leads to another document leads to its place on the base
 * host, and so does what the page loads of its own origin, by whatever address. What is missed here leads nowhere: the
 * app's policy has no frame of another origin, and its worker refuses files of its own host that are not at their place.
 * Nothing that only scripts could do has to be thought of.
 */
import { LITE_PATH } from "../../../shared/subprotocol.ts";
import { parseUrl } from "../../../shared/web/origin.ts";
import { liteAddress, placeInPage } from "../../messages/lite-address.ts";
import type { ElementContext } from "../../slot/rewrite/element-rules.ts";
import type { MarkupRules } from "../../slot/rewrite/html-rewriter.ts";
import type { AttributeAccess } from "../../slot/rewrite/html-tag.ts";
import { neutraliseRelations } from "../../slot/rewrite/link-relations.ts";
import { placesInStyle, StylePlaces } from "./style-places.ts";

/** Where elements lead, by the attributes that say it. Of `use`, documents of the page's own origin only are taken. */
const LEADING: Readonly<Record<string, readonly string[]>> = {
  a: ["href", "xlink:href"],
  area: ["href"],
  button: ["formaction"],
  form: ["action"],
  input: ["formaction"],
  use: ["href", "xlink:href"],
};

/** What elements load, by the attributes that say it: addresses, lists of them, and styles. */
const LOADED = ["src", "poster", "background", "data-src"];
const LOADED_BY_LINKS = ["href", "xlink:href"];
const LOADED_OF_LISTS = ["srcset", "imagesrcset", "data-srcset"];
const STYLED = ["style", "filter", "mask", "clip-path", "fill", "stroke", "cursor"].concat(
  ["", "-start", "-mid", "-end"].map((end) => `marker${end}`),
);
const LOADS = /(?:src|srcset|poster|background|href)\s*=|url\(|image-set\(/i;

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

function rewriteLoaded(name: string, element: AttributeAccess, { base, realOrigin }: ElementContext): void {
  const placeOf = (written: string) => placeInPage(written, base, realOrigin);
  const change = (attribute: string, changed: (value: string) => string | null) => {
    const value = element.get(attribute);
    const place = value === null ? null : changed(value);
    if (place !== null && place !== value) element.set(attribute, place);
  };
  for (const attribute of LOADED) change(attribute, placeOf);
  if (LEADING[name] === undefined && name !== "base") for (const link of LOADED_BY_LINKS) change(link, placeOf);
  for (const list of LOADED_OF_LISTS) change(list, (value) => placesInList(value, placeOf));
  for (const style of STYLED) change(style, (value) => placesInStyle(value, placeOf));
}

/** A candidate's address in a `srcset`, and the commas that end it (HTML section 4.8.4.2.2). */
const CANDIDATE = /[\s,]*([^\s,]\S*)/y;

function placesInList(list: string, placeOf: (written: string) => string | null): string {
  let out = "";
  let at = 0;
  CANDIDATE.lastIndex = 0;
  for (let found = CANDIDATE.exec(list); found !== null; found = CANDIDATE.exec(list)) {
    const [, written = ""] = found;
    let length = written.length;
    while (written[length - 1] === ",") length -= 1;
    const start = CANDIDATE.lastIndex - written.length;
    const place = placeOf(written.slice(0, length));
    if (place !== null) {
      out += list.slice(at, start) + place;
      at = start + length;
    }
    const comma = length < written.length ? start + length : list.indexOf(",", start + length);
    if (comma === -1) break;
    CANDIDATE.lastIndex = comma;
  }
  return out + list.slice(at);
}

function rewrite(name: string, element: AttributeAccess, context: ElementContext): void {
  for (const attribute of TAKEN_AWAY) if (element.get(attribute) !== null) element.remove(attribute);
  for (const attribute of LEADING[name] ?? []) {
    const written = element.get(attribute);
    const place = written === null ? null : placeOf(name, written, context);
    if (place !== null) element.set(attribute, place);
  }
  rewriteLoaded(name, element, context);
  switch (name) {
    case "base":
      rewriteBase(element, context);
      break;
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

function rewriteBase(element: AttributeAccess, { documentUrl, realOrigin }: ElementContext): void {
  const href = element.get("href");
  const base = href === null ? null : parseUrl(href, documentUrl);
  if (base !== null) element.set("href", base.origin === realOrigin ? liteAddress(base.href) : base.href);
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
  inLinks: /href|target|ping|download|attributionsrc|src|poster|background|url\(|image-set\(/i,
  inOthers: LOADS,
  rewrite,
  hasScripts: false,
  // They are taken away.
  inner: () => (markup) => markup,
  styles: ({ base, realOrigin }) => new StylePlaces((written) => placeInPage(written, base, realOrigin)),
};
