/** What a page asks the shell to navigate to. */
import type { PageToShell } from "../../messages/page-messages.ts";
import type { NavigationRequest } from "../../messages/tunnel-messages.ts";

/** The encodings of forms (HTML section 4.10.22); a boundary as RFC 2046 section 5.1.1 has it, in quotes or not. */
const FORM_TYPE =
  /^(?:application\/x-www-form-urlencoded|text\/plain|multipart\/form-data; ?boundary="?[\w'()+,./:=?-]{1,70}"?)(?:; ?charset=[\w-]{1,40})?$/i;

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
    headers: isPost ? formType(headers) : [],
    body: isPost ? body : null,
    referrer: isOwnReferrer ? referrer : "",
    initiator: origin,
  };
}

function formType(headers: unknown): NavigationRequest["headers"] {
  if (!Array.isArray(headers)) return [];
  const [name, value] = (Array.isArray(headers[0]) ? headers[0] : []) as readonly unknown[];
  return name === "content-type" && typeof value === "string" && FORM_TYPE.test(value) ? [["content-type", value]] : [];
}
