import { describe, expect, it } from "vitest";
import { ErrorCode } from "../../shared/errors.ts";
import type { ServerRequest, ServerResponse } from "../../shared/http/exchange.ts";
import { responseHead } from "../../shared/testing/http/exchange-rig.ts";
import { requestHead } from "../../shared/testing/http/request-heads.ts";
import { UnsentResponse } from "./push-order.ts";

const RESPONSE: ServerResponse = { head: responseHead, body: null };

/** A push whose turn and whose origin's answer come when the test says so. */
function offer() {
  const push = new AbortController();
  const origin = Promise.withResolvers<ServerResponse>();
  const turn = Promise.withResolvers<void>();
  const asked: ServerRequest[] = [];
  let settled = 0;
  const unsent = new UnsentResponse(
    { head: requestHead, body: null, signal: push.signal },
    (request) => {
      asked.push(request);
      return origin.promise;
    },
    () => {
      settled += 1;
    },
  );
  const sent = unsent.inTurn(turn.promise);
  sent.catch(() => {});
  return { push, origin, turn, asked, unsent, sent, settled: () => settled };
}

describe("the response to a push", () => {
  it("is sent by the push in its turn, and by nobody else then", async () => {
    const { origin, turn, asked, unsent, sent, settled } = offer();
    origin.resolve(RESPONSE);
    turn.resolve();
    expect(await sent).toBe(RESPONSE);
    expect(unsent.take(new AbortController().signal)).toBeNull();
    expect([asked.length, settled()]).toEqual([1, 1]);
  });

  it.each(["before", "after"])(
    "goes to a request that comes %s the origin's answer; the push is refused",
    async (when) => {
      const { push, origin, turn, asked, unsent, sent, settled } = offer();
      if (when === "after") origin.resolve(RESPONSE);
      await Promise.resolve();
      const taken = unsent.take(new AbortController().signal);
      await expect(sent).rejects.toMatchObject({ code: ErrorCode.REFUSED_STREAM, scope: "stream" });
      origin.resolve(RESPONSE);
      turn.resolve();
      // The phone resets a push that it has no use for.
      push.abort();
      expect(await taken).toBe(RESPONSE);
      expect([asked.length, settled(), asked[0]?.signal.aborted]).toEqual([1, 1, false]);
    },
  );

  it("is taken once", () => {
    const { unsent } = offer();
    expect(unsent.take(new AbortController().signal)).not.toBeNull();
    expect(unsent.take(new AbortController().signal)).toBeNull();
  });

  it("is not taken once the page has claimed the push, nor once that was given up", () => {
    const claimed = offer();
    claimed.unsent.settle();
    expect([claimed.unsent.take(new AbortController().signal), claimed.asked[0]?.signal.aborted]).toEqual([
      null,
      false,
    ]);
    const reset = offer();
    reset.push.abort();
    expect([reset.unsent.take(new AbortController().signal), reset.asked[0]?.signal.aborted]).toEqual([null, true]);
  });

  it("is given up with the request that has taken it", () => {
    const { unsent, asked } = offer();
    const request = new AbortController();
    void unsent.take(request.signal);
    request.abort();
    expect(asked[0]?.signal.aborted).toBe(true);
    const late = offer();
    void late.unsent.take(AbortSignal.abort());
    expect(late.asked[0]?.signal.aborted).toBe(true);
  });
});
