/** How the service worker tells the page script about its document. */
import type { ScriptCookie } from "../../../shared/http/heads.ts";
import type { ReferrerPolicy } from "../../../shared/web/policies.ts";
import { escapeAttribute, pageScript } from "../rewrite/html-rewriter.ts";
import type { SlotIdentity } from "../slot-url.ts";

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
  /** Its origin gets `Save-Data: on`. */
  readonly savesData?: boolean;
  /** Value of `document.referrer`: a real URL, or "". */
  readonly referrer: string;
  /** Of the script's element, for those of `srcdoc` documents. */
  readonly nonce: string;
  /** Source lists of the policies in the response's fields that govern what it connects to; left out where none does. */
  readonly connect?: readonly string[];
  /** The policy in the response's field; "" for none. */
  readonly referrerPolicy: ReferrerPolicy | "";
}

/**
 * The element that goes right after `<head>`. The configuration is an attribute, so that no inline script is needed
 * and a policy without 'unsafe-inline' has nothing to object to.
 */
export function pageSnippet(config: Omit<PageConfig, "nonce">, nonce: string): string {
  return pageScript("", nonce, ` data-config="${escapeAttribute(JSON.stringify(config))}"`);
}

/** Reads the configuration from the script's element and takes the element away. */
export function takeConfig(
  script: {
    readonly nonce?: string;
    readonly dataset: { readonly [name: string]: string | undefined };
    remove(): void;
  } | null,
): PageConfig | null {
  script?.remove();
  const text = script?.dataset.config;
  return text === undefined ? null : { ...(JSON.parse(text) as PageConfig), nonce: script?.nonce ?? "" };
}
