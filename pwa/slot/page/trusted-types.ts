/** Trusted Types: markup that the page script changed must be trusted again where the page's policy asks for it. */
import { TRUSTED_TYPES_POLICY } from "../policy/trusted-types-policy.ts";

interface Policy {
  createHTML(markup: string): string;
}

interface Factory {
  createPolicy(name: string, rules: { createHTML(markup: string): string }): Policy;
  readonly defaultPolicy: Policy | null;
}

const factory = (window as { trustedTypes?: Factory }).trustedTypes;
let policy: Policy | null | undefined;

/** Trusted markup where that is possible, else the markup itself. The policy is made when first needed. */
export function trustedHtml(markup: string): string {
  if (policy === undefined) {
    try {
      policy = factory?.createPolicy(TRUSTED_TYPES_POLICY, { createHTML: (text) => text }) ?? null;
    } catch {
      policy = null;
    }
  }
  return policy === null ? markup : policy.createHTML(markup);
}
