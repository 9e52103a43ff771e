/** Media queries (Media Queries Level 4) as far as they ask about the size of a phone's screen. */
import type { Viewport } from "../../../shared/http/phone-fields.ts";

/** CSS pixels. */
const EM = 16;
/** Characters; a longer one is not looked at: sites write it. */
const LENGTH = 300;

const FEATURE = /^\(\s*(min|max)-(width|height)\s*:\s*(\d+(?:\.\d+)?|\.\d+)(px|r?em)\s*\)$/i;
const ORIENTATION = /^\(\s*orientation\s*:\s*(portrait|landscape)\s*\)$/i;

/** @returns null for what only the phone can tell. */
export function matchesMedia(query: string, viewport: Viewport): boolean | null {
  if (query.length > LENGTH) return null;
  const parts = query.split(",").map((part) => matchesOne(part.trim().toLowerCase().replace(/\s+/g, " "), viewport));
  if (parts.includes(true)) return true;
  return parts.includes(null) ? null : false;
}

function matchesOne(query: string, viewport: Viewport): boolean | null {
  const conditions = query.split(" and ").map((condition) => matchesCondition(condition, viewport));
  if (conditions.includes(false)) return false;
  return conditions.includes(null) ? null : true;
}

function matchesCondition(condition: string, viewport: Viewport): boolean | null {
  if (/^(?:only\s+)?(?:all|screen)?$/.test(condition)) return true;
  if (/^(?:only\s+)?(?:print|speech)$/.test(condition)) return false;
  const [, orientation] = ORIENTATION.exec(condition) ?? [];
  if (orientation !== undefined) return (orientation === "portrait") === viewport.height >= viewport.width;
  const [, bound, side, number, unit] = FEATURE.exec(condition) ?? [];
  if (bound === undefined) return null;
  const size = Number(number) * (unit === "px" ? 1 : EM);
  const actual = side === "width" ? viewport.width : viewport.height;
  return bound === "min" ? actual >= size : actual <= size;
}
