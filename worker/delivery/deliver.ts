/**
 * The way of a response through the edge. It comes from `upstream` with its body decoded and the head that is true of
 * that, and passes each stage in turn. A stage that has nothing to do with it gives it back as it is.
 */
import type { ServerResponse } from "../../shared/http/exchange.ts";
import type { UpstreamResponse } from "../upstream/upstream.ts";
import { code } from "./coding/code.ts";
import { observe } from "./observe.ts";
import type { Delivery, Passed, Stage } from "./stage.ts";

/** A picture goes smaller, or a placeholder in its place, where the phone wishes that (images/). */
const changeImage: Stage = async (response, { images }) => {
  const changed = (await images?.(response)) ?? response;
  if (changed === response) return response;
  response.coded?.drop();
  return { ...response, ...changed, coded: null };
};

/** What may be a dictionary later is copied as it passes (dictionary/). */
const keep: Stage = (response, { dictionary }) => ({ ...response, ...dictionary?.keep(response) });

/** What the phone has stored goes as a name (reference/). */
const refer: Stage = async (response, { request, refer }) =>
  request.head.stored === undefined ? response : { ...response, ...(await refer(response, request.head)) };

/** Text goes as what differs from what the phone has stored (dictionary/). */
const codeAgainst: Stage = async (response, { request, dictionary }) =>
  request.head.stored === undefined ? response : { ...response, ...(await dictionary?.code(response)) };

const STAGES: readonly Stage[] = [observe, changeImage, keep, refer, codeAgainst, code];

/** What the phone gets of `response`. */
export async function deliver(response: UpstreamResponse, delivery: Delivery): Promise<ServerResponse> {
  const { coded = null, cameCoded = false } = response;
  const mayPassOn = delivery.takesBrotli === true;
  if (!mayPassOn) coded?.drop();
  let passed: Passed = { ...response, coded: mayPassOn ? coded : null, cameCoded };
  for (const stage of STAGES) {
    const { body } = passed;
    if (body !== null) passed = await stage({ ...passed, body }, delivery);
  }
  passed.coded?.drop();
  return { head: passed.head, body: passed.body };
}
