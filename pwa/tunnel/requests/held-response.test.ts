import { describe, expect, it } from "vitest";
import { ErrorCode, RopewayError } from "../../../shared/errors.ts";
import { ConsumerLog, responseHead } from "../../../shared/testing/exchange-rig.ts";
import { settle } from "../../../shared/testing/turns.ts";
import { FakePlatform } from "../testing/fake-platform.ts";
import { HeldResponse, HeldResponses } from "./held-response.ts";

const ORIGIN = "https://a.example";
const claimant = { origin: ORIGIN, topLevelOrigin: ORIGIN };
const URL_A = `${ORIGIN}/`;

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
});

describe("HeldResponses", () => {
  function rig() {
    const platform = new FakePlatform();
    return { platform, held: new HeldResponses((task, delay) => platform.setTimer(task, delay), 1000) };
  }

  it("gives a response once, to whom it is held for and for its URL", () => {
    const { held } = rig();
    const response = new HeldResponse();
    held.hold(claimant, URL_A, response);
    expect(held.claim(claimant, `${URL_A}other`)).toBeNull();
    expect(held.claim({ ...claimant, topLevelOrigin: "https://b.example" }, URL_A)).toBeNull();
    expect(held.claim({ ...claimant, origin: "https://b.example" }, URL_A)).toBeNull();
    expect(held.claim(claimant, URL_A)).toBe(response);
    expect(held.claim(claimant, URL_A)).toBeNull();
  });

  it("cancels what nobody claims in time, and what is replaced, but nothing that was claimed", async () => {
    const { platform, held } = rig();
    const cancelled: string[] = [];
    const named = (name: string): HeldResponse => {
      const response = new HeldResponse();
      response.setExchange({ cancel: () => cancelled.push(name) });
      return response;
    };
    held.hold(claimant, URL_A, named("replaced"));
    held.hold(claimant, URL_A, named("claimed"));
    held.claim(claimant, URL_A);
    const late = named("late");
    held.hold(claimant, URL_A, late);
    platform.pass(100_000);
    late.onHead(responseHead);
    await settle(1);
    platform.pass(999);
    expect(cancelled).toEqual(["replaced"]);
    platform.pass(1);
    expect(cancelled).toEqual(["replaced", "late"]);
    expect(held.claim(claimant, URL_A)).toBeNull();
  });
});
