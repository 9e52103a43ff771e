/**
 * The way of a response through the edge. It comes from `upstream` with its body decoded and the head that is true of
 * that, and passes each stage in turn. A stage that has nothing to do with it gives it back as it is.
 */
import type { ServerResponse } from "../../shared/http/exchange.ts";
import type { UpstreamResponse } from "../upstream/upstream.ts";
import { code } from "./coding.ts";
import { describe } from "./document-stage.ts";
import type { Delivery, Passed, Stage } from "./stage.ts";

/** Shows the body to who observes it, as it passes. */
const observe: Stage = (response, { observer }) => {
  const onChunk = observer?.(response.head) ?? null;
  return onChunk === null ? response : { ...response, body: shownTo(onChunk, response.body) };
};

/** A picture goes smaller, or a placeholder in its place, where the phone wishes that. */
const changeImage: Stage = async (response, { images }) => {
  const changed = (await images?.(response)) ?? response;
  if (changed === response) return response;
  response.coded?.drop();
  return { ...response, ...changed, coded: null };
};

/** Scripts read the real site where the phone has pages that can tell it. */
const markReads: Stage = async (response, { names }) => {
  const changed = (await names?.(response)) ?? response;
  if (changed.body === response.body) return response;
  // Read to its end, though perhaps unchanged.
  if (changed.head !== response.head) response.coded?.drop();
  return changed.head === response.head
    ? { ...response, body: changed.body }
    : { ...response, ...changed, coded: null };
};

/** A body that may be a dictionary later is copied as it passes. */
const keep: Stage = (response, { dictionary }) => ({ ...response, ...dictionary?.keep(response) });

/** A body that the phone has stored goes as a name. */
const refer: Stage = async (response, { request, refer }) =>
  request.head.stored === undefined ? response : { ...response, ...(await refer(response, request.head)) };

/** Text goes as what differs from what the phone has stored. */
const codeAgainst: Stage = async (response, { request, dictionary }) =>
  request.head.stored === undefined ? response : { ...response, ...(await dictionary?.code(response)) };

const STAGES: readonly Stage[] = [describe, observe, changeImage, markReads, keep, refer, codeAgainst, code];

/** Leads a response through all stages. @returns the response as the phone gets it. */
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

function shownTo(
  onChunk: (chunk: Uint8Array | null) => void,
  source: ReadableStream<Uint8Array>,
): ReadableStream<Uint8Array> {
  const reader = source.getReader();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { value, done } = await reader.read().catch((reason: unknown) => {
          onChunk(null);
          throw reason;
        });
        onChunk(value ?? null);
        if (done) return controller.close();
        controller.enqueue(value);
      },
      cancel(reason) {
        onChunk(null);
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
