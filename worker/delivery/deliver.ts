/**
 * The way of a response through the edge. It comes from `upstream` with its body decoded and the head that is true of
 * that, and passes each stage in turn. A stage that has nothing to do with it gives it back as it is.
 *
 *   observe     who wants to know what a body says reads along: pushes (push/)
 *   images      pictures go smaller, or a placeholder in their place, where the phone wishes that (images/)
 *   keep        what may be a dictionary later is copied as it passes (dictionary/)
 *   refer       what the phone has stored goes as a name (reference/)
 *   code        packs the body for the link: against what the phone has stored (dictionary/), as its origin did, or by the
 *               table of coding/code.ts
 */
import type { ServerResponse } from "../../shared/http/server-exchange.ts";
import type { CodedBody } from "../upstream/body/coded-body.ts";
import type { UpstreamResponse } from "../upstream/upstream-response.ts";
import { code } from "./coding/code.ts";
import { passedOn } from "./coding/passed-on.ts";
import { observe } from "./observe.ts";
import type { DecodedResponse, Delivery } from "./stage.ts";

/** What the phone gets of `response`. */
export async function deliver(
  { head, body, coded = null, cameCoded = false }: UpstreamResponse,
  delivery: Delivery,
): Promise<ServerResponse> {
  if (body === null) return { head, body };
  const { request, dictionary, images } = delivery;
  const observed = observe({ head, body }, delivery);
  const changed = (await images?.(observed)) ?? observed;
  const asCoded = changed === observed && delivery.takesBrotli === true ? coded : null;
  if (asCoded === null) coded?.drop();
  const kept = dictionary?.keep(changed) ?? changed;
  const referred = request.head.stored === undefined ? kept : await delivery.refer(kept, request.head);
  if (referred.body === null) {
    asCoded?.drop();
    return referred;
  }
  const left = { head: referred.head, body: referred.body };
  const against = request.head.stored === undefined ? left : ((await dictionary?.code(left)) ?? left);
  return packed(against, { coded: asCoded, cameCoded }, delivery);
}

async function packed(
  response: DecodedResponse,
  { coded, cameCoded }: { readonly coded: CodedBody | null; readonly cameCoded: boolean },
  delivery: Delivery,
): Promise<DecodedResponse> {
  const isPacked = response.head.coding === "dcz";
  if (!isPacked && coded !== null && (await coded.fits())) return passedOn(response, coded);
  coded?.drop();
  return isPacked ? response : code(response, delivery, cameCoded);
}
