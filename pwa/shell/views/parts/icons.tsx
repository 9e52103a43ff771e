import type { Site, TabState } from "../../app/state.ts";
import { shortHost } from "./format.ts";

const PATHS = {
  back: "M15 5l-7 7 7 7",
  forward: "M9 5l7 7-7 7",
  home: "M4 11l8-7 8 7v8a1 1 0 0 1-1 1h-4.5v-6h-5v6H5a1 1 0 0 1-1-1z",
  menu: "M12 5.5v.01M12 12v.01M12 18.5v.01",
  reload: "M19 12a7 7 0 1 1-2.2-5.1M19.5 3.5v4.3h-4.3",
  close: "M6 6l12 12M18 6L6 18",
  search: "M16 16l4.5 4.5M18 11a7 7 0 1 1-14 0 7 7 0 0 1 14 0z",
  globe: "M21 12a9 9 0 1 1-18 0 9 9 0 0 1 18 0zM3 12h18M12 3c5 5 5 13 0 18M12 3c-5 5-5 13 0 18",
  lock: "M6 11h12a1 1 0 0 1 1 1v7a1 1 0 0 1-1 1H6a1 1 0 0 1-1-1v-7a1 1 0 0 1 1-1zM8 11V8a4 4 0 0 1 8 0v3",
  unlocked: "M6 11h12a1 1 0 0 1 1 1v7a1 1 0 0 1-1 1H6a1 1 0 0 1-1-1v-7a1 1 0 0 1 1-1zM8 11V7.5a4 4 0 0 1 7.6-1.7",
  pin: "M12 15.5V21M8.5 3.5h7l-.8 6.2 2.8 3.3v2H6.5v-2l2.8-3.3z",
  info: "M21 12a9 9 0 1 1-18 0 9 9 0 0 1 18 0zM12 11v5.5M12 7.5v.01",
  key: "M11.5 12.5L20 4M16 8l3 3M12.5 15.5a4.5 4.5 0 1 1-9 0 4.5 4.5 0 0 1 9 0z",
  offline: "M4 4l16 16M5 11.5a10 10 0 0 1 4-2.3M19 11.5a10 10 0 0 0-5-2.6M8.5 15.2a5 5 0 0 1 7 0M12 19v.01",
  sign: "M12 8.5v4.5M12 16.5v.01M10.3 3.9L2.6 17.5A2 2 0 0 0 4.3 20.5h15.4a2 2 0 0 0 1.7-3L13.7 3.9a2 2 0 0 0-3.4 0z",
  origin:
    "M4 4.5h16a1 1 0 0 1 1 1V10a1 1 0 0 1-1 1H4a1 1 0 0 1-1-1V5.5a1 1 0 0 1 1-1zM4 13.5h16a1 1 0 0 1 1 1V19a1 1 0 0 1-1 1H4a1 1 0 0 1-1-1v-4.5a1 1 0 0 1 1-1zM7 7.8v.01M7 16.8v.01M11 7.8h6M11 16.8h6",
} as const;

export type IconName = keyof typeof PATHS;

/** A 24-unit line icon in the text's colour. Always decoration: the control around it carries the name. */
export function Icon({ name }: { name: IconName }) {
  return <Glyph path={PATHS[name]} isWay={name === "back" || name === "forward"} />;
}

/** As `Icon`, for what is drawn in one place only. @param isWay it points the way of the words. */
export function Glyph({ path, isWay = false }: { path: string; isWay?: boolean }) {
  return (
    <svg class={isWay ? "icon icon-way" : "icon"} viewBox="0 0 24 24" aria-hidden="true">
      <path d={path} />
    </svg>
  );
}

/** The cabin on its rope, Ropeway's mark. */
export function Mark() {
  return (
    <svg class="mark" viewBox="0 0 64 64" aria-hidden="true">
      <path class="mark-rope" d="M4 22 60 8" />
      <path class="mark-arm" d="M32 15v11" />
      <rect class="mark-cabin" x="15" y="26" width="34" height="28" rx="8" />
      <path class="mark-window" d="M21 34h9v8h-9zM34 34h9v8h-9z" />
    </svg>
  );
}

const TINTS = 8;

/** The site's own icon, or its first letter on a tint that stays the same for the host. */
export function SiteIcon({ site, large = false }: { site: Pick<Site, "url" | "icon">; large?: boolean }) {
  const size = large ? "site-icon site-icon-large" : "site-icon";
  if (site.icon) {
    return (
      <span class={size}>
        <img src={site.icon} alt="" draggable={false} />
      </span>
    );
  }
  const host = shortHost(site.url);
  const letter = [...host].find((character) => /[\p{L}\p{N}]/u.test(character)) ?? "•";
  return (
    <span class={`${size} tint-${tintOf(host)}`} aria-hidden="true">
      {letter.toUpperCase()}
    </span>
  );
}

/** The host of an address. It is written from left to right, whatever stands around it: else a title could turn it over. */
export function Host({ url, className }: { url: string; className?: string }) {
  return (
    <bdi dir="ltr" class={className}>
      {shortHost(url)}
    </bdi>
  );
}

function tintOf(host: string): number {
  let sum = 0;
  for (const character of host) sum = (sum * 31 + (character.codePointAt(0) ?? 0)) % 65_521;
  return sum % TINTS;
}

/** How what is visible came from the site that the bar names. `pending`: the person typed the address, nothing came yet. */
export type Connection = "secure" | "plain" | "pending" | "failed";

/** Names of icons. */
export const SIGNS = { secure: "lock", plain: "unlocked", pending: "info", failed: "info" } as const;

export function connectionOf({ url, error, destination }: Pick<TabState, "url" | "error" | "destination">): Connection {
  if (error !== null) return "failed";
  if (destination?.kind === "typed") return "pending";
  return url.startsWith("https:") ? "secure" : "plain";
}
