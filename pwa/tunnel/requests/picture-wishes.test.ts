import { describe, expect, it } from "vitest";
import type { SetTimer } from "../../../shared/clock.ts";
import { ErrorCode, RopewayError } from "../../../shared/errors.ts";
import type { ResponseConsumer } from "../../../shared/http/exchange.ts";
import type { RequestHead, ResponseHead } from "../../../shared/http/heads.ts";
import { imageNoteField, ORIGINAL } from "../../../shared/http/phone-fields.ts";
import { requestHead } from "../../../shared/testing/http/request-heads.ts";
import type { PictureSettings } from "../../messages/tunnel-messages.ts";
import { type Answer, seenBy } from "../exchange/exchange.ts";
import { Wishes } from "./wishes.ts";

const SITE = "https://site.example";
const picture: RequestHead = {
  ...requestHead,
  destination: "image",
  mode: "no-cors",
  origin: SITE,
  topLevelOrigin: SITE,
  url: `${SITE}/a.jpg`,
};

function setUp(settings: Partial<PictureSettings>, host = { roundTrip: 50, pageBytes: 0 }) {
  let late = (): void => {};
  const setTimer: SetTimer = (task) => {
    late = task;
    return () => {};
  };
  const wishes = new Wishes({ roundTrip: () => host.roundTrip, pageBytes: () => host.pageBytes, setTimer });
  wishes.set({ pictures: { recoding: "none", budget: null, readers: [], ...settings } });
  /** What the edge would be asked, and what ends it. */
  const ask = (change: Partial<RequestHead> = {}) => {
    let asked: RequestHead | undefined;
    let consumer: ResponseConsumer | undefined;
    const heard: string[] = [];
    const person: ResponseConsumer = {
      onHead: () => void heard.push("head"),
      onBody: () => undefined,
      onEnd: () => void heard.push("end"),
      onError() {},
    };
    const { cancel } = wishes.source(
      { head: { ...picture, ...change }, body: null, push: null },
      person,
      (request, inner): Answer => {
        asked = request.head;
        consumer = seenBy(request.taps ?? [], inner);
        return { cancel: () => void heard.push("cancel") };
      },
    );
    /** The edge answers. @param held bytes of the picture that it holds back. */
    const answer = (held?: number, length = "1000") => {
      const headers = [
        ["content-length", length],
        ...(held === undefined ? [] : [imageNoteField({ kind: "held", bytes: held })]),
      ];
      consumer?.onHead({ headers } as Partial<ResponseHead> as ResponseHead);
    };
    const end = () => {
      answer();
      void consumer?.onBody(new Uint8Array(1000));
      consumer?.onEnd();
    };
    const fail = () => consumer?.onError(new RopewayError(ErrorCode.LINK_LOST, "stream", "peer", "Cannot go on"));
    return {
      images: asked?.images,
      takesRecoded: asked?.takesRecoded,
      answer,
      end,
      fail,
      cancel,
      heard,
      asked: () => asked?.images,
    };
  };
  return { wishes, ask, late: () => late() };
}

describe("PictureWishes", () => {
  it("says nothing where pictures come as they are", () => {
    const { wishes, ask } = setUp({});
    expect(wishes.wish).toBeNull();
    expect(ask()).toMatchObject({ images: undefined, takesRecoded: undefined });
  });

  it("leaves it to the session's wish, and takes what is stored smaller", () => {
    const { wishes, ask } = setUp({ recoding: "strong" });
    expect(wishes.wish).toEqual({ recoding: "strong", most: null });
    expect(ask()).toMatchObject({ images: undefined, takesRecoded: true });
    expect(ask({ mode: "cors" }).takesRecoded).toBeUndefined();
    expect(ask({ destination: "script" }).takesRecoded).toBeUndefined();
    expect(ask({ images: ORIGINAL })).toMatchObject({ images: ORIGINAL, takesRecoded: undefined });
  });

  it("follows the link where that is chosen", () => {
    const host = { roundTrip: 50, pageBytes: 0 };
    const { wishes } = setUp({ recoding: "auto" }, host);
    expect(wishes.wish).toBeNull();
    host.roundTrip = 300;
    expect(wishes.wish).toEqual({ recoding: "balanced", most: null });
  });

  it("asks for originals of an origin whose scripts read pixels, of its own only", () => {
    const { wishes, ask } = setUp({ recoding: "balanced" });
    expect(ask().images).toBeUndefined();
    wishes.addReader(SITE);
    expect(ask()).toMatchObject({ images: ORIGINAL, takesRecoded: undefined });
    expect(ask({ url: "https://other.example/a.jpg" }).images).toBeUndefined();
    expect(setUp({ recoding: "balanced", readers: [SITE] }).ask().images).toEqual(ORIGINAL);
  });

  it("shares a page's budget among the pictures that are asked for at once", () => {
    const host = { roundTrip: 50, pageBytes: 100_000 };
    const { ask } = setUp({ recoding: "none", budget: 300_000 }, host);
    const shares = Array.from({ length: 20 }, () => ask());
    const all = shares.map(({ images }) => images?.most ?? 0);
    expect(all[0]).toBe(50_000);
    expect(all.reduce((sum, share) => sum + share, 0)).toBeLessThanOrEqual(200_000);
    for (const { end } of shares) end();
    expect(ask().images).toEqual({ recoding: "none", most: 50_000 });
    host.pageBytes = 400_000;
    expect(ask().images?.most).toBe(0);
  });

  it("asks once more for what was held back and fits", () => {
    const { wishes, ask } = setUp({ budget: 300_000 });
    const fits = ask();
    expect(fits.images?.most).toBe(75_000);
    fits.answer(100_000);
    expect(fits.asked()?.most).toBe(105_000);
    expect(fits.heard).toEqual(["cancel"]);
    expect(wishes.waiting.pictures).toBe(0);
    fits.end();
    expect(fits.heard).toEqual(["cancel", "head", "end"]);

    const isTooLarge = ask();
    isTooLarge.answer(400_000);
    expect(isTooLarge.heard).toEqual(["head"]);
    const isStillTooLarge = ask();
    isStillTooLarge.answer(100_000);
    isStillTooLarge.answer(100_000);
    expect(isStillTooLarge.heard).toEqual(["cancel", "head"]);
  });

  it("holds back what fits later until those under way have come, whatever the link has counted before them", () => {
    const host = { roundTrip: 50, pageBytes: 0 };
    const { wishes, ask } = setUp({ budget: 200_000 }, host);
    const [first, second, third] = [ask(), ask(), ask({ url: `${SITE}/c.jpg` })];
    first?.answer(80_000);
    second?.answer(50_000);
    expect([first, second].map((each) => each?.asked()?.most)).toEqual([85_000, 55_000]);
    // The link counts all of both pictures with the message in which this answer is.
    host.pageBytes = 130_000;
    third?.answer(60_000);
    expect(third?.heard).toEqual([]);
    first?.end();
    expect(third?.heard).toEqual([]);
    second?.end();
    expect(third?.asked()?.most).toBe(65_000);
    third?.end();
    expect(third?.heard).toEqual(["cancel", "head", "end"]);
    expect(wishes.waiting.pictures).toBe(0);
  });

  it("holds back what does not fit once those under way have come, or never come", () => {
    const host = { roundTrip: 50, pageBytes: 0 };
    const { wishes, ask, late } = setUp({ budget: 200_000 }, host);
    const endless = ask();
    const held = ask({ url: `${SITE}/b.jpg` });
    held.answer(160_000);
    expect(held.heard).toEqual([]);
    late();
    expect(held.heard).toEqual(["head"]);
    expect(wishes.waiting).toEqual({ pictures: 1, films: 0, bytes: 160_000 });

    const other = ask({ url: `${SITE}/c.jpg` });
    other.answer(160_000);
    host.pageBytes = 50_000;
    endless.end();
    expect(other.heard).toEqual(["head"]);
    expect(other.asked()?.most).toBeLessThan(160_000);
  });

  it("asks for all that waits for others once the person wants all of the page", () => {
    const { wishes, ask } = setUp({ budget: 200_000 });
    ask();
    const held = ask();
    held.answer(160_000);
    wishes.spare(`${SITE}/`);
    expect(held.asked()?.most).toBe(165_000);
    held.end();
    expect(held.heard).toEqual(["cancel", "head", "end"]);
    expect(wishes.waiting.pictures).toBe(0);
  });

  it("holds back what waits where the person leaves the page, and asks for none of it at the next page's cost", () => {
    const host = { roundTrip: 50, pageBytes: 100_000 };
    const { wishes, ask } = setUp({ budget: 200_000 }, host);
    const other = ask();
    const held = ask();
    held.answer(90_000);
    expect(held.heard).toEqual([]);
    wishes.begin(`${SITE}/next`);
    host.pageBytes = 0;
    other.end();
    expect(held.heard).toEqual(["head"]);
    expect(held.asked()?.most).toBeLessThan(90_000);
    expect(wishes.waiting.pictures).toBe(0);
  });

  it("asks for nothing while requests fail", () => {
    const { ask, late } = setUp({ budget: 200_000 });
    const other = ask();
    const held = ask();
    held.answer(190_000);
    other.fail();
    expect(held.heard).toEqual([]);
    late();
    expect(held.heard).toEqual(["head"]);
  });

  it("takes a length that is none for the most that was allowed", () => {
    const { ask } = setUp({ budget: 200_000 });
    const odd = ask();
    odd.answer(undefined, "5, 5");
    odd.end();
    expect(ask().images?.most).toBe(50_000);
  });

  it("forgets what waits when the page gives it up", () => {
    const { ask } = setUp({ budget: 200_000 });
    const other = ask();
    const given = ask();
    given.answer(160_000);
    given.cancel();
    expect(given.heard).toEqual(["cancel"]);
    other.end();
    expect(given.asked()?.most).toBeLessThan(160_000);
    expect(given.heard).toEqual(["cancel"]);
  });

  it("counts what waits of a page, until it was tapped or another page begins", () => {
    const { wishes, ask } = setUp({ budget: 0 });
    expect(wishes.waiting).toEqual({ pictures: 0, films: 0, bytes: 0 });
    ask({ url: `${SITE}/a.jpg` }).answer(1_000);
    ask({ url: `${SITE}/b.jpg` }).answer(2_000);
    ask({ url: `${SITE}/b.jpg` }).answer(2_000);
    expect(wishes.waiting).toEqual({ pictures: 2, films: 0, bytes: 3_000 });
    ask({ url: `${SITE}/a.jpg`, images: ORIGINAL });
    expect(wishes.waiting).toEqual({ pictures: 1, films: 0, bytes: 2_000 });
    ask({ url: `${SITE}/unknown.jpg` }).answer(0);
    expect(wishes.waiting).toEqual({ pictures: 2, films: 0, bytes: 0 });

    const late = ask({ url: `${SITE}/late.jpg` });
    wishes.begin(`${SITE}/next`);
    late.answer(1_000);
    expect(wishes.waiting).toEqual({ pictures: 0, films: 0, bytes: 0 });
  });

  it("has films and sounds wait where a page has a budget, and tells how many do", () => {
    const film = { destination: "video", url: `${SITE}/film.mp4` } as const;
    expect(setUp({ recoding: "strong" }).ask(film).images).toBeUndefined();
    const { wishes, ask } = setUp({ budget: 300_000 });
    const asked = ask(film);
    expect(asked.images).toEqual({ recoding: "none", most: 0 });
    asked.answer(9_000_000);
    expect(wishes.waiting).toEqual({ pictures: 0, films: 1, bytes: 9_000_000 });
    expect(ask({ ...film, images: ORIGINAL }).images).toEqual(ORIGINAL);
    expect(wishes.waiting.films).toBe(0);
    wishes.spare(`${SITE}/page`);
    expect(ask({ destination: "audio", mode: "cors" }).images).toBeUndefined();
  });

  it("lets all of a page come, as small as is wished, until another page begins", () => {
    const { wishes, ask } = setUp({ recoding: "balanced", budget: 150_000 }, { roundTrip: 50, pageBytes: 150_000 });
    expect(ask().images?.most).toBe(0);
    wishes.spare(`${SITE}/page`);
    wishes.begin(`${SITE}/page`);
    expect(ask().images).toEqual({ recoding: "balanced", most: null });
    wishes.begin(`${SITE}/next`);
    expect(ask().images?.most).toBe(0);
  });

  it("holds back all where none is wanted", () => {
    const { wishes, ask } = setUp({ recoding: "none", budget: 0 });
    expect(wishes.wish).toEqual({ recoding: "none", most: 0 });
    expect(ask()).toMatchObject({ images: undefined, takesRecoded: true });
  });
});
