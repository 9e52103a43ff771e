/** Where a navigation that a page asks for really has to go. */
import { parseUrl } from "../../../../shared/web/origin.ts";
import { isSlotUrl, ropewayPath, ropewayUrl, type SlotIdentity, toReal, toSlot } from "../../slot-url.ts";

export type NavigationGoal =
  /** The browser's own business: javascript:, about:, blob:, data:, and what is no URL. */
  | { readonly kind: "native" }
  /** To this URL of the slot, in place. */
  | { readonly kind: "slot"; readonly url: string }
  /** The shell takes it: other origins, and schemes that it knows or explains. Real URL. */
  | { readonly kind: "shell"; readonly url: string };

/** `page`: the page on top of the slot. `frame`: a frame in it, which goes to other origins by the placeholder. */
export type NavigationPlace = "page" | "frame";

/** `url`: absolute, slot or real. */
export function navigationGoal(url: string, place: NavigationPlace, slot: SlotIdentity): NavigationGoal {
  const parsed = parseUrl(url);
  if (parsed === null || /^(?:javascript|about|blob|data):$/.test(parsed.protocol)) return { kind: "native" };
  if (!/^https?:$/.test(parsed.protocol)) return { kind: "shell", url: parsed.href };
  if (isSlotUrl(parsed, slot)) {
    const handedOn = parsed.pathname === ropewayPath.go ? parsed.searchParams.get("url") : null;
    if (handedOn !== null) return navigationGoal(handedOn, place, slot);
    return { kind: "slot", url: slot.slotOrigin + parsed.href.slice(parsed.origin.length) };
  }
  const real = toReal(parsed.href, slot);
  if (parsed.origin === slot.realOrigin) return { kind: "slot", url: toSlot(real, slot) };
  return place === "page"
    ? { kind: "shell", url: real }
    : { kind: "slot", url: slot.slotOrigin + ropewayUrl(ropewayPath.frame, real) };
}

/** The slot URL that the service worker answers as an attachment. `name`: the `download` attribute, may be "". */
export function downloadUrl(url: string, name: string, slot: SlotIdentity): string {
  return `${ropewayUrl(ropewayPath.download, toReal(url, slot))}&name=${encodeURIComponent(name)}`;
}
