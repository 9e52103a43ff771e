import { describe, expect, it } from "vitest";
import { ErrorCode, RopewayError } from "../../shared/errors.ts";
import { ACCEPT_PUSH, type RequestHandler } from "../../shared/http/exchange.ts";
import { DICTIONARY_KEY } from "../../shared/http/phone-fields.ts";
import { bodyOf, CountedBody, responseHead } from "../../shared/testing/http/exchange-rig.ts";
import { settle } from "../../shared/testing/turns.ts";
import { PROBE_TIMEOUT_MIN } from "./sockets/socket-keeper.ts";
import { silence, text, tunnelRig } from "./testing/tunnel-rig.ts";

describe("requests without a link", () => {
  it("wait, also while the device is offline, and are answered once it is there", async () => {
    const { tunnel, connect, fetch, fail } = tunnelRig(text);
    tunnel.setOnline(false);
    const { consumer } = fetch();
    await fail(100_000);
    expect(consumer.events).toEqual([]);
    tunnel.setOnline(true);
    await connect();
    expect(consumer.text).toBe("text");
  });

  it.each([
    [true, ErrorCode.LINK_LOST],
    [false, ErrorCode.OFFLINE],
  ])("fail when the wait runs out, each in its time; online: %s", async (online, code) => {
    const { tunnel, connect, fetch, fail } = tunnelRig(text);
    tunnel.setOnline(online);
    tunnel.setWaitTime(30_000);
    const first = fetch();
    await fail(20_000);
    const second = fetch();
    await fail(9_000);
    expect(first.consumer.events).toEqual([]);
    await fail(2_000);
    expect([first.consumer.error?.code, second.consumer.events]).toEqual([code, []]);
    await fail(20_000);
    expect(second.consumer.error?.code).toBe(code);
    const third = fetch();
    tunnel.setOnline(true);
    await connect();
    expect(third.consumer.text).toBe("text");
  });

  it("wait from when the link went, not from when they were made", async () => {
    const { platform, tunnel, connect, fetch, fail } = tunnelRig(silence);
    tunnel.setWaitTime(30_000);
    const { consumer } = fetch();
    await connect();
    for (let time = 0; time < 100_000; time += 1_000) {
      platform.pass(1_000);
      platform.socket.receive("ropeway.keep-alive");
    }
    platform.socket.lose();
    await fail(29_000);
    expect(consumer.events).toEqual([]);
    await fail(2_000);
    expect(consumer.error?.code).toBe(ErrorCode.LINK_LOST);
  });

  it("go on after the phone slept for an hour in mid-page", async () => {
    let answer: () => void = () => {};
    const wait = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const { platform, connect, fetch, tunnel, requests } = tunnelRig(async (request) => {
      if (request.head.method === "POST") await wait;
      return text(request);
    });
    await connect();
    await fetch().consumer.over;
    const { consumer } = fetch({ method: "POST" });
    await settle();
    platform.sleep(3_600_000);
    // The old socket is dead without a word.
    platform.pass(PROBE_TIMEOUT_MIN);
    answer();
    await connect();
    expect([consumer.text, requests.length, tunnel.stats().sessions]).toEqual(["text", 2, 1]);
  });

  it("do not count sleep as waiting", async () => {
    const { platform, connect, fetch, tunnel, fail } = tunnelRig(text);
    tunnel.setWaitTime(30_000);
    const { consumer } = fetch();
    await fail(5_000);
    platform.sleep(3_600_000);
    await fail(20_000);
    expect(consumer.events).toEqual([]);
    await connect();
    expect(consumer.text).toBe("text");
  });

  it("fail at once when the edge refuses the phone", async () => {
    const { platform, fetch } = tunnelRig(text);
    platform.probed = "refused";
    const { consumer } = fetch();
    platform.socket.lose();
    await consumer.over;
    expect(consumer.error?.code).toBe(ErrorCode.KEY_NOT_ACCEPTED);
    const late = fetch();
    await late.consumer.over;
    expect(late.consumer.error?.code).toBe(ErrorCode.KEY_NOT_ACCEPTED);
  });

  it("may be given up meanwhile, and then nobody runs them", async () => {
    const { requests, connect, fetch } = tunnelRig(text);
    const { consumer, exchange } = fetch();
    exchange.cancel();
    await connect();
    expect([consumer.events, requests.filter(({ signal }) => !signal.aborted)]).toEqual([[], []]);
  });
});

describe("dictionaries", () => {
  it.each([true, false])("are offered where there is WebAssembly: %s", async (hasWasm) => {
    const { WebAssembly } = globalThis;
    if (!hasWasm) Reflect.deleteProperty(globalThis, "WebAssembly");
    const { tunnel, sessionHeads, start, connect, fetch } = tunnelRig(text, { started: false });
    tunnel.offerDictionaries("key");
    Object.assign(globalThis, { WebAssembly });
    start();
    await connect();
    fetch();
    await settle();
    expect(sessionHeads.map((fields) => fields[DICTIONARY_KEY])).toEqual([hasWasm ? "key" : undefined]);
  });
});

describe("pushes", () => {
  const pushedText: RequestHandler = async () => ({ head: responseHead, body: bodyOf("pushed") });
  const endless = new CountedBody(1e9);
  const unfinished: RequestHandler = async () => ({ head: responseHead, body: endless.stream });

  it("are asked for when the person wants them, and no more once they do not", async () => {
    const { tunnel, sessionHeads, start, connect, fetch } = tunnelRig(text, { started: false });
    tunnel.takePushes("https");
    start();
    await connect();
    fetch();
    await settle();
    tunnel.takePushes(null);
    await settle();
    expect(sessionHeads.map((fields) => fields[ACCEPT_PUSH] ?? null)).toEqual(["https", null]);
  });

  it("are asked for once it is known what the browser says, in its words", async () => {
    const { tunnel, sessionHeads, start, connect, fetch } = tunnelRig(text, { started: false });
    const constants = { userAgent: "phone", acceptLanguage: "en" };
    tunnel.introduce({ ...constants, accept: null });
    tunnel.takePushes("https");
    start();
    await connect();
    fetch();
    await settle();
    tunnel.introduce({ ...constants, accept: { image: "image/webp" } });
    await settle();
    expect(sessionHeads).toEqual([
      { "user-agent": "phone", "accept-language": "en", "sec-ropeway-stored": "1", "sec-ropeway-reasons": "1" },
      {
        "user-agent": "phone",
        "accept-language": "en",
        "sec-ropeway-stored": "1",
        "sec-ropeway-reasons": "1",
        "accept-push": "https",
        "accept-image": "image/webp",
      },
    ]);
  });

  it("answer requests, which the edge never hears of", async () => {
    const { tunnel, requests, connect, fetch, push } = tunnelRig(text);
    await connect();
    await push(pushedText);
    const { consumer } = fetch();
    await consumer.over;
    expect([consumer.text, requests]).toEqual(["pushed", []]);
    expect(tunnel.stats()).toMatchObject({ requests: 1, requestsDone: 1, originBytes: 6 });
    expect(tunnel.stats()).toMatchObject({ pushes: 1, pushesClaimed: 1, pushedBytes: 6 });
  });

  it("do not answer requests with a body", async () => {
    const { requests, connect, fetch, push } = tunnelRig(text);
    await connect();
    await push(pushedText);
    const { consumer } = fetch({}, bodyOf("body"));
    await consumer.over;
    expect([consumer.text, requests.length]).toEqual(["text", 1]);
  });

  it("go on over a cut, claimed or not", async () => {
    let write: (text: string) => void = () => {};
    const slow: RequestHandler = async () => ({
      head: responseHead,
      body: new ReadableStream({
        start(controller) {
          write = (part) => controller.enqueue(new TextEncoder().encode(part));
        },
      }),
    });
    const { platform, requests, connect, fetch, push } = tunnelRig(text);
    await connect();
    await push(slow);
    write("one ");
    platform.socket.lose();
    write("two ");
    await connect();
    const { consumer } = fetch();
    await settle();
    platform.socket.lose();
    write("three");
    await connect();
    expect([consumer.text, requests]).toEqual(["one two three", []]);
  });

  it("are forgotten with their session: requests go out, also those that had claimed one", async () => {
    const { requests, connect, fetch, push, restart } = tunnelRig(text);
    await connect();
    await push(() => new Promise(() => {}));
    const claimed = fetch();
    await push(unfinished);
    await restart();
    const later = fetch();
    await later.consumer.over;
    expect([claimed.consumer.text, later.consumer.text, requests.length]).toEqual(["text", "text", 2]);
  });

  it("that the edge takes back are asked for", async () => {
    const { requests, connect, fetch, push } = tunnelRig(text);
    await connect();
    let takeBack: (error: RopewayError) => void = () => {};
    await push(
      () =>
        new Promise((_, reject) => {
          takeBack = reject;
        }),
    );
    const { consumer } = fetch();
    takeBack(new RopewayError(ErrorCode.REFUSED_STREAM, "stream", "library", ""));
    await consumer.over;
    expect([consumer.text, requests.length]).toEqual(["text", 1]);
  });

  it("are given up with the page, and with the document that named them", async () => {
    const { tunnel, requests, connect, fetch, push } = tunnelRig(silence);
    await connect();
    await push(pushedText);
    tunnel.leavePage();
    const { exchange } = fetch({ mode: "navigate", destination: "document" });
    await settle();
    await push(pushedText, "0:1");
    exchange.cancel();
    fetch();
    await settle();
    expect(requests.map(({ head }) => head.mode)).toEqual(["navigate", "cors"]);
  });
});
