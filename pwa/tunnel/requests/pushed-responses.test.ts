import { describe, expect, it } from "vitest";
import { ErrorCode, RopewayError } from "../../../shared/errors.ts";
import { type ResponseConsumer, type ServerResponse, servePush } from "../../../shared/http/exchange.ts";
import type { RequestHead } from "../../../shared/http/heads.ts";
import { withDefaultAccept } from "../../../shared/http/phone-fields.ts";
import * as limits from "../../../shared/limits.ts";
import type { MuxStream } from "../../../shared/mux/stream/stream.ts";
import { bodyOf, ConsumerLog, CountedBody, responseHead } from "../../../shared/testing/http/exchange-rig.ts";
import { requestHead } from "../../../shared/testing/http/request-heads.ts";
import { linkSessions } from "../../../shared/testing/mux/linked-sessions.ts";
import { settle } from "../../../shared/testing/turns.ts";
import type { Ask } from "../exchange/exchange.ts";
import { FakePlatform } from "../testing/fake-platform.ts";
import { PushedResponses } from "./pushed-responses.ts";

const PICTURE: RequestHead = {
  ...requestHead,
  url: "https://a.example/picture.png",
  headers: withDefaultAccept([], "image"),
  destination: "image",
  mode: "no-cors",
  credentials: "include",
};

const text = async (): Promise<ServerResponse> => ({ head: responseHead, body: bodyOf("text") });

/** What goes out fails, what was pushed for it is its answer. */
const overNetwork: Ask = ({ push }, consumer) => {
  if (push !== null) return push.answer(consumer);
  queueMicrotask(() => consumer.onError(new RopewayError(ErrorCode.CANCEL, "stream", "library", "network")));
  return { cancel() {} };
};

function rig(isAtHand?: (head: RequestHead) => boolean) {
  const platform = new FakePlatform();
  const pushed = new PushedResponses(platform, isAtHand);
  const session = { wasCarried: true };
  const linked = linkSessions({ phone: { onPush: (stream) => pushed.accept(stream, session) } });
  return {
    platform,
    pushed,
    linked,
    /** The edge pushes the response to `head`. */
    async push(head: Partial<RequestHead> = {}, answer = text, document = "0:1"): Promise<MuxStream> {
      const stream = linked.edge.streams.openPush({ urgency: 7, incremental: false });
      if (stream === null) throw new Error("Cannot push: there are as many as there may be");
      servePush(stream, { head: { ...PICTURE, ...head }, document }, answer);
      await settle();
      return stream;
    },
    /** What the page gets out of a push, or null if its request has to go out. */
    async ask(head: Partial<RequestHead> = {}): Promise<ConsumerLog | null> {
      const consumer = new ConsumerLog();
      pushed.source({ head: { ...PICTURE, ...head }, body: null, push: null }, consumer, overNetwork);
      await settle();
      return consumer.error?.message === "network" ? null : consumer;
    },
  };
}

describe("a request", () => {
  it("gets what was pushed as its own browser asks, and nothing that was asked for in other words", async () => {
    const { push, ask, pushed } = rig();
    const own = { headers: [["accept", "image/webp,*/*;q=0.5"]] as const };
    await push();
    expect(await ask(own)).toBeNull();
    await push(own);
    expect((await ask(own))?.text).toBe("text");
    expect(await ask({ headers: [...own.headers, ["range", "bytes=0-1"]] })).toBeNull();
    expect(pushed.stats).toMatchObject({ pushes: 2, pushesClaimed: 1 });
  });

  it("gets what was pushed for it, once, and gives its credit back", async () => {
    const { pushed, linked, push, ask } = rig();
    await push();
    expect(linked.phone.receiver.window.unread).toBe(4);
    const consumer = await ask();
    expect([consumer?.text, consumer?.events]).toEqual(["text", ["head", "end"]]);
    expect(consumer?.head?.url).toBe(PICTURE.url);
    expect(await ask()).toBe(null);
    expect(linked.phone.receiver.window.unread).toBe(0);
    expect(pushed.stats).toEqual({
      pushes: 1,
      pushesClaimed: 1,
      pushesWasted: 0,
      pushedBytes: 4,
      pushShare: 1,
      pushBudget: limits.pushesPerDocument,
    });
  });

  it("of a script does not get what its origin has changed since; an element's does", async () => {
    const { pushed, push, ask } = rig();
    const script = { destination: "", mode: "cors", headers: [] } as const;
    await push();
    await push(script);
    await push({ ...script, origin: "https://b.example" });
    pushed.dropOfScripts("https://a.example");
    pushed.dropOfScripts(null);
    expect(await ask(script)).toBeNull();
    expect((await ask())?.text).toBe("text");
    expect((await ask({ ...script, origin: "https://b.example" }))?.text).toBe("text");
  });

  it("finds a push under way, which becomes as urgent and as wide as its own response would be", async () => {
    const { push, ask } = rig();
    const body = new CountedBody(4 * limits.pushCreditBytes);
    const stream = await push({}, async () => ({ head: responseHead, body: body.stream }));
    expect(stream.sentBytes).toBe(limits.pushCreditBytes);
    expect(stream.priority.urgency).toBe(7);
    const consumer = await ask();
    await consumer?.over;
    expect(consumer?.bytes).toBe(4 * limits.pushCreditBytes);
    expect(stream.priority.urgency).toBe(3);
  });

  it("hears nothing before its tunnel has it under way, and nothing once it was cancelled", async () => {
    const { pushed, linked, push } = rig();
    await push();
    const consumer = new ConsumerLog();
    const exchange = pushed.source({ head: PICTURE, body: null, push: null }, consumer, overNetwork);
    expect(consumer.events).toEqual([]);
    exchange.cancel();
    await settle();
    expect([consumer.events, linked.phone.receiver.window.unread]).toEqual([[], 0]);
  });

  it.each<[string, Partial<RequestHead>]>([
    ["another site", { topLevelOrigin: "https://evil.example" }],
    ["another origin in the same page", { origin: "https://evil.example" }],
    ["a person", { origin: null }],
    ["a document", { destination: "document", mode: "navigate" }],
    ["a frame", { destination: "iframe", mode: "navigate" }],
    ["a script that reads it", { destination: "", mode: "cors" }],
    ["another kind of element", { destination: "script" }],
    ["an element with crossorigin", { mode: "cors", credentials: "same-origin" }],
    ["one without cookies", { credentials: "omit" }],
    ["one that follows no redirects", { redirect: "manual" }],
    ["another address", { url: "https://a.example/picture.png?" }],
    ["another method", { method: "HEAD" }],
    ["a method that writes", { method: "POST" }],
    ["a part", { headers: [...PICTURE.headers, ["range", "bytes=0-1"]] }],
    ["a reload", { headers: [...PICTURE.headers, ["cache-control", "no-cache"]] }],
    ["a condition", { headers: [...PICTURE.headers, ["if-none-match", '"a"']] }],
    ["a field of a script's making", { headers: [...PICTURE.headers, ["x-own", "1"]] }],
    ["another accept", { headers: [["accept", "*/*"]] }],
    ["the rest of a body", { delivery: { id: null, isRepeat: true, continuation: null } }],
  ])("of %s does not get it", async (_, head) => {
    const { push, ask } = rig();
    await push();
    expect(await ask(head)).toBe(null);
    expect((await ask())?.text).toBe("text");
  });

  it("is told what became of a push at its origin, and goes out where that says nothing of the origin", async () => {
    const { push, ask } = rig();
    const failing = (code: ErrorCode) => () => Promise.reject(new RopewayError(code, "stream", "origin", "why"));
    await push({}, failing(ErrorCode.CORS_DENIED));
    expect((await ask())?.error).toMatchObject({ code: ErrorCode.CORS_DENIED, message: "why" });
    await push({}, failing(ErrorCode.INTERNAL_ERROR));
    expect(await ask()).toBe(null);
  });

  it("that went out already makes a later push pointless", async () => {
    const { pushed, push, ask } = rig();
    const ends: ((consumer: ResponseConsumer, cancel: () => void) => void)[] = [
      (consumer) => consumer.onEnd(),
      (consumer) => consumer.onError(new RopewayError(ErrorCode.CANCEL, "stream", "library", "")),
      (_, cancel) => cancel(),
    ];
    for (const end of ends) {
      let consumer: ResponseConsumer = new ConsumerLog();
      const { cancel } = pushed.source({ head: PICTURE, body: null, push: null }, consumer, (request, asking) => {
        expect(request.push).toBe(null);
        consumer = asking;
        return { cancel() {} };
      });
      expect((await push()).state).toBe("closed");
      end(consumer, cancel);
      await push();
      expect((await ask())?.text).toBe("text");
    }
  });
});

describe("a push that nobody asks for", () => {
  it("is dropped after a while, and its credit is given back", async () => {
    const { platform, linked, push, ask } = rig();
    const slow = await push({}, async () => ({ head: responseHead, body: new CountedBody(1e9).stream }));
    platform.pass(limits.unclaimedPushTime / 2);
    await push({ url: "https://a.example/later" });
    platform.pass(limits.unclaimedPushTime / 2);
    await settle();
    expect([slow.state, linked.phone.receiver.window.unread]).toEqual(["closed", 4]);
    expect(await ask()).toBe(null);
    platform.pass(limits.unclaimedPushTime / 2);
    expect(linked.phone.receiver.window.unread).toBe(0);
    platform.pass(limits.unclaimedPushTime);
    await push();
    platform.pass(limits.unclaimedPushTime - 1);
    expect((await ask())?.text).toBe("text");
  });

  it("goes with its document, or with the page", async () => {
    const { pushed, linked, push, ask } = rig();
    const paths = ["a", "b", "c"].map((path) => ({ url: `https://a.example/${path}` }));
    for (const [index, head] of paths.entries()) await push(head, text, `0:${index * 2 + 1}`);
    pushed.drop("0:3");
    expect(await ask(paths[1])).toBe(null);
    expect((await ask(paths[0]))?.text).toBe("text");
    pushed.drop();
    expect(await ask(paths[2])).toBe(null);
    expect(linked.phone.receiver.window.unread).toBe(0);
  });

  it("goes with its session, unless it is whole", async () => {
    const { linked, push, ask } = rig();
    await push();
    const partial = { url: "https://a.example/partial" };
    await push(partial, async () => ({ head: responseHead, body: new CountedBody(1e9).stream }));
    linked.phone.end(new RopewayError(ErrorCode.LINK_LOST, "session", "peer", "gone"));
    expect(await ask(partial)).toBe(null);
    expect((await ask())?.text).toBe("text");
  });

  it("never has more than its share of what the phone holds, all together", async () => {
    const { pushed, linked, push } = rig();
    const count = (2 * limits.unclaimedPushBytes) / limits.pushCreditBytes;
    for (let index = 0; index < count; index += 1) {
      await push({ url: `https://a.example/${index}` }, async () => ({
        head: responseHead,
        body: new CountedBody(limits.pushCreditBytes).stream,
      }));
    }
    await settle();
    expect(linked.phone.receiver.window.unread).toBeLessThanOrEqual(limits.unclaimedPushBytes);
    expect(linked.phone.receiver.window.unread).toBeGreaterThan(limits.unclaimedPushBytes / 2);
    pushed.drop();
    expect(linked.phone.receiver.window.unread).toBe(0);
  });

  it("has only so many beside it, whole ones too", async () => {
    const { push, ask } = rig();
    const urls = Array.from({ length: limits.concurrentPushes }, (_, index) => `https://a.example/${index}`);
    await Promise.all(urls.map((url) => push({ url })));
    await push({ url: `https://a.example/${limits.concurrentPushes}` });
    expect(await ask({ url: `https://a.example/${limits.concurrentPushes}` })).toBe(null);
    expect((await ask({ url: "https://a.example/0" }))?.text).toBe("text");
  });
});

it.each<[string, Partial<RequestHead>]>([
  ["a document", { mode: "navigate", destination: "document" }],
  ["what writes", { method: "POST" }],
  ["a message to the edge", { url: "ropeway:///site-data" }],
  ["what no page asks for like that", { headers: [["x-own", "1"]] }],
])("an edge that pushes %s is told to stop, and its session goes on", async (_, head) => {
  const { linked, push, ask } = rig();
  const stream = await push(head);
  expect(stream.state).toBe("closed");
  expect(await ask(head)).toBe(null);
  await push();
  expect((await ask())?.text).toBe("text");
  expect(linked.ended).toEqual({ phone: null, edge: null });
});

it("takes the first of two pushes for the same request", async () => {
  const { push, ask } = rig();
  await push();
  const second = await push({}, async () => ({ head: responseHead, body: bodyOf("second") }));
  expect(second.state).toBe("closed");
  expect((await ask())?.text).toBe("text");
});

describe("what no page asks for", () => {
  const urls = Array.from({ length: 8 }, (_, index) => `https://a.example/${index}.png`);

  it("counts as wasted: when it was left, when its time was over, and what the phone had", async () => {
    const { pushed, platform, push } = rig((head) => head.url === urls[0]);
    for (const url of urls) await push({ url }, text, url === urls[1] ? "0:7" : "0:1");
    expect(pushed.stats).toMatchObject({ pushes: 8, pushesWasted: 1 });
    pushed.drop("0:7");
    expect(pushed.stats.pushesWasted).toBe(2);
    platform.pass(limits.unclaimedPushTime);
    expect(pushed.stats).toMatchObject({ pushesWasted: 8, pushesClaimed: 0 });
    expect(pushed.stats.pushShare).toBeLessThan(0.9);
  });

  it("makes navigations say how many pushes may come, not before", async () => {
    const { pushed, push } = rig();
    const said = (): unknown => {
      let pushes: unknown;
      const head = { ...PICTURE, destination: "document", mode: "navigate" } as const;
      pushed.source({ head, body: null, push: null }, new ConsumerLog(), (request) => {
        pushes = request.head.pushes;
        return { cancel() {} };
      });
      return pushes;
    };
    expect(said()).toBeUndefined();
    for (const url of urls) await push({ url });
    pushed.drop();
    expect(said()).toBe(pushed.stats.pushBudget);
    expect(pushed.stats.pushBudget).toBeLessThan(limits.pushesPerDocument);
  });

  it("does not count where the page had asked before, or the edge answers that instead", async () => {
    const { pushed, push } = rig();
    const [asked, refused] = urls as [string, string];
    const head = { ...PICTURE, url: asked };
    pushed.source({ head, body: null, push: null }, new ConsumerLog(), () => ({ cancel() {} }));
    await push({ url: asked });
    const stream = await push({ url: refused }, () => new Promise(() => {}));
    stream.reset(ErrorCode.REFUSED_STREAM);
    await settle();
    pushed.drop();
    expect(pushed.stats).toMatchObject({ pushes: 2, pushesWasted: 0, pushShare: 1 });
  });
});
