import { expect, it } from "vitest";
import type { RequestHead } from "../../../shared/http/heads.ts";
import { ConsumerLog, responseHead } from "../../../shared/testing/http/exchange-rig.ts";
import { requestHead } from "../../../shared/testing/http/request-heads.ts";
import { settle } from "../../../shared/testing/turns.ts";
import { HELD_RESPONSE_TIME } from "../../messages/port-messages.ts";
import { FakePlatform } from "../testing/fake-platform.ts";
import { HeldResponse, HeldResponses, heldNavigations, holdNavigation, remindOf } from "./held-responses.ts";

const ORIGIN = "https://a.example";
const OTHER = "https://b.example";
const URL_A = `${ORIGIN}/`;
const navigation: RequestHead = { ...requestHead, url: URL_A, mode: "navigate", origin: null };

function rig() {
  const platform = new FakePlatform();
  const held = new HeldResponses(platform, HELD_RESPONSE_TIME);
  const cancelled: string[] = [];
  return {
    platform,
    held,
    cancelled,
    named(name: string): HeldResponse {
      const response = new HeldResponse(name);
      response.setExchange({ cancel: () => cancelled.push(name) });
      return response;
    },
    /** The referrer of what is held for it; undefined where the next source is asked. */
    claim(head: Partial<RequestHead> = {}, form: string | undefined = ""): string | null | undefined {
      const request = { head: { ...navigation, ...head }, body: null, push: null, form };
      return heldNavigations(held)(request, new ConsumerLog(), () => ({ cancel() {} })).held?.referrer;
    },
  };
}

it("gives a response once, to whom it is held for and for its URL", () => {
  const { held, claim, named } = rig();
  holdNavigation(held, ORIGIN, URL_A, named("one"));
  expect(claim({ url: `${URL_A}other` })).toBeUndefined();
  expect(claim({ topLevelOrigin: OTHER })).toBeUndefined();
  expect(claim({ mode: "cors", origin: OTHER })).toBeUndefined();
  expect(claim({ method: "POST" })).toBeUndefined();
  expect(claim({ mode: "no-cors", origin: ORIGIN, destination: "image" })).toBe("one");
  expect(claim()).toBeUndefined();
});

it("tells whoever claims it all of it, but not before it is answered, and nothing once it was given up", async () => {
  const { held, named, cancelled } = rig();
  for (const isGivenUp of [false, true]) {
    const response = named("one");
    holdNavigation(held, ORIGIN, URL_A, response);
    response.onHead(responseHead);
    const log = new ConsumerLog();
    const answer = heldNavigations(held)({ head: navigation, body: null, push: null }, log, () => ({ cancel() {} }));
    expect(log.events).toEqual([]);
    if (isGivenUp) answer.cancel();
    await settle(1);
    expect([log.events, cancelled]).toEqual(isGivenUp ? [[], ["one"]] : [["head"], []]);
  }
});

it("gives each of several windows its own response, that first which has waited longest", () => {
  const { held, cancelled, claim, named } = rig();
  for (const window of ["1", "2"]) holdNavigation(held, ORIGIN, URL_A, named(window));
  expect(claim()).toBe("1");
  holdNavigation(held, ORIGIN, URL_A, named("3"));
  expect([claim(), claim(), claim()]).toEqual(["2", "3", undefined]);
  expect(cancelled).toEqual([]);
});

it("cancels what nobody claims in time, but nothing that was claimed", async () => {
  const { platform, held, cancelled, claim, named } = rig();
  holdNavigation(held, ORIGIN, URL_A, named("claimed"));
  claim();
  const late = named("late");
  holdNavigation(held, ORIGIN, URL_A, late);
  platform.pass(100 * HELD_RESPONSE_TIME);
  late.onHead(responseHead);
  await settle(1);
  platform.pass(HELD_RESPONSE_TIME - 1);
  expect(cancelled).toEqual([]);
  platform.pass(1);
  expect(cancelled).toEqual(["late"]);
  expect(claim()).toBeUndefined();
});

it("takes no form for another whose name begins like its own", () => {
  const { held, claim, named } = rig();
  for (const form of [" ", '" ']) holdNavigation(held, ORIGIN, URL_A, named(form), form);
  expect([claim({}, ""), claim({}, '"'), claim({}, '" '), claim({}, " ")]).toEqual([undefined, null, '" ', " "]);
});

it("gives each of several frames the answer to its own form, and nothing in place of one that is gone", async () => {
  const { held, claim, named } = rig();
  for (const form of ["1", "2"]) holdNavigation(held, ORIGIN, URL_A, named(form), form);
  expect(claim()).toBeUndefined();
  expect(claim({ mode: "no-cors", origin: ORIGIN, destination: "image" }, "")).toBeUndefined();
  expect([claim({}, "2"), claim({}, "1")]).toEqual(["2", "1"]);

  const log = new ConsumerLog();
  const request = { head: navigation, body: null, push: null, form: "1" };
  const asked: unknown[] = [];
  heldNavigations(held)(request, log, () => ({ cancel: () => asked.push("asked") }));
  await settle(1);
  expect([log.events, asked]).toEqual([["error"], []]);
});

it("gives the answer to a form to a slot worker of before, which does not say that it comes for that", () => {
  const { held, named } = rig();
  holdNavigation(held, ORIGIN, URL_A, named("one"), "1");
  const ask = (head: RequestHead) =>
    heldNavigations(held)({ head, body: null, push: null }, new ConsumerLog(), () => ({ cancel() {} })).held?.referrer;
  expect(ask({ ...navigation, mode: "no-cors", origin: ORIGIN })).toBeUndefined();
  expect(ask(navigation)).toBe("one");
});

it("is told of three times, with longer pauses, for as long as nobody has come for it", () => {
  for (const [comesAfter, times] of [
    [1_000, 0],
    [5_000, 1],
    [25_000, 3],
  ] as const) {
    const { platform, held, claim, named } = rig();
    const response = named("one");
    let told = 0;
    holdNavigation(held, ORIGIN, URL_A, response);
    remindOf(held, response, platform, () => {
      told += 1;
    });
    platform.pass(comesAfter);
    claim();
    platform.pass(HELD_RESPONSE_TIME);
    expect([comesAfter, told]).toEqual([comesAfter, times]);
  }
});
