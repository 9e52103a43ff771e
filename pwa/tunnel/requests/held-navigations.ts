/** Navigations and redirects whose slot comes for the response: the one of that origin, below the same top-level page. */
import { ErrorCode, RopewayError } from "../../../shared/errors.ts";
import type { RequestHead } from "../../../shared/http/heads.ts";
import { HeldResponse } from "./held-response.ts";
import type { HeldResponses } from "./held-responses.ts";
import type { ResponseSource } from "./response-source.ts";

/**
 * For the slot of the URL's origin. Until the head is there it waits for its link or its origin.
 *
 * @param form as of a `PhoneRequest`: several frames may send forms to one URL.
 */
export function holdNavigation(
  held: HeldResponses,
  topLevelOrigin: string,
  url: string,
  response: HeldResponse,
  form?: string,
): void {
  held.hold(keyOf(topLevelOrigin, url, form), response, response.settled);
}

/** For ports, whose requests are stamped. */
export function heldNavigations(held: HeldResponses): ResponseSource {
  return (request, consumer, next) => {
    const { head, form } = request;
    const key = keyOf(head.topLevelOrigin, head.url, form);
    // Slot workers of before 2026-12 do not say whether they come for a form's answer.
    const isOld = form === undefined && head.mode === "navigate";
    const claim = () => held.claim(key) ?? (isOld ? held.claimLike(key) : null);
    const claimed = isOwn(head) && head.method === "GET" ? claim() : null;
    if (claimed !== null) return claimed.answer(consumer);
    return form ? formLost().answer(consumer) : next(request, consumer);
  };
}

/** The form was sent once, and is not sent again without its body. */
function formLost(): HeldResponse {
  const reason = "Cannot show what the form led to: its answer was not waited for";
  const lost = new HeldResponse();
  lost.onError(new RopewayError(ErrorCode.BODY_NOT_REPLAYABLE, "stream", "library", reason));
  return lost;
}

function keyOf(topLevelOrigin: string, url: string, form = ""): string {
  return `${topLevelOrigin} ${url} ${form}`;
}

/** Whether it is for the origin of the slot that asks. Navigations of a port are for no other. */
function isOwn({ mode, origin, url }: RequestHead): boolean {
  return mode === "navigate" || URL.parse(url)?.origin === origin;
}
