import { parseUrl } from "./slot-url.ts";

/** Where `/.ropeway/boot?then=…` goes once the service worker is there: within the slot only. Null: nowhere. */
export function bootTarget(search: string, slotOrigin: string): string | null {
  const then = new URLSearchParams(search).get("then");
  const target = then === null ? null : parseUrl(then, slotOrigin);
  return target?.origin === slotOrigin ? target.href : null;
}
