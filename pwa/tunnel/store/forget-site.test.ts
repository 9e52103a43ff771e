import { expect, it } from "vitest";
import { ErrorCode, RopewayError } from "../../../shared/errors.ts";
import type { RequestHead } from "../../../shared/http/heads.ts";
import type { Ask } from "../exchange/exchange.ts";
import { forgetSite } from "./questions.ts";

const APP = "https://ropeway.example";

/** An edge that answers with a status, or fails. */
function edge(outcome: number | RopewayError) {
  const asked: RequestHead[] = [];
  const ask: Ask = ({ head }, consumer) => {
    asked.push(head);
    queueMicrotask(() => {
      if (typeof outcome !== "number") return consumer.onError(outcome);
      const { url } = head;
      consumer.onHead({ status: outcome, headers: [], url, redirected: false, coding: "identity", scriptCookies: [] });
      consumer.onEnd();
    });
    return { cancel() {} };
  };
  return { ask, asked };
}

it("asks the edge by the host's name, for the person", async () => {
  const { ask, asked } = edge(204);
  expect(await forgetSite(ask, "a.example", APP)).toBe("");
  expect(asked).toMatchObject([
    { method: "DELETE", url: "ropeway:///site", origin: null, headers: [["host-name", "a.example"]] },
  ]);
});

it("says what an edge of before cannot do", async () => {
  const { ask } = edge(new RopewayError(ErrorCode.PROTOCOL_ERROR, "stream", "peer", "Cannot answer DELETE"));
  expect(await forgetSite(ask, "a.example", APP)).toMatch(/^Cannot forget the cookies of a\.example: .* older release/);
});

it("says why something is still there", async () => {
  expect(await forgetSite(edge(500).ask, "a.example", APP)).toBe(
    "Cannot forget a.example: some of it is still there: your edge answers 500",
  );
  const lost = new RopewayError(ErrorCode.LINK_LOST, "session", "library", "the link is gone");
  expect(await forgetSite(edge(lost).ask, "a.example", APP)).toBe(
    "Cannot forget all of a.example: some of it is still there. Try again when the link is back",
  );
});
