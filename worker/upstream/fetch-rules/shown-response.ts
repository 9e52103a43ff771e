/** What the phone is told of a response (Fetch section 2.2.6, filtered responses). */
import type { HeaderField, RequestHead } from "../../../shared/http/heads.ts";
import { hasNullBody } from "../../../shared/web/status.ts";
import { isBase, isUsable, opaqueFields, opaqueStatus } from "../opaque/opaque-head.ts";
import { endToEndFields, knownStatus } from "../send/response-fields.ts";
import { exposedFields, type Tainting } from "./cors.ts";
import { isRedirect, locationOf } from "./redirects.ts";

export interface ShownResponse {
  readonly status: number;
  readonly headers: readonly HeaderField[];
  readonly hasBody: boolean;
  /** Whether the page may know where redirects led. */
  readonly showsUrl: boolean;
}

/** @param method of the last request */
export function shownResponse(
  response: Response,
  head: Pick<RequestHead, "method" | "destination" | "credentials">,
  { method, tainting }: { readonly method: string; readonly tainting: Tainting },
): ShownResponse {
  const { headers } = response;
  const status = knownStatus(response.status);
  const fields = endToEndFields(headers);
  const hasBody = response.body !== null && !hasNullBody(method, status);
  if (tainting === "basic") return { status, headers: fields, hasBody, showsUrl: true };
  if (tainting === "cors") {
    // One that was not followed: where it leads is for nobody to know.
    if (isRedirect(status, locationOf(headers))) return { status, headers: [], hasBody: false, showsUrl: true };
    const exposed = exposedFields(fields, headers.get("access-control-expose-headers"), head);
    return { status, headers: exposed, hasBody, showsUrl: true };
  }
  if (!isUsable(head)) return { status: 200, headers: [], hasBody: false, showsUrl: false };
  return {
    status: opaqueStatus(status),
    headers: opaqueFields(fields, head.destination),
    hasBody: hasBody && status !== 416,
    showsUrl: isBase(head.destination),
  };
}
