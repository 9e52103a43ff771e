/** The object is evicted at every point of an exchange, once in each message of it, either way. */
import { env, evictDurableObject, runInDurableObject, SELF } from "cloudflare:test";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { ErrorCode, RopewayError } from "../../shared/errors.ts";
import { PAIR_PATH, SUBPROTOCOL, TOKEN_PREFIX, TUNNEL_PATH } from "../../shared/subprotocol.ts";
import { scriptFetch } from "../../shared/testing/http/request-heads.ts";
import type { Transport } from "../../shared/transport.ts";
import { PhoneSession, streamOf } from "../testing/phone-session.ts";
import type { WorkerEnvironment } from "./worker-environment.ts";

const BASE = "https://ropeway.test";
const URL_ASKED = "http://a.example/x";
const { ROPEWAY_ACCESS_KEY, TUNNEL } = env as unknown as WorkerEnvironment;

/** Counts the messages of its socket, both ways, and waits for one of them. */
class CountingPhone extends PhoneSession {
  messages = 0;
  /** Called with each message's number. */
  onMessage: (message: number) => void = () => {};
  /** Resolves when its socket is closed. */
  lost: Promise<void> = Promise.resolve();

  /** @param meanwhile what happens before the first frame is sent. */
  async connect(token: string, meanwhile?: () => Promise<void>): Promise<void> {
    const response = await SELF.fetch(BASE + TUNNEL_PATH, {
      headers: { upgrade: "websocket", "sec-websocket-protocol": `${SUBPROTOCOL}, ${TOKEN_PREFIX}${token}` },
    });
    const socket = response.webSocket;
    if (socket === null) throw new Error("Cannot open the tunnel: there is no socket");
    socket.accept();
    const transport: Transport = {
      send: (message) => {
        socket.send(message);
        this.#count();
        return true;
      },
      close: (code, reason) => socket.close(code, reason),
    };
    socket.addEventListener("message", ({ data }) => {
      this.session.channel.receive(new Uint8Array(data as ArrayBuffer), transport);
      this.#count();
    });
    this.lost = new Promise((resolve) => {
      socket.addEventListener("close", () => {
        this.session.channel.detach(transport);
        resolve();
      });
    });
    await meanwhile?.();
    this.session.channel.attach(transport);
  }

  #count(): void {
    this.messages += 1;
    this.onMessage(this.messages);
  }
}

let calls = 0;

beforeEach(() => {
  calls = 0;
  vi.spyOn(globalThis, "fetch").mockImplementation(async (input) => {
    calls += 1;
    const pieces = ["one, ", "two, ", `${(await (input as Request).text()).length}`];
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        // Longer than an eviction takes, so that each piece is a point of its own.
        await new Promise((resolve) => setTimeout(resolve, 40));
        const piece = pieces.shift();
        if (piece === undefined) controller.close();
        else controller.enqueue(new TextEncoder().encode(piece));
      },
    });
    return new Response(body, { headers: { "content-type": "image/png" } });
  });
});
afterEach(() => void vi.restoreAllMocks());

async function pairDevice(): Promise<{ readonly token: string; readonly stub: DurableObjectStub }> {
  const response = await SELF.fetch(BASE + PAIR_PATH, {
    method: "POST",
    headers: { authorization: `Bearer ${ROPEWAY_ACCESS_KEY}` },
  });
  const { token } = await response.json<{ token: string }>();
  return { token, stub: TUNNEL.get(TUNNEL.idFromName(token.split(".")[0] ?? "")) };
}

/** Makes an exchange, with an upload, for each point of it. @returns how many there were. */
async function atEveryPoint(
  evict: (stub: DurableObjectStub) => Promise<void>,
  method: string,
  check: (phone: CountingPhone, token: string, answer: Promise<string>) => Promise<void>,
): Promise<number> {
  for (let point = 2; ; point += 1) {
    const { token, stub } = await pairDevice();
    const phone = new CountingPhone();
    await phone.connect(token);
    calls = 0;
    const evicted = Promise.withResolvers<unknown>();
    phone.onMessage = (message) => {
      if (message === point) evict(stub).then(evicted.resolve, evicted.resolve);
    };
    const answer = phone.fetch(URL_ASKED, exchange(method, false)).then(({ text }) => text);
    answer.catch(() => {});
    await check(phone, token, answer);
    if (phone.messages < point) return point - 2;
    await evicted.promise;
  }
}

const exchange = (method: string, isRepeat: boolean) => ({
  ...scriptFetch("http://a.example"),
  method,
  body: streamOf(new Uint8Array(8_000).fill(97), new Uint8Array(2_000).fill(98)),
  delivery: { id: method === "POST" ? "AAAAAAAAAAA" : null, isRepeat, continuation: null },
});

/** Milliseconds for all points of an exchange, on a busy machine. */
const TIMEOUT = 120_000;
const WHOLE = "one, two, 10000";

/** Waits until the object may go: what is under way ends before. */
const hibernate = (stub: DurableObjectStub): Promise<void> => evictDurableObject(stub);
/** Waits for nothing, and takes the sockets along. */
const crash = (stub: DurableObjectStub): Promise<void> =>
  runInDurableObject(stub, (_, state) => state.abort("evicted by the test"));

it("with its socket kept: the exchange ends as if nothing had been, and the session goes on", {
  timeout: TIMEOUT,
}, async () => {
  let points = 0;
  for (const piece of [1, 2, 3, 4, 5, 6]) {
    const { token, stub } = await pairDevice();
    const phone = new CountingPhone();
    await phone.connect(token);
    calls = 0;
    let evicted: Promise<void> | null = null;
    phone.onMessage = (message) => {
      if (message === 1 + piece) evicted = hibernate(stub);
    };
    expect([(await phone.fetch(URL_ASKED, exchange("POST", false))).text, calls]).toEqual([WHOLE, 1]);
    if (evicted !== null) points += 1;
    await evicted;
    phone.onMessage = () => {};
    expect((await phone.fetch(URL_ASKED, exchange("PUT", false))).text).toBe(WHOLE);
    expect(phone.ended).toBeNull();
  }
  expect(points).toBe(6);
});

it("before anything was said on a socket: what is said then begins a session", { timeout: TIMEOUT }, async () => {
  const { token, stub } = await pairDevice();
  const phone = new CountingPhone();
  await phone.connect(token, () => hibernate(stub));
  expect((await phone.fetch(URL_ASKED, exchange("PUT", false))).text).toBe(WHOLE);
  await hibernate(stub);
  expect((await phone.fetch(URL_ASKED, exchange("PUT", false))).text).toBe(WHOLE);
  expect(phone.ended).toBeNull();
});

it.each(["POST", "PUT"])(
  "at once, as in a crash: a %s is answered in the next session, or was sent before",
  { timeout: TIMEOUT },
  async (method) => {
    const outcomes = new Set<string>();
    const points = await atEveryPoint(crash, method, async (phone, token, answer) => {
      const first = await Promise.race([answer, phone.lost.then(() => null)]);
      if (first !== null) return expect(first).toBe(WHOLE);
      const next = new CountingPhone();
      await next.connect(token);
      const callsBefore = calls;
      const second = await next.fetch(URL_ASKED, exchange(method, true)).then(
        ({ text }) => text,
        (error: unknown) => (error instanceof RopewayError ? error.code : String(error)),
      );
      outcomes.add(`${callsBefore > 0 ? "sent" : "not sent"}: ${second}`);
      if (method === "POST") expect(calls).toBeLessThanOrEqual(1);
    });
    expect(points).toBeGreaterThan(5);
    const repeated = method === "POST" ? ErrorCode.ALREADY_SENT : WHOLE;
    expect([...outcomes]).toEqual(expect.arrayContaining([`not sent: ${WHOLE}`, `sent: ${repeated}`]));
    // Between the log and the request: what may have been sent counts as sent.
    const atTheLog = `not sent: ${ErrorCode.ALREADY_SENT}`;
    expect(
      [...outcomes].every((outcome) => outcome.endsWith(`: ${repeated}`) || outcome === `not sent: ${WHOLE}`),
    ).toBe(true);
    expect(method === "PUT" && outcomes.has(atTheLog)).toBe(false);
  },
);
