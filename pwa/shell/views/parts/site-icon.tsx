import type { Site } from "../../app/app-state.ts";
import { shortHost } from "./format.ts";

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

function tintOf(host: string): number {
  let sum = 0;
  for (const character of host) sum = (sum * 31 + (character.codePointAt(0) ?? 0)) % 65_521;
  return sum % TINTS;
}
