/**
 * The way of a response through the edge. It comes from `upstream` with its body decoded and the head that is true of
 * that, and passes each stage in turn. A stage that has nothing to do with it gives it back as it is.
 *
 *   observe     who wants to know what a body says reads along: pushes (push/)
 *   (transform) what changes bodies, and their heads with them, stands here
 *   code        packs the body for the link, by the table of coding/code.ts
 */
import type { ServerResponse } from "../../shared/http/server-exchange.ts";
import { code } from "./coding/code.ts";
import { observe } from "./observe.ts";
import type { DecodedResponse, Delivery, Stage } from "./stage.ts";

const STAGES: readonly Stage[] = [observe, code];

/** What the phone gets of `response`. */
export function deliver({ head, body }: ServerResponse, delivery: Delivery): ServerResponse {
  if (body === null) return { head, body };
  return STAGES.reduce<DecodedResponse>((response, stage) => stage(response, delivery), { head, body });
}
