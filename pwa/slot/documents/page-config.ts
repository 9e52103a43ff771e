/** How the service worker tells the page script about its document. */
import type { ScriptCookie } from "../../../shared/http/heads.ts";
import type { ReferrerPolicy } from "../../../shared/web/referrer-policy.ts";
import { escapeAttribute } from "../rewrite/html-tag.ts";
import { ropewayPath, type SlotIdentity } from "../slot-url.ts";

export interface PageConfig extends SlotIdentity {
  readonly shellOrigin: string;
  /** The hosts of slots, as sources of a policy. */
  readonly slotSources: string;
  /** Real URL of the document as it was answered. */
  readonly documentUrl: string;
  /** Whether this is the page itself, not a frame in one. The service worker only knows whether its slot may be. */
  readonly topLevel: boolean;
  /** Whether it answers a form, which a reload would send again. */
  readonly isPosted: boolean;
  /** Encoding that the response's field names, or "". The document itself is in UTF-8 by now. */
  readonly charset: string;
  readonly cookies: readonly ScriptCookie[];
  /** What `document.referrer` reads: a real URL, or "". */
  readonly referrer: string;
  /** The policy in the response's field; "" for none. */
  readonly referrerPolicy: ReferrerPolicy | "";
}

/**
 * The element that goes right after `<head>`. The configuration is an attribute, so that no inline script is needed
 * and a policy without 'unsafe-inline' has nothing to object to.
 */
export function pageSnippet(config: PageConfig, nonce: string): string {
  const data = escapeAttribute(JSON.stringify(config));
  return `<script src="${ropewayPath.pageScript}" nonce="${escapeAttribute(nonce)}" data-config="${data}"></script>`;
}

/** Reads the configuration from the script's element and takes the element away. */
export function takeConfig(
  script: { readonly dataset: { readonly [name: string]: string | undefined }; remove(): void } | null,
): PageConfig | null {
  const text = script?.dataset.config;
  if (script === null || text === undefined) return null;
  script.remove();
  return JSON.parse(text) as PageConfig;
}
