import { type Ask, passingOn } from "../../requests/response-source.ts";
import type { CookieMirror } from "./cookie-mirror.ts";

/** Tells the mirror what becomes of each request to the edge. */
export function watchCookies(mirror: Pick<CookieMirror, "answered" | "lost">, next: Ask): Ask {
  return (request, consumer) => {
    let isTold = false;
    const lost = () => {
      if (!isTold) mirror.lost(request.head);
      isTold = true;
    };
    const exchange = next(
      request,
      passingOn(consumer, {
        onHead: (response) => {
          isTold = true;
          mirror.answered(request.head, response);
          consumer.onHead(response);
        },
        onError: (error) => {
          lost();
          consumer.onError(error);
        },
      }),
    );
    return {
      cancel() {
        lost();
        exchange.cancel();
      },
    };
  };
}
