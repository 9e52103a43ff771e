/**
 * The way of a response through the edge. It comes from `upstream` with its body decoded and the head that is true of
 * that, and passes each stage in turn. A stage that has nothing to do with it gives it back as it is.
 *
 *   observe     who wants to know what a body says reads along: pushes (push/)
 *   (transform) what changes bodies, and their heads with them, stands here
 *   refer       what the phone has stored goes as a name (reference/)
 *   code        packs the body for the link, by the table of coding/code.ts
 */
import type { ServerResponse } from "../../shared/http/server-exchange.ts";
import { code } from "./coding/code.ts";
import { observe } from "./observe.ts";
import type { Delivery } from "./stage.ts";

/** What the phone gets of `response`. */
export async function deliver({ head, body }: ServerResponse, delivery: Delivery): Promise<ServerResponse> {
  if (body === null) return { head, body };
  const observed = observe({ head, body }, delivery);
  const { stored } = delivery.request.head;
  const referred = stored === undefined ? observed : await delivery.refer(observed, delivery.request.head);
  return referred.body === null ? referred : code({ head: referred.head, body: referred.body }, delivery);
}
