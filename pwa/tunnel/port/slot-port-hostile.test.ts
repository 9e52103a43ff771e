import { describe, expect, it } from "vitest";
import { ErrorCode } from "../../../shared/errors.ts";
import type { ReferrerPolicy } from "../../../shared/http/heads.ts";
import { EdgeRequest } from "../../../shared/subprotocol.ts";
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

describe("SlotPort, to a hostile slot,", () => {
  const foreign = `${OTHER}/`;
  const refused: readonly [string, unknown][] = [
    ["a navigation to another origin", { ...navigation, url: foreign }],
    ["a navigation to the origin's other scheme", { ...navigation, url: "http://a.example/page" }],
    ["a mode that becomes a string when it is sent", { ...subresource, url: foreign, mode: ["navigate"] }],
    ["a destination that becomes a string when it is sent", { ...subresource, destination: ["document"] }],
    ["a URL that is none", { ...subresource, url: "nonsense" }],
    ["a URL in a list", { ...navigation, url: [foreign] }],
    ["a message to the edge", { ...subresource, method: "DELETE", url: EdgeRequest.SITE_DATA }],
    ["a cookie for the edge", { ...subresource, method: "PUT", url: EdgeRequest.SCRIPT_COOKIE }],
    ["a field that names another host", { ...navigation, headers: [[":authority", "b.example"]] }],
    ["a field that names another referrer", { ...subresource, headers: [[":referrer", foreign]] }],
    ["a field whose name is no string", { ...subresource, headers: [[[":authority"], "b.example"]] }],
    ["fields that are no list", { ...subresource, headers: "x" }],
  ];
  it.each(refused)("refuses %s", async (_, head) => {
    const slot = slotRig();
    expect(errorCodes(await slot.say({ type: "request", id: 1, head, body: null }))).toEqual([
      ErrorCode.PROTOCOL_ERROR,
    ]);
    expect(slot.requests).toEqual([]);
  });

  it("stamps a navigation from the binding", async () => {
    for (const binding of [TOP_LEVEL, FRAME]) {
      const slot = slotRig(binding);
      const lies = { origin: OTHER, topLevelOrigin: OTHER, referrer: `${OTHER}/from` };
      await slot.ask({ ...navigation, destination: "image", credentials: "omit", redirect: "follow", ...lies });
      expect(slot.first().head).toMatchObject({
        destination: binding.topLevel ? "document" : "iframe",
        credentials: "include",
        redirect: "same-origin",
        referrer: "",
        origin: binding.topLevelOrigin,
        topLevelOrigin: binding.topLevelOrigin,
      });
    }
  });

  it("takes only a GET without referrer for the person's own navigation", async () => {
    const cases = [
      [navigation, null],
      [{ ...navigation, method: "POST" }, ORIGIN],
      [{ ...navigation, referrer: URL_A }, ORIGIN],
    ] as const;
    for (const [head, origin] of cases) {
      const slot = slotRig();
      await slot.ask(head);
      expect(slot.first().head).toMatchObject({ origin, referrer: head.referrer });
    }
  });

  it("stamps other requests from the binding, and makes none a document", async () => {
    for (const destination of ["document", "iframe", "frame"] as const) {
      const slot = slotRig(FRAME);
      const lies = { origin: OTHER, topLevelOrigin: OTHER, referrer: `${OTHER}/from` };
      await slot.ask({ ...subresource, url: foreign, destination, ...lies });
      expect(slot.first().head).toMatchObject({
        destination: "",
        referrer: "",
        origin: FRAME.origin,
        topLevelOrigin: FRAME.topLevelOrigin,
      });
    }
  });

  it("passes on the wish for marks", async () => {
    const slot = slotRig();
    await slot.ask({ ...subresource, destination: "script", marksReads: true });
    expect(slot.first().head).toMatchObject({ marksReads: true });
  });

  it("passes on a referrer policy, but none that goes without saying, or is none", async () => {
    for (const [policy, passed] of [
      ["unsafe-url", "unsafe-url"],
      ["strict-origin-when-cross-origin", undefined],
      ["nonsense", undefined],
    ] as const) {
      const slot = slotRig();
      await slot.ask({ ...subresource, referrerPolicy: policy as ReferrerPolicy });
      expect(slot.first().head.referrerPolicy).toBe(passed);
    }
  });

  it("lets no page say what is the tunnel's to say", async () => {
    const own = {
      stored: { hash: "x".repeat(22), size: 1000 },
      known: new Set([1]),
      learned: "/api/items/1",
      images: { recoding: "strong" },
      pushes: 256,
      delivery: { id: "1", isRepeat: true, continuation: null },
    };
    for (const head of [subresource, navigation]) {
      const slot = slotRig();
      await slot.ask({ ...head, ...own });
      for (const name of Object.keys(own)) expect(slot.first().head).not.toHaveProperty(name);
    }
  });

  it("lets nothing of another origin be the referrer, whatever asks", async () => {
    for (const destination of ["font", "image", "style"] as const) {
      const slot = slotRig();
      await slot.ask({ ...subresource, destination, referrer: `${OTHER}/s.css` });
      expect(slot.first().head.referrer).toBe("");
    }
  });

  it("sets script cookies for its own origin's documents alone", async () => {
    const slot = slotRig(FRAME);
    const cookie = { type: "script-cookie", cookieString: "a=ü; path=/" };
    for (const documentUrl of [foreign, "nonsense", `${ORIGIN}.b.example/`, FRAME.topLevelOrigin]) {
      await slot.say({ ...cookie, documentUrl });
    }
    expect(slot.requests).toEqual([]);
    await slot.say({ ...cookie, documentUrl: URL_A });
    expect(slot.first().head).toMatchObject({
      url: EdgeRequest.SCRIPT_COOKIE,
      origin: ORIGIN,
      topLevelOrigin: FRAME.topLevelOrigin,
      headers: [
        ["document-url", URL_A],
        ["cookie-string", encodeURIComponent("a=ü; path=/")],
      ],
    });
  });

  it("ignores messages of exchanges that it does not know", async () => {
    const slot = slotRig();
    const unknown = ["body", "body-end", "credit", "cancel", "hold"].map((type) => ({ type, id: 7, bytes: 1 }));
    expect(typesOf(await slot.say(...unknown, { type: "ping" }))).toEqual(["pong"]);
  });
});
