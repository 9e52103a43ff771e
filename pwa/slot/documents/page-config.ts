/** How the service worker tells the page script about its document. */
import type { ReferrerPolicy, ScriptCookie } from "../../../shared/http/heads.ts";
import { escapeHtml, pageScript } from "../rewrite/html-rewriter.ts";
import type { SlotIdentity } from "../slot-url.ts";

export interface PageConfig extends SlotIdentity {
  readonly shellOrigin: string;
  /** The hosts of slots, as sources of a policy. */
  readonly slotSources: string;
  /** Real URL of the document as it was answered. */
  readonly documentUrl: string;
  /** Whether this is the page itself, not a frame in one. The service worker only knows whether its slot may be. */
  readonly topLevel: boolean;
  /** Whether the document answers a form, which a reload would send again. */
  readonly isPosted: boolean;
  /** The page's name where its document has no title. */
  readonly title?: string;
  /** Media type of the file that a page of ours shows, as the browser itself would. */
  readonly viewed?: string;
  readonly cookies: readonly ScriptCookie[];
  /** As of `suffixIn`; left out for 1. */
  readonly suffix?: number;
  /** Its origin gets `Save-Data: on`. */
  readonly savesData?: boolean;
  /** Value of `document.referrer`: a real URL, or "". */
  readonly referrer: string;
  /** Of the script's element, for those of `srcdoc` documents. */
  readonly nonce: string;
  /** As `heldPolicies` says of the response's fields; left out where it says none. */
  readonly connect?: readonly string[];
  /** The response's `Permissions-Policy`. */
  readonly permissions?: string;
  /** By its `Cross-Origin-Opener-Policy` (HTML section 7.1.3) no window of another origin has it for an opener, or opens it. */
  readonly isApart?: boolean;
  /** A field has a policy: the browser hides nonces from where markup is read. On a slot it always does. */
  readonly hasPolicy: boolean;
  /** The policy in the response's field; "" for none. */
  readonly referrerPolicy: ReferrerPolicy | "";
}

/**
 * The element that goes right after `<head>`. The configuration is an attribute, in ASCII, so that no inline script is needed
 * and a policy without 'unsafe-inline' has nothing to object to.
 */
export function pageSnippet(config: Omit<PageConfig, "nonce">, nonce: string): string {
  const data = escapeHtml(JSON.stringify(config)).replace(
    /[^\0-\x7f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return pageScript("", nonce, ` data-config="${data}"`);
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
