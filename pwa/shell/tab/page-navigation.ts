/** What a page asks the shell to navigate to. */
import { formFields } from "../../messages/form-type.ts";
import type { PageToShell } from "../../messages/page-messages.ts";
import type { NavigationRequest } from "../../messages/tunnel-messages.ts";

/**
 * The request, put together anew out of what a link or a form can say. The message may be any page's own work: another
 * method, a field more or another page's referrer would be a request across sites that no browser sends without asking
 * the other site first.
 *
 * @param url real, of any origin.
 * @param origin of the page that navigates.
 */
export function pageNavigation(
  message: PageToShell & { type: "navigate" },
  url: string,
  origin: string,
): NavigationRequest {
  const { method, headers, body, referrer }: Partial<Record<keyof typeof message, unknown>> = message;
  const isPost = method === "POST" && body instanceof ArrayBuffer;
  const isOwnReferrer = typeof referrer === "string" && URL.parse(referrer)?.origin === origin;
  return {
    url,
    method: isPost ? "POST" : "GET",
    headers: isPost ? formFields(headers) : [],
    body: isPost ? body : null,
    referrer: isOwnReferrer ? referrer : "",
    initiator: origin,
  };
}
