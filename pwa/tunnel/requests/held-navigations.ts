/** Navigations and redirects whose slot comes for the response: the one of that origin, below the same top-level page. */
import type { RequestHead } from "../../../shared/http/heads.ts";
import type { HeldResponse } from "./held-response.ts";
import type { HeldResponses } from "./held-responses.ts";
import type { ResponseSource } from "./response-source.ts";

/** For the slot of the URL's origin. Until the head is there it waits for its link or its origin. */
export function holdNavigation(held: HeldResponses, topLevelOrigin: string, url: string, response: HeldResponse): void {
  held.hold(keyOf(topLevelOrigin, url), response, response.settled);
}

/** For ports, whose requests are stamped. */
export function heldNavigations(held: HeldResponses): ResponseSource {
  return (request, consumer, next) => {
    const { head } = request;
    const claimed = isOwn(head) && head.method === "GET" ? held.claim(keyOf(head.topLevelOrigin, head.url)) : null;
    return claimed?.answer(consumer) ?? next(request, consumer);
  };
}

function keyOf(topLevelOrigin: string, url: string): string {
  return `${topLevelOrigin} ${url}`;
}

/** Whether it is for the origin of the slot that asks. Navigations of a port are for no other. */
function isOwn({ mode, origin, url }: RequestHead): boolean {
  return mode === "navigate" || URL.parse(url)?.origin === origin;
}
