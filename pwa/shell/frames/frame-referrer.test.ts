import { describe, expect, it } from "vitest";
import { MESSAGE_TAG } from "../../messages/page-messages.ts";
import { FrameReferrers } from "./slot-services.ts";

const A = "https://a.example";
const B = "https://b.example";
const frame = {} as Window;

function slot(label: string, origin: string) {
  return { label, origin, topLevelOrigin: A, topLevel: origin === A };
}

function wanted(given: { referrer?: string; movedFrom?: string } = {}) {
  return { tag: MESSAGE_TAG, type: "frame-wanted", url: "", referrer: "", movedFrom: null, ...given } as const;
}

describe("FrameReferrers", () => {
  it.each([
    [`${A}/`, `${A}/`],
    [`${A}/page?q=1`, `${A}/page?q=1`],
    ["", ""],
    ["https://bank.example/", ""],
    [B, ""],
  ])("believes a page what is of its own origin: %j", (referrer, expected) => {
    const start = new FrameReferrers().start(frame, wanted({ referrer }), slot("sa", A), `${B}/x`, "sb");
    expect(start).toEqual({ referrer: expected, initiator: A });
  });

  it("goes on where a page of the version before says nothing", () => {
    const message = { tag: MESSAGE_TAG, type: "frame-wanted", url: "" } as ReturnType<typeof wanted>;
    expect(new FrameReferrers().start(frame, message, slot("sa", A), `${B}/x`, "sb")).toEqual({
      referrer: "",
      initiator: A,
    });
  });

  function redirected(url: string, movedFrom: string, second: Window = frame) {
    const referrers = new FrameReferrers();
    referrers.start(frame, wanted({ referrer: `${A}/page` }), slot("sa", A), `${B}/x`, "sb");
    return referrers.start(second, wanted({ referrer: `${B}/`, movedFrom }), slot("sb", B), url, "sc");
  }

  it("goes on in the name of who sent the frame where that is redirected", () => {
    expect(redirected("https://c.example/", `${B}/x`)).toEqual({ referrer: `${A}/`, initiator: A });
    expect(redirected("http://c.example/", `${B}/x`)).toEqual({ referrer: "", initiator: A });
  });

  it("does not where another URL moved, in another frame, or towards the site of who sent it", () => {
    const plain = { referrer: "", initiator: B };
    expect(redirected("https://c.example/", `${B}/y`)).toEqual(plain);
    expect(redirected("https://c.example/", `${B}/x`, {} as Window)).toEqual(plain);
    expect(redirected("https://www.a.example/act", `${B}/x`)).toEqual(plain);
  });
});
