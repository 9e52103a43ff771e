import type { Sandbox } from "../../../messages/page-messages.ts";

/** Of the documents around that are of this origin; the shell hears of the others from those. */
export function sandboxAround(innermost: Window): Sandbox {
  let tokens = null as Sandbox;
  for (let each = innermost; each.frameElement !== null; each = each.parent) {
    const own = each.frameElement.getAttribute("sandbox")?.toLowerCase().split(/\s+/);
    if (own !== undefined) tokens = tokens?.filter((token) => own.includes(token)) ?? own;
  }
  return tokens;
}
