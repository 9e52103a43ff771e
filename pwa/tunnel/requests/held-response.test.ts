import { describe, expect, it } from "vitest";
import { ErrorCode, RopewayError } from "../../../shared/errors.ts";
import { ConsumerLog, responseHead } from "../../../shared/testing/http/exchange-rig.ts";
import { settle } from "../../../shared/testing/turns.ts";
import { HeldResponse } from "./held-responses.ts";

describe("HeldResponse", () => {
  it("hands over what came before and what comes after, and lets the edge go on then", async () => {
    const response = new HeldResponse();
    response.onHead(responseHead);
    const first = response.onBody(Uint8Array.of(97));
    const log = new ConsumerLog();
    response.attach(log);
    await expect(first).resolves.toBeUndefined();
    expect(response.onBody(Uint8Array.of(98))).toBeUndefined();
    response.onEnd();
    expect([log.text, log.events, await response.settled]).toEqual(["ab", ["head", "end"], responseHead]);
  });

  it("tells of a failure before and after it was asked for", async () => {
    const error = new RopewayError(ErrorCode.UPSTREAM_FAILED, "stream", "origin", "Cannot load: test");
    const response = new HeldResponse();
    response.onError(error);
    const log = new ConsumerLog();
    response.attach(log);
    expect([log.error, await response.settled]).toEqual([error, error]);
  });

  it("cancels its exchange, also one that it is given later, and keeps no chunk waiting", async () => {
    let cancelled = 0;
    const response = new HeldResponse();
    const waits = response.onBody(new Uint8Array(1));
    response.cancel();
    await expect(waits).resolves.toBeUndefined();
    response.setExchange({ cancel: () => (cancelled += 1) });
    response.cancel();
    expect(cancelled).toBe(2);
  });

  it("hands on what there is credit for and the chunk that exceeds it, which waits for more, or for the end", async () => {
    for (const finish of ["grant", "end", "fail", "cancel"] as const) {
      const response = new HeldResponse();
      const log = new ConsumerLog();
      const early = response.onBody(new Uint8Array(2));
      response.attach(log, 3);
      await early;
      let isTaken = false;
      const waiting = response.onBody(new Uint8Array(2))?.then(() => {
        isTaken = true;
      });
      await settle(1);
      expect([log.bytes, isTaken]).toEqual([4, false]);
      response.grant(1);
      await settle(1);
      expect(isTaken).toBe(false);
      if (finish === "grant") response.grant(1);
      else if (finish === "end") response.onEnd();
      else if (finish === "fail") response.onError(new RopewayError(ErrorCode.CANCEL, "stream", "origin", "x"));
      else response.cancel();
      await waiting;
      expect(isTaken).toBe(true);
    }
  });
});
