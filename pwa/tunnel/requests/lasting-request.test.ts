import { describe, expect, it } from "vitest";
import { ErrorCode, RopewayError } from "../../../shared/errors.ts";
import type { RequestHandler } from "../../../shared/http/exchange.ts";
import type { RequestHead, ResponseHead } from "../../../shared/http/heads.ts";
import * as limits from "../../../shared/limits.ts";
import { CLOSE_CODE_BASE } from "../../../shared/subprotocol.ts";
import { bodyOf, CountedBody, responseHead } from "../../../shared/testing/http/exchange-rig.ts";
import { requestHead } from "../../../shared/testing/http/request-heads.ts";
import { settle } from "../../../shared/testing/turns.ts";
import { echo, silence, text, tunnelRig } from "../testing/tunnel-rig.ts";
import { REFUSED_ATTEMPTS, REPLAYED_BODY_BYTES } from "./lasting-request.ts";

describe("a session that the edge lost", () => {
  it("has a GET sent again; counters never go back", async () => {
    const answers: RequestHandler[] = [];
    const { tunnel, requests, connect, fetch, restart } = tunnelRig((request) => (answers.shift() ?? text)(request));
    await connect();
    await fetch().consumer.over;
    answers.unshift(silence);
    const { consumer } = fetch();
    await settle();
    const before = tunnel.stats();
    await restart();
    expect([consumer.text, consumer.events]).toEqual(["text", ["head", "end"]]);
    expect(requests.map(({ session }) => session)).toEqual([1, 1, 2]);
    const after = tunnel.stats();
    expect(after).toMatchObject({ sessions: 2, requests: 2, requestsDone: 2, requestsFailed: 0 });
    expect(after.linkBytesUp).toBeGreaterThan(before.linkBytesUp);
    expect(after.requestHeadBytes).toBeGreaterThan(before.requestHeadBytes);
  });

  const lostWith = async (head: Partial<RequestHead>, body: ReadableStream<Uint8Array> | null = null) => {
    const answers = [text, silence];
    const one = tunnelRig((request) => (answers.shift() ?? echo)(request));
    await one.connect();
    await one.fetch().consumer.over;
    const { consumer } = one.fetch(head, body);
    await settle();
    await one.restart();
    return { ...one, consumer };
  };

  it.each(["PUT", "DELETE", "OPTIONS"])("has a %s sent again, body and all", async (method) => {
    const { consumer, requests } = await lostWith({ method }, bodyOf("upload"));
    expect(consumer.text).toBe("upload");
    expect(requests.slice(1).map(({ head }) => head.delivery)).toEqual([undefined, undefined]);
  });

  it("has a PUT sent again whose answer had only begun, if it is answered alike", async () => {
    const begun: RequestHandler = async () => ({ head: responseHead, body: new ReadableStream<Uint8Array>() });
    const answers = [begun];
    const { connect, fetch, restart } = tunnelRig((request) => (answers.shift() ?? echo)(request));
    await connect();
    const { consumer } = fetch({ method: "PUT" }, bodyOf("upload"));
    await settle();
    expect(consumer.events).toEqual(["head"]);
    await restart();
    expect([consumer.text, consumer.events]).toEqual(["upload", ["head", "end"]]);
  });

  it("has a POST sent again by its id, and says that it is a repeat", async () => {
    const { consumer, requests } = await lostWith({ method: "POST" }, bodyOf("upload"));
    expect(consumer.text).toBe("upload");
    const [first, second] = requests.slice(1).map(({ head }) => head.delivery);
    expect([first?.isRepeat, second?.isRepeat, second?.id]).toEqual([false, true, first?.id]);
  });

  it("has a POST fail whose body is too large to keep, and tells the person", async () => {
    const body = new CountedBody(REPLAYED_BODY_BYTES + 100_000);
    const { consumer, requests, uncertain } = await lostWith({ method: "POST" }, body.stream);
    expect([consumer.error?.code, consumer.events]).toEqual([ErrorCode.OUTCOME_UNKNOWN, ["error"]]);
    expect([requests.length, uncertain]).toEqual([2, [requestHead.url]]);
    expect(body.cancelled).not.toBeNull();
  });

  it.each([
    [ErrorCode.ALREADY_SENT, [requestHead.url]],
    [ErrorCode.OUTCOME_UNKNOWN, [requestHead.url]],
    [ErrorCode.CONNECTION_REFUSED, []],
  ])("has a POST fail as the edge says, by code %s", async (code, told) => {
    const answers = [text, silence];
    const refusal: RequestHandler = async () => {
      throw new RopewayError(code, "stream", "library", "no");
    };
    const { connect, fetch, restart, uncertain } = tunnelRig((request) => (answers.shift() ?? refusal)(request));
    await connect();
    await fetch().consumer.over;
    const { consumer } = fetch({ method: "POST" });
    await settle();
    await restart();
    expect([consumer.error?.code, uncertain]).toEqual([code, told]);
  });

  it("that ends by an error has the person told of a POST without an answer, and of no other request", async () => {
    const { platform, connect, fetch, uncertain } = tunnelRig(silence);
    await connect();
    const requests = [fetch(), fetch({ method: "POST", url: "https://shop.example/pay" })];
    await settle();
    platform.socket.lose(CLOSE_CODE_BASE + ErrorCode.INTERNAL_ERROR);
    await settle();
    const codes = requests.map(({ consumer }) => consumer.error?.code);
    expect([codes, uncertain]).toEqual([
      [ErrorCode.INTERNAL_ERROR, ErrorCode.INTERNAL_ERROR],
      ["https://shop.example/pay"],
    ]);
  });

  it("has no POST repeated that the edge may have forgotten by now", async () => {
    const { platform, requests, connect, fetch } = tunnelRig(silence);
    const { consumer } = fetch({ method: "POST" });
    await connect();
    expect(requests).toHaveLength(1);
    platform.socket.lose();
    platform.sleep(limits.repeatWindow + 60_000);
    await connect();
    await settle();
    expect([consumer.error?.code, requests.length]).toEqual([ErrorCode.OUTCOME_UNKNOWN, 1]);
  });

  it("has no POST repeated that the edge may have forgotten during attempts that did not reach it", async () => {
    const { platform, requests, connect, fetch, known } = tunnelRig(silence);
    const { consumer } = fetch({ method: "POST" });
    await connect();
    expect(requests).toHaveLength(1);
    known.clear();
    platform.socket.lose();
    for (let time = 0; time < limits.sentLogTime; time += limits.repeatWindow / 2) {
      platform.sleep(limits.repeatWindow / 2);
      if (platform.socket.readyState === WebSocket.CONNECTING) platform.socket.lose();
      await settle();
    }
    await connect();
    await settle();
    expect([consumer.error?.code, requests.length]).toEqual([ErrorCode.OUTCOME_UNKNOWN, 1]);
  });

  it("is none of a page's business: what its port says of delivery is not believed", async () => {
    const { requests, connect, fetch } = tunnelRig(text);
    await connect();
    const delivery = { id: "AAAAAAAAAAA", isRepeat: true, continuation: null };
    await fetch({ delivery }).consumer.over;
    await fetch({ delivery, method: "POST" }).consumer.over;
    expect(requests.map(({ head }) => head.delivery?.isRepeat)).toEqual([undefined, false]);
    expect(requests[1]?.head.delivery?.id).not.toBe(delivery.id);
  });
});

describe("a body whose session is lost", () => {
  const WHOLE = Uint8Array.from({ length: 100_000 }, (_, index) => index * 7);
  const validator = '"v1"';
  const resumption = { range: { first: 0, last: WHOLE.length - 1, total: WHOLE.length }, validator };
  const stuckAfter = (bytes: number): ReadableStream<Uint8Array> =>
    new ReadableStream({ start: (controller) => controller.enqueue(WHOLE.slice(0, bytes)) }, { highWaterMark: 0 });

  /** The first attempt stops after so many bytes; then the edge restarts, and answers as `again` says. */
  const lostAfter = async (bytes: number, first: Partial<ResponseHead>, again: RequestHandler) => {
    const answers: RequestHandler[] = [
      async () => ({ head: { ...responseHead, ...first }, body: bytes === 0 ? silentBody() : stuckAfter(bytes) }),
    ];
    const one = tunnelRig((request) => (answers.shift() ?? again)(request));
    await one.connect();
    const { consumer } = one.fetch();
    await settle();
    expect(consumer.bytes).toBe(bytes);
    await one.restart();
    return { ...one, consumer, bytes: Buffer.concat(consumer.chunks) };
  };
  const silentBody = () => new ReadableStream<Uint8Array>({}, { highWaterMark: 0 });
  const from =
    (first: number, head: Partial<ResponseHead>): RequestHandler =>
    async () => ({
      head: { ...responseHead, ...head },
      body: new Blob([WHOLE.slice(first)]).stream(),
    });

  it("goes on from where it stopped", async () => {
    const { bytes, requests, consumer } = await lostAfter(
      30_000,
      { resumption },
      from(30_000, { continues: true, status: 206 }),
    );
    expect(bytes.equals(WHOLE)).toBe(true);
    expect(consumer.events).toEqual(["head", "end"]);
    expect(consumer.head?.resumption).toEqual(resumption);
    expect(requests[1]?.head.delivery?.continuation).toEqual({
      first: 30_000,
      last: WHOLE.length - 1,
      total: WHOLE.length,
      validator,
    });
  });

  it("goes on from where it stopped, of a range that the page asked for", async () => {
    const part = { range: { first: 500, last: 500 + WHOLE.length - 1, total: 999_999 }, validator };
    const { bytes, requests } = await lostAfter(
      10,
      { resumption: part, status: 206 },
      from(10, { continues: true, status: 206 }),
    );
    expect(bytes.equals(WHOLE)).toBe(true);
    expect(requests[1]?.head.delivery?.continuation).toMatchObject({ first: 510, total: 999_999 });
  });

  it("goes on where the origin sends all of it once more, as the same tag proves", async () => {
    for (const kept of [resumption, { range: null, validator }]) {
      const { bytes, consumer } = await lostAfter(30_000, { resumption: kept }, from(0, { resumption: kept }));
      expect(bytes.equals(WHOLE)).toBe(true);
      expect(consumer.events).toEqual(["head", "end"]);
    }
  });

  it("begins anew if nothing of it was handed on", async () => {
    const { bytes, consumer } = await lostAfter(0, {}, from(0, {}));
    expect(bytes.equals(WHOLE)).toBe(true);
    expect(consumer.events).toEqual(["head", "end"]);
  });

  it("is whole if only word of its end was missing", async () => {
    const { consumer, requests } = await lostAfter(WHOLE.length, { resumption }, silence);
    expect([consumer.events, requests.length]).toEqual([["head", "end"], 1]);
  });

  it.each(["GET", "PUT", "POST"])("of a %s is whole with as many bytes as were announced", async (method) => {
    const headers: ResponseHead["headers"] = [["content-length", "100"]];
    const { connect, fetch, restart, requests } = tunnelRig(async () => ({
      head: { ...responseHead, headers },
      body: stuckAfter(100),
    }));
    await connect();
    const { consumer } = fetch({ method }, method === "GET" ? null : bodyOf("upload"));
    await settle();
    await restart();
    expect([consumer.bytes, consumer.events, requests.length]).toEqual([100, ["head", "end"], 1]);
  });

  const date = { range: resumption.range, validator: "Sat, 21 Nov 2026 03:00:00 GMT" };
  it.each<[string, number, Partial<ResponseHead>, RequestHandler]>([
    ["has no validator", 100, {}, from(0, {})],
    ["changed", 100, { resumption }, from(0, { resumption: { ...resumption, validator: '"v2"' } })],
    ["is proven by a date alone", 100, { resumption: date }, from(0, { resumption: date })],
    ["is of another status", 100, { resumption }, from(0, { resumption, status: 404 })],
    [
      "comes from another place",
      100,
      { resumption },
      from(100, { continues: true, status: 206, redirected: true, url: "https://b.example/" }),
    ],
    ["ends too soon", 100, { resumption }, from(200, { continues: true, status: 206 })],
    ["has not begun, and changed", 0, { headers: [["etag", "1"]] }, from(0, { headers: [["etag", "2"]] })],
  ])("fails if it %s", async (_, bytes, first, again) => {
    const { consumer } = await lostAfter(bytes, first, again);
    expect([consumer.events, consumer.error?.code]).toEqual([["head", "error"], ErrorCode.LINK_LOST]);
    expect(consumer.bytes).toBeLessThan(WHOLE.length);
  });

  it("goes on through any number of restarts that it makes headway between", async () => {
    const answers: RequestHandler[] = [];
    for (let part = 0; part < 10; part += 1) {
      const start = part * 10_000;
      answers.push(async () => ({
        head: { ...responseHead, resumption, ...(part > 0 ? { continues: true, status: 206 } : {}) },
        body:
          part === 9
            ? new Blob([WHOLE.slice(start)]).stream()
            : new ReadableStream({ start: (controller) => controller.enqueue(WHOLE.slice(start, start + 10_000)) }),
      }));
    }
    const { connect, restart, fetch } = tunnelRig((request) => (answers.shift() ?? silence)(request));
    await connect();
    const { consumer } = fetch();
    for (let part = 0; part < 9; part += 1) {
      await settle();
      await restart();
    }
    expect(Buffer.concat(consumer.chunks).equals(WHOLE)).toBe(true);
  });
});

describe("a request that the edge has no room for", () => {
  const refusing: RequestHandler = () =>
    Promise.reject(new RopewayError(ErrorCode.REFUSED_STREAM, "stream", "peer", ""));

  async function refused(times: number) {
    const answers = Array.from({ length: times }, () => refusing);
    const rig = tunnelRig((request) => (answers.shift() ?? text)(request));
    await rig.connect();
    const { consumer, exchange } = rig.fetch({ method: "POST" }, bodyOf("upload"));
    await settle();
    const pass = async (time: number): Promise<number> => {
      for (let passed = 0; passed < time; passed += 250) {
        rig.platform.pass(250);
        rig.platform.socket.receive("ropeway.keep-alive");
        await settle(3);
      }
      return rig.requests.length;
    };
    return { ...rig, consumer, exchange, pass };
  }

  it("is sent again: at once, then after waits that double", async () => {
    const { requests, consumer, pass } = await refused(5);
    const sent = [requests.length];
    for (const wait of [250, 250, 750, 250, 1_750, 250, 3_750]) sent.push(await pass(wait));
    expect([sent, consumer.events]).toEqual([[2, 2, 3, 3, 4, 4, 5, 5], []]);
    expect([await pass(250), consumer.text]).toEqual([6, "text"]);
  });

  it("fails when there is no room for half a minute", async () => {
    const { consumer, pass, uncertain } = await refused(100);
    expect([await pass(31_250), consumer.events]).toEqual([REFUSED_ATTEMPTS, []]);
    expect(await pass(250)).toBe(1 + REFUSED_ATTEMPTS);
    expect([consumer.error?.code, uncertain]).toEqual([ErrorCode.REFUSED_STREAM, []]);
  });

  it("is not sent again once it is cancelled", async () => {
    const { exchange, pass } = await refused(5);
    exchange.cancel();
    expect(await pass(5_000)).toBe(2);
  });
});
