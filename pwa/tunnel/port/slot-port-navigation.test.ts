import { describe, expect, it } from "vitest";
import { ErrorCode, RopewayError } from "../../../shared/errors.ts";
import type { RequestHead } from "../../../shared/http/heads.ts";
import { ConsumerLog, responseHead } from "../../../shared/testing/http/exchange-rig.ts";
import { settle } from "../../../shared/testing/turns.ts";
import type { PortRequestHead, PortToTunnel, SlotBinding } from "../../messages/port-messages.ts";
import type { Ask } from "../exchange/exchange.ts";
import { HeldResponse, heldNavigations, holdNavigation } from "../requests/held-responses.ts";
import {
  errorCodes,
  FRAME,
  navigation,
  ORIGIN,
  OTHER,
  slotRig,
  subresource,
  TOP_LEVEL,
  typesOf,
  URL_A,
} from "./testing/slot-rig.ts";

describe("SlotPort's navigations", () => {
  it.each([
    ["asks for it as a navigation", navigation],
    ["asks for it as a script's fetch", subresource],
  ])("hands a navigation that moved over to the other origin when the slot %s", async (_, head) => {
    const slot = slotRig();
    const response = new HeldResponse("", 7);
    holdNavigation(slot.held, ORIGIN, URL_A, response);
    await slot.ask(head);
    response.onHead({ ...responseHead, url: `${OTHER}/moved`, redirected: true, fragment: "#part" });
    void response.onBody(new Uint8Array(10));
    const heard = await slot.heard();
    expect(typesOf(heard)).toEqual(["error"]);
    expect(errorCodes(heard)).toEqual([ErrorCode.CANCEL]);
    expect(slot.moved).toEqual([`7 ${OTHER}/moved#part`]);
    expect(typesOf(await slot.say({ type: "credit", id: 1, bytes: 1 }))).toEqual([]);
    const claim = (topLevelOrigin: string) => {
      const moved: RequestHead = { ...navigation, url: `${OTHER}/moved`, origin: null, topLevelOrigin };
      const log = new ConsumerLog();
      const next: Ask = () => ({ cancel() {} });
      const { held } = heldNavigations(slot.held)({ head: moved, body: null, push: null }, log, next);
      return { isHeld: held !== undefined, log };
    };
    expect(claim(ORIGIN).isHeld).toBe(false);
    const { isHeld, log } = claim(OTHER);
    await settle();
    expect([isHeld, log.head?.url, log.bytes]).toEqual([true, `${OTHER}/moved`, 10]);
  });

  it("gives two windows that go to one page a response each", async () => {
    const slot = slotRig();
    const [one, other] = [7, 8].map((id) => new HeldResponse("", id));
    for (const response of [one, other]) holdNavigation(slot.held, ORIGIN, URL_A, response as HeldResponse);
    await slot.ask(navigation, 1);
    await slot.ask(navigation, 2);
    expect(slot.requests).toEqual([]);
    for (const response of [one, other]) response?.onHead({ ...responseHead, url: URL_A });
    const heard = await slot.heard();
    expect(heard.map((message) => [message.type, "id" in message && message.id])).toEqual([
      ["response", 1],
      ["response", 2],
    ]);
  });

  it("gives a page what the edge notes of its document, and nothing else that is for the phone", async () => {
    const slot = slotRig();
    const response = new HeldResponse("", 7);
    holdNavigation(slot.held, ORIGIN, URL_A, response);
    await slot.ask(navigation, 1);
    const notes = ["ropeway-document", "ropeway-suffix", "ropeway-age", "x-own"].map((name) => [name, "2"] as const);
    response.onHead({ ...responseHead, url: URL_A, headers: notes });
    const [told] = await slot.heard();
    expect(told).toMatchObject({ head: { headers: [notes[0], notes[1], notes[3]] } });
  });

  it("says which navigation of the shell's a file has answered, and not of an answer without content", async () => {
    const slot = slotRig();
    for (const [id, status] of [
      [7, 200],
      [8, 204],
    ] as const) {
      const response = new HeldResponse("", id);
      holdNavigation(slot.held, ORIGIN, URL_A, response);
      await slot.ask(navigation, id);
      response.onHead({ ...responseHead, url: URL_A, status });
      await slot.say({ type: "no-document", url: URL_A });
      await slot.say({ type: "cancel", id });
    }
    const ended = { origin: ORIGIN, url: URL_A };
    expect(slot.noDocuments).toEqual([{ ...ended, id: 7 }, ended]);
  });

  it("takes no window's response away where another window is sent there again", async () => {
    const slot = slotRig();
    for (const id of [7, 8]) {
      holdNavigation(slot.held, ORIGIN, URL_A, new HeldResponse("", id));
      await slot.ask(navigation, id);
    }
    expect(typesOf(await slot.ask(navigation, 9))).toEqual([]);
    expect(slot.requests).toHaveLength(1);
  });

  it("gives the newest where the one before was abandoned", async () => {
    const slot = slotRig();
    const [former, newest] = [new HeldResponse("", 7), new HeldResponse("", 8)];
    holdNavigation(slot.held, ORIGIN, URL_A, former);
    former.cancel();
    holdNavigation(slot.held, ORIGIN, URL_A, newest);
    await slot.ask(navigation);
    newest.onHead({ ...responseHead, url: URL_A });
    expect(typesOf(await slot.heard())).toEqual(["response"]);
  });

  it("loads a page again as whoever led to it at first did, until it is the person's own", async () => {
    const slot = slotRig();
    const start = {
      ...navigation,
      origin: OTHER,
      referrer: `${OTHER}/`,
      isUnasked: true,
      topLevelOrigin: ORIGIN,
    } as const;
    const asked = async (id: number) => {
      await slot.ask(navigation, id);
      const { origin, referrer, isUnasked } = slot.requests.at(-1)?.head ?? {};
      return { origin, referrer, isUnasked };
    };
    slot.pageStarts.note(start, URL_A);
    expect(await asked(1)).toEqual({ origin: OTHER, referrer: `${OTHER}/`, isUnasked: true });
    slot.pageStarts.note({ ...start, origin: null }, URL_A);
    expect(await asked(2)).toEqual({ origin: null, referrer: "", isUnasked: undefined });
    slot.pageStarts.note(start, URL_A);
    slot.pageStarts.forget(URL_A);
    expect((await asked(3)).origin).toBeNull();
    // A site that a redirect leads to learns the origin alone.
    slot.pageStarts.note({ ...start, referrer: `${OTHER}/results?q=secret` }, URL_A, true);
    expect(await asked(6)).toMatchObject({ origin: OTHER, referrer: `${OTHER}/` });
    // A form of the site's own leads back there.
    slot.pageStarts.note(start, URL_A);
    await slot.ask({ ...navigation, url: `${ORIGIN}/login`, referrer: URL_A }, 4);
    slot.requests.at(-1)?.consumer.onHead({ ...responseHead, url: URL_A, redirected: true });
    await slot.heard();
    expect((await asked(5)).origin).toBeNull();
  });

  describe("whose document does not come", () => {
    const reset = new RopewayError(ErrorCode.CONNECTION_RESET, "stream", "origin", "Cannot load: reset");

    it("cancels the navigation where a page stays, and says so where the page itself went there", async () => {
      for (const isShells of [true, false]) {
        const slot = slotRig();
        slot.keptFrom.add(URL_A);
        const response = new HeldResponse("", 7);
        if (isShells) holdNavigation(slot.held, ORIGIN, URL_A, response);
        await slot.ask(navigation);
        (isShells ? response : slot.first().consumer).onError(reset);
        expect(errorCodes(await slot.heard())).toEqual([ErrorCode.CANCEL]);
        const failure = {
          type: "document",
          kind: "failed",
          url: URL_A,
          method: "GET",
          code: reset.code,
          message: reset.message,
        };
        expect(slot.failedDocuments).toEqual(isShells ? [] : [failure]);
      }
    });

    it.each<[string, SlotBinding, PortRequestHead]>([
      ["where no page stays", TOP_LEVEL, { ...navigation, url: `${ORIGIN}/other` }],
      ["in a frame", FRAME, navigation],
      ["of a script's request", TOP_LEVEL, subresource],
    ])("is told why %s", async (_, binding, head) => {
      const slot = slotRig(binding);
      slot.keptFrom.add(URL_A);
      await slot.ask(head);
      slot.first().consumer.onError(reset);
      expect(errorCodes(await slot.heard())).toEqual([reset.code]);
      expect(slot.failedDocuments).toEqual([]);
    });
  });

  it("keeps a navigation that moved from a slot that uses one id twice", async () => {
    const slot = slotRig();
    const response = new HeldResponse("");
    holdNavigation(slot.held, ORIGIN, URL_A, response);
    await slot.ask({ ...subresource, url: `${ORIGIN}/other` });
    await slot.ask(navigation);
    response.onHead({ ...responseHead, url: `${OTHER}/moved`, redirected: true });
    slot.first().consumer.onHead({ ...responseHead, url: `${ORIGIN}/other` });
    const heads = (await slot.heard()).flatMap((message) => (message.type === "response" ? [message.head.url] : []));
    expect(heads).toEqual([`${ORIGIN}/other`]);
  });

  it("keeps a navigation that moved from a slot that holds it before its head, and claims it as its own", async () => {
    const slot = slotRig();
    const response = new HeldResponse("");
    holdNavigation(slot.held, ORIGIN, URL_A, response);
    await slot.say(
      { type: "request", id: 1, head: navigation, body: null },
      { type: "hold", id: 1 },
      { type: "request", id: 2, head: subresource, body: null },
    );
    response.onHead({ ...responseHead, url: `${OTHER}/moved`, redirected: true });
    expect(typesOf(await slot.heard())).toEqual([]);
    expect(slot.requests).toHaveLength(1);
  });

  it("gives the response of a navigation to the next one there, which the frame was sent out for again", async () => {
    const slot = slotRig();
    const response = new HeldResponse();
    holdNavigation(slot.held, ORIGIN, URL_A, response);
    await slot.ask(navigation, 1);
    expect(errorCodes(await slot.ask(navigation, 2))).toEqual([ErrorCode.CANCEL]);
    response.onHead({ ...responseHead, url: URL_A });
    const heads = (await slot.heard()).filter(({ type }) => type === "response");
    expect(heads).toMatchObject([{ id: 2 }]);
    expect(slot.requests).toEqual([]);
  });

  it("gives the next navigation the response of a later one, not that of one that the shell has abandoned", async () => {
    const slot = slotRig();
    const [abandoned, later] = [new HeldResponse(), new HeldResponse()];
    holdNavigation(slot.held, ORIGIN, URL_A, abandoned);
    await slot.ask(navigation, 1);
    abandoned.cancel();
    holdNavigation(slot.held, ORIGIN, URL_A, later);
    expect(errorCodes(await slot.ask(navigation, 2))).toEqual([ErrorCode.CANCEL]);
    later.onHead({ ...responseHead, url: URL_A });
    expect((await slot.heard()).filter(({ type }) => type === "response")).toMatchObject([{ id: 2 }]);
    expect(slot.requests).toEqual([]);
  });

  it("leaves a navigation the response that it reads, or that it asked for itself", async () => {
    const slot = slotRig();
    const response = new HeldResponse();
    holdNavigation(slot.held, ORIGIN, URL_A, response);
    await slot.ask(navigation, 1);
    response.onHead({ ...responseHead, url: URL_A });
    await slot.say({ type: "credit", id: 1, bytes: 10 } satisfies PortToTunnel);
    await slot.ask(navigation, 2);
    await slot.ask(navigation, 3);
    expect(slot.requests).toHaveLength(2);
  });

  it("lets only the same origin below the same page claim, and only by GET", async () => {
    const cases = [
      [TOP_LEVEL, navigation, true],
      [FRAME, navigation, false],
      [{ ...TOP_LEVEL, origin: OTHER, topLevelOrigin: OTHER }, subresource, false],
      [TOP_LEVEL, { ...navigation, method: "POST" }, false],
    ] as const;
    for (const [binding, head, mayClaim] of cases) {
      const slot = slotRig(binding);
      holdNavigation(slot.held, ORIGIN, URL_A, new HeldResponse(""));
      await slot.ask(head);
      expect(slot.requests).toHaveLength(mayClaim ? 0 : 1);
    }
  });
});
