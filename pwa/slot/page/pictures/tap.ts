/** What pictures and films that wait have in common: they are buttons until the person has tapped them. */
import { ORIGINAL_MARK } from "../../../messages/worker-messages.ts";

/** For keyboards and screen readers. @param bytes 0 where nobody knows. */
export function becomeButton(element: HTMLElement, name: string, bytes: number): void {
  element.tabIndex = 0;
  element.setAttribute("role", "button");
  element.setAttribute("aria-label", `${name}: load${bytes > 0 ? `, ${sizeText(bytes)}` : ""}`);
}

/** @param bytes 0 where nobody knows. */
export function sizeText(bytes: number): string {
  if (bytes < 1e6) return bytes === 0 ? "" : `${Math.ceil(bytes / 1000)} kB`;
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

export function beNoButton(element: Element): void {
  for (const name of ["role", "tabindex", "aria-label"]) element.removeAttribute(name);
}

/** The URL that asks for it as its origin sends it. */
export function originalOf(url: string): string {
  const [address = "", part] = url.split("#");
  return `${address}${address.includes("?") ? "&" : "?"}${ORIGINAL_MARK}${part === undefined ? "" : `#${part}`}`;
}
