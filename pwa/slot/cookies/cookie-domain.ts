import type { SlotIdentity } from "../slot-url.ts";

/**
 * The cookie string as the page means it. Scripts make the `domain` attribute from `location.hostname`, or what is left
 * when labels are cut from its front: that names the slot or a host above it, and means the real host. A single label
 * stays, and is refused as the public suffix that it would be: scripts that look for the widest domain begin there.
 */
export function withRealDomain(cookie: string, { slotOrigin, realOrigin }: SlotIdentity): string {
  const slotHost = new URL(slotOrigin).hostname;
  return cookie.replace(/(;\s*domain\s*=\s*\.?)([^;\s]+\.[^;\s]+)/gi, (attribute, start: string, domain: string) =>
    `.${slotHost}`.endsWith(`.${domain.toLowerCase()}`) ? start + new URL(realOrigin).hostname : attribute,
  );
}
