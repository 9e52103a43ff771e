/**
 * The way of a response through the edge. It comes from `upstream` with its body decoded and the head that is true of
 * that, and passes each stage in turn. A stage that has nothing to do with it gives it back as it is.
 *
 *   observe     who wants to know what a body says reads along: pushes (push/)
 *   (transform) what changes bodies, and their heads with them, stands here
 *   keep        what may be a dictionary later is copied as it passes (dictionary/)
 *   refer       what the phone has stored goes as a name (reference/)
 *   code        packs the body for the link: against what the phone has stored (dictionary/), or by the table of
 *               coding/code.ts
 */
import type { ServerResponse } from "../../shared/http/server-exchange.ts";
import { code } from "./coding/code.ts";
import { observe } from "./observe.ts";
import type { Delivery } from "./stage.ts";

/** What the phone gets of `response`. */
export async function deliver({ head, body }: ServerResponse, delivery: Delivery): Promise<ServerResponse> {
  if (body === null) return { head, body };
  const { request, dictionary } = delivery;
  const observed = observe({ head, body }, delivery);
  const kept = dictionary?.keep(observed) ?? observed;
  const referred = request.head.stored === undefined ? kept : await delivery.refer(kept, request.head);
  if (referred.body === null) return referred;
  const left = { head: referred.head, body: referred.body };
  const against = request.head.stored === undefined ? left : ((await dictionary?.code(left)) ?? left);
  return against.head.coding === "dcz" ? against : code(against, delivery);
}
