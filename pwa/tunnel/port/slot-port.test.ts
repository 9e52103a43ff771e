import { afterEach, describe, expect, it } from "vitest";
import { setTimer } from "../../../shared/clock.ts";
import { ErrorCode, RopewayError } from "../../../shared/errors.ts";
import type { ResponseConsumer } from "../../../shared/http/client-exchange.ts";
import type { RequestHead } from "../../../shared/http/heads.ts";
import { EdgeRequest } from "../../../shared/subprotocol.ts";
import { ConsumerLog, responseHead } from "../../../shared/testing/exchange-rig.ts";
import { settle } from "../../../shared/testing/turns.ts";
import type { PortRequestHead, PortToTunnel, SilentDocument, TunnelToPort } from "../../messages/port-messages.ts";
import { HELD_RESPONSE_TIME, PORT_CREDIT_BYTES } from "../../messages/port-messages.ts";
import type { SlotBinding } from "../../messages/tunnel-messages.ts";
import { heldNavigations, holdNavigation } from "../requests/held-navigations.ts";
import { HeldResponse } from "../requests/held-response.ts";
import { HeldResponses } from "../requests/held-responses.ts";
import { type Ask, askInOrder } from "../requests/response-source.ts";
import { FrameStarts } from "./frame-starts.ts";
import { SlotPort } from "./slot-port.ts";

const ORIGIN = "https://a.example";
const URL_A = `${ORIGIN}/page`;
const OTHER = "https://b.example";
const TOP_LEVEL: SlotBinding = { origin: ORIGIN, topLevelOrigin: ORIGIN, topLevel: true };
const FRAME: SlotBinding = { origin: ORIGIN, topLevelOrigin: "https://top.example", topLevel: false };

const subresource: PortRequestHead = {
  method: "GET",
  url: URL_A,
  headers: [],
  destination: "",
  mode: "cors",
  credentials: "same-origin",
  redirect: "follow",
  referrer: "",
};
const navigation: PortRequestHead = { ...subresource, mode: "navigate", destination: "document" };

interface HostRequest {
  readonly head: RequestHead;
  readonly body: ReadableStream<Uint8Array> | null;
  readonly consumer: ResponseConsumer;
  cancelled: boolean;
}

const ports: MessagePort[] = [];
afterEach(() => {
  for (const port of ports.splice(0)) port.close();
});

/** A slot port whose slot is played by the test, and whose tunnel writes down what it is asked. */
function rig(binding: SlotBinding = TOP_LEVEL) {
  const { port1, port2 } = new MessageChannel();
  ports.push(port1, port2);
  const requests: HostRequest[] = [];
  const received: TunnelToPort[] = [];
  const moved: string[] = [];
  const noDocuments: string[] = [];
  const silentDocuments: SilentDocument[] = [];
  const brokenDocuments: unknown[] = [];
  const failedDocuments: unknown[] = [];
  const keptFrom = new Set<string>();
  const held = new HeldResponses({ setTimer: () => () => {} }, HELD_RESPONSE_TIME);
  const network: Ask = ({ head, body }, consumer) => {
    const request: HostRequest = { head, body, consumer, cancelled: false };
    requests.push(request);
    return {
      cancel: () => {
        request.cancelled = true;
      },
    };
  };
  const frameStarts = new FrameStarts();
  port2.onmessage = (event: MessageEvent<readonly TunnelToPort[]>) => received.push(...event.data);
  new SlotPort(port1, binding, {
    ask: askInOrder([heldNavigations(held)], network),
    held,
    frameStarts,
    onNavigationMoved: (id, url) => moved.push(`${id} ${url}`),
    onNoDocument: (origin) => noDocuments.push(origin),
    isPageKept: (url) => keptFrom.has(url),
    onDocumentFailed: (failure) => failedDocuments.push(failure),
    onSilentDocument: (document) => silentDocuments.push(document),
    onBrokenDocument: (document) => brokenDocuments.push(document),
    setTimer: (task) => setTimer(task, 0),
  });
  return {
    requests,
    moved,
    noDocuments,
    silentDocuments,
    brokenDocuments,
    failedDocuments,
    keptFrom,
    held,
    frameStarts,
    far: port2,
    /** Posts messages as one turn's, and returns what came back. */
    async say(...messages: readonly unknown[]): Promise<TunnelToPort[]> {
      port2.postMessage(messages);
      await settle();
      return received.splice(0);
    },
    async ask(head: PortRequestHead, id = 1, body: ArrayBuffer | "stream" | null = null): Promise<TunnelToPort[]> {
      return this.say({ type: "request", id, head, body } satisfies PortToTunnel);
    },
    async heard(): Promise<TunnelToPort[]> {
      await settle();
      return received.splice(0);
    },
    first(): HostRequest {
      const request = requests[0];
      if (request === undefined) throw new Error("Cannot look at a request: none was made");
      return request;
    },
  };
}

function typesOf(messages: readonly TunnelToPort[]): string[] {
  return messages.map((message) => message.type).filter((type) => type !== "bound");
}

function errorCodes(messages: readonly TunnelToPort[]): number[] {
  return messages.flatMap((message) => (message.type === "error" ? [message.code] : []));
}

describe("SlotPort", () => {
  it("says first what it is bound to, and answers a ping", async () => {
    expect(await rig(FRAME).say({ type: "ping" })).toMatchObject([{ type: "bound", binding: FRAME }, { type: "pong" }]);
  });

  it("shows a page nothing of what the edge tells the store", async () => {
    const slot = rig();
    await slot.ask(subresource);
    const shown = ["cache-control", "max-age=600"] as const;
    slot.first().consumer.onHead({
      status: 200,
      headers: [shown, ["ropeway-age", "5"], ["ropeway-cleared", "https://b.example"]],
      url: subresource.url,
      redirected: false,
      coding: "identity",
      scriptCookies: [],
    });
    expect(await slot.heard()).toMatchObject([{ type: "response", head: { headers: [shown] } }]);
  });

  it("does nothing of what its service worker has given up meanwhile", async () => {
    const slot = rig();
    const request = { type: "request", id: 1, head: subresource, body: null };
    const late = await slot.say({ type: "ping", until: Date.now() - 1 }, request);
    expect(late.at(-1)).toEqual({ type: "pong", isLate: true });
    expect(slot.requests).toEqual([]);
    expect(typesOf(await slot.say({ type: "ping", until: Date.now() + 60_000 }, request))).toEqual(["pong"]);
    expect(slot.requests).toHaveLength(1);
  });

  it("passes head, body and end on", async () => {
    const slot = rig();
    await slot.ask(subresource);
    const { consumer } = slot.first();
    consumer.onHead({ ...responseHead, url: URL_A });
    await settle();
    void consumer.onBody(Uint8Array.of(1, 2));
    consumer.onEnd();
    expect(typesOf(await slot.heard())).toEqual(["response", "data", "end"]);
  });

  it("tells of documents whose bodies broke off, in a top-level slot, and of nothing else that did", async () => {
    const asked: [SlotBinding, PortRequestHead][] = [
      [TOP_LEVEL, navigation],
      [TOP_LEVEL, subresource],
      [FRAME, navigation],
    ];
    const told: unknown[][] = [];
    for (const [binding, head] of asked) {
      const slot = rig(binding);
      await slot.ask(head);
      const { consumer } = slot.first();
      consumer.onHead({ ...responseHead, url: URL_A });
      await settle();
      await slot.say({ type: "credit", id: 1, bytes: 100 });
      consumer.onError(new RopewayError(ErrorCode.CONNECTION_RESET, "stream", "origin", "it closed"));
      expect(errorCodes(await slot.heard())).toEqual([ErrorCode.CONNECTION_RESET]);
      told.push(slot.brokenDocuments);
    }
    const code = ErrorCode.CONNECTION_RESET;
    expect(told).toEqual([[{ type: "broken-document", url: URL_A, code, message: "it closed" }], [], []]);
  });

  it("tells of pages without a document only in a top-level slot", async () => {
    for (const binding of [TOP_LEVEL, FRAME]) {
      const slot = rig(binding);
      await slot.say({ type: "no-document" });
      expect(slot.noDocuments).toEqual(binding.topLevel ? [ORIGIN] : []);
    }
  });
});

it("cancels what a service worker that was ended had open, and gives its credit back, but keeps what is held", async () => {
  const slot = rig();
  await slot.ask(subresource, 1);
  await slot.ask({ ...subresource, url: `${ORIGIN}/waiting` }, 2);
  await slot.ask({ ...navigation, url: `${ORIGIN}/held` }, 3);
  const [open, waiting, held] = slot.requests;
  open?.consumer.onHead({ ...responseHead, url: URL_A });
  held?.consumer.onHead({ ...responseHead, url: `${ORIGIN}/held` });
  await settle();
  const taken = open?.consumer.onBody(new Uint8Array(PORT_CREDIT_BYTES));
  await slot.say({ type: "hold", id: 3 });
  slot.far.close();
  await taken;
  expect([open, waiting, held].map((request) => request?.cancelled)).toEqual([true, true, false]);
});

it.each([
  ["of a top-level slot", TOP_LEVEL, URL_A, 1],
  ["of a frame's slot", FRAME, URL_A, 0],
  ["of another origin", TOP_LEVEL, `${OTHER}/page`, 0],
  ["of no address", TOP_LEVEL, undefined, 0],
])("tells of a silent document %s as the shell may take it", async (_what, binding, url, times) => {
  const slot = rig(binding);
  const document = { type: "silent-document", url, title: "page", phase: "loading" };
  await slot.say(document);
  expect(slot.silentDocuments).toEqual(Array(times).fill(document));
});

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
    const slot = rig();
    expect(errorCodes(await slot.say({ type: "request", id: 1, head, body: null }))).toEqual([
      ErrorCode.PROTOCOL_ERROR,
    ]);
    expect(slot.requests).toEqual([]);
  });

  it("stamps a navigation from the binding", async () => {
    for (const binding of [TOP_LEVEL, FRAME]) {
      const slot = rig(binding);
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
      const slot = rig();
      await slot.ask(head);
      expect(slot.first().head).toMatchObject({ origin, referrer: head.referrer });
    }
  });

  it("stamps other requests from the binding, and makes none a document", async () => {
    for (const destination of ["document", "iframe", "frame"] as const) {
      const slot = rig(FRAME);
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

  it("lets no page name what is stored", async () => {
    const stored = { hash: "x".repeat(22), size: 1000 };
    for (const head of [navigation, subresource]) {
      const slot = rig();
      await slot.ask({ ...head, ...{ stored } });
      expect(slot.first().head).not.toHaveProperty("stored");
    }
  });

  it("lets nothing of another origin be the referrer, whatever asks", async () => {
    for (const destination of ["font", "image", "style"] as const) {
      const slot = rig();
      await slot.ask({ ...subresource, destination, referrer: `${OTHER}/s.css` });
      expect(slot.first().head.referrer).toBe("");
    }
  });

  it.each([
    ["asks for it as a navigation", navigation],
    ["asks for it as a script's fetch", subresource],
  ])("hands a navigation that moved over to the other origin when the slot %s", async (_, head) => {
    const slot = rig();
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

  describe("whose document does not come", () => {
    const reset = new RopewayError(ErrorCode.CONNECTION_RESET, "stream", "origin", "Cannot load: reset");

    it("cancels the navigation where a page stays, and says so where the page itself went there", async () => {
      for (const isShells of [true, false]) {
        const slot = rig();
        slot.keptFrom.add(URL_A);
        const response = new HeldResponse("", 7);
        if (isShells) holdNavigation(slot.held, ORIGIN, URL_A, response);
        await slot.ask(navigation);
        (isShells ? response : slot.first().consumer).onError(reset);
        expect(errorCodes(await slot.heard())).toEqual([ErrorCode.CANCEL]);
        const failure = {
          type: "document-failed",
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
      const slot = rig(binding);
      slot.keptFrom.add(URL_A);
      await slot.ask(head);
      slot.first().consumer.onError(reset);
      expect(errorCodes(await slot.heard())).toEqual([reset.code]);
      expect(slot.failedDocuments).toEqual([]);
    });
  });

  it("keeps a navigation that moved from a slot that uses one id twice", async () => {
    const slot = rig();
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
    const slot = rig();
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
    const slot = rig();
    const response = new HeldResponse();
    holdNavigation(slot.held, ORIGIN, URL_A, response);
    await slot.ask(navigation, 1);
    expect(errorCodes(await slot.ask(navigation, 2))).toEqual([ErrorCode.CANCEL]);
    response.onHead({ ...responseHead, url: URL_A });
    const heads = (await slot.heard()).filter(({ type }) => type === "response");
    expect(heads).toMatchObject([{ id: 2 }]);
    expect(slot.requests).toEqual([]);
  });

  it("leaves a navigation the response that it reads, or that it asked for itself", async () => {
    const slot = rig();
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
      const slot = rig(binding);
      holdNavigation(slot.held, ORIGIN, URL_A, new HeldResponse(""));
      await slot.ask(head);
      expect(slot.requests).toHaveLength(mayClaim ? 0 : 1);
    }
  });

  it("sets script cookies for its own origin's documents alone", async () => {
    const slot = rig(FRAME);
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
    const slot = rig();
    const unknown = ["body", "body-end", "credit", "cancel", "hold"].map((type) => ({ type, id: 7, bytes: 1 }));
    expect(typesOf(await slot.say(...unknown, { type: "ping" }))).toEqual(["pong"]);
  });
});

describe("SlotPort's redirected responses", () => {
  const final = `${ORIGIN}/final`;

  async function redirected() {
    const slot = rig();
    await slot.ask(subresource);
    const { consumer } = slot.first();
    consumer.onHead({ ...responseHead, url: final, redirected: true });
    void consumer.onBody(new Uint8Array(4));
    expect(typesOf(await slot.heard())).toEqual(["response"]);
    return slot;
  }

  it("go on with credit", async () => {
    const slot = await redirected();
    expect(typesOf(await slot.say({ type: "credit", id: 1, bytes: 100 }))).toEqual(["data"]);
  });

  it("are kept for the request for the final URL", async () => {
    const slot = await redirected();
    await slot.say({ type: "hold", id: 1 });
    expect(typesOf(await slot.ask({ ...subresource, url: final }, 2))).toEqual(["response", "data"]);
    expect(slot.requests).toHaveLength(1);
  });

  it("end when cancelled", async () => {
    const slot = await redirected();
    await slot.say({ type: "cancel", id: 1 });
    expect(slot.first().cancelled).toBe(true);
  });

  it("of another origin are not kept", async () => {
    const slot = rig();
    await slot.ask(subresource);
    slot.first().consumer.onHead({ ...responseHead, url: `${OTHER}/x`, redirected: true });
    await settle();
    await slot.say({ type: "hold", id: 1 });
    expect(slot.first().cancelled).toBe(true);
  });
});

describe("SlotPort's pacing", () => {
  const CHUNK = 32 * 1024;

  async function started() {
    const slot = rig();
    await slot.ask(subresource);
    const { consumer } = slot.first();
    consumer.onHead({ ...responseHead, url: URL_A });
    await slot.heard();
    return { slot, consumer };
  }

  it("delivers and takes all chunks of a large body, several of which wait at a time", async () => {
    const { slot, consumer } = await started();
    const count = 128;
    let taken = 0;
    let unread = 0;
    let delivered = 0;
    for (let sent = 0; sent < count; sent += 16) {
      for (let index = 0; index < 16; index += 1) {
        const ready = consumer.onBody(new Uint8Array(CHUNK));
        if (ready === undefined) taken += 1;
        else void ready.then(() => (taken += 1));
      }
      for (const message of await slot.heard()) {
        if (message.type !== "data") continue;
        delivered += message.chunk.length;
        unread += message.chunk.length;
      }
      await slot.say({ type: "credit", id: 1, bytes: unread });
      unread = 0;
    }
    expect([taken, delivered]).toEqual([count, count * CHUNK]);
  });

  it("makes the edge wait at the credit, until the page reads", async () => {
    const { slot, consumer } = await started();
    const chunks = PORT_CREDIT_BYTES / CHUNK;
    const waits: (Promise<void> | undefined)[] = [];
    for (let index = 0; index < chunks + 2; index += 1) waits.push(consumer.onBody(new Uint8Array(CHUNK)));
    expect(waits.map((wait) => wait !== undefined)).toEqual([...Array(chunks - 1).fill(false), true, true, true]);
    await slot.say({ type: "credit", id: 1, bytes: 3 * CHUNK });
    await Promise.all(waits);
  });

  it.each(["end", "error", "cancel", "hold"])("leaves no chunk waiting at %s", async (how) => {
    const { slot, consumer } = await started();
    const wait = consumer.onBody(new Uint8Array(PORT_CREDIT_BYTES + 1));
    if (how === "end") consumer.onEnd();
    else if (how === "error") consumer.onError(new RopewayError(ErrorCode.INTERNAL_ERROR, "stream", "peer", "x"));
    else await slot.say({ type: how, id: 1 });
    await expect(wait).resolves.toBeUndefined();
  });

  it("transfers no buffer that other frames live in", async () => {
    const { slot, consumer } = await started();
    const message = new Uint8Array(65_536);
    void consumer.onBody(message.subarray(100, 40_100));
    expect(typesOf(await slot.heard())).toEqual(["data"]);
    expect(message.length).toBe(65_536);
  });
});

describe("SlotPort's uploads", () => {
  it("ask for a chunk at a time and end", async () => {
    const slot = rig();
    await slot.ask({ ...subresource, method: "POST" }, 1, "stream");
    const reader = slot.first().body?.getReader();
    for (const byte of [1, 2, 3]) {
      const read = reader?.read();
      expect(typesOf(await slot.heard())).toEqual(["body-wanted"]);
      await slot.say({ type: "body", id: 1, chunk: Uint8Array.of(byte) });
      expect((await read)?.value).toEqual(Uint8Array.of(byte));
    }
    const last = reader?.read();
    await slot.say({ type: "body-end", id: 1 }, { type: "body", id: 1, chunk: Uint8Array.of(4) });
    expect((await last)?.done).toBe(true);
  });

  it("take nothing but bytes, and nothing after they were given up", async () => {
    const slot = rig();
    await slot.ask({ ...subresource, method: "POST" }, 1, "stream");
    const reader = slot.first().body?.getReader();
    const read = reader?.read();
    await slot.say({ type: "body", id: 1, chunk: "text" }, { type: "body", id: 1, chunk: Uint8Array.of(5) });
    expect((await read)?.value).toEqual(Uint8Array.of(5));
    await reader?.cancel();
    expect(typesOf(await slot.say({ type: "body", id: 1, chunk: Uint8Array.of(6) }, { type: "ping" }))).toContain(
      "pong",
    );
  });

  it("that are small go as one chunk", async () => {
    const slot = rig();
    await slot.ask({ ...subresource, method: "POST" }, 1, Uint8Array.of(7, 8).buffer);
    expect(new Uint8Array(await new Response(slot.first().body).arrayBuffer())).toEqual(Uint8Array.of(7, 8));
  });
});

describe("a frame of another origin", () => {
  const start = { referrer: "https://top.example/", initiator: "https://top.example" };

  it("is asked for in the name of who sent it there, and its slot is told", async () => {
    const slot = rig(FRAME);
    slot.frameStarts.add(FRAME, URL_A, start);
    await slot.ask({ ...navigation, destination: "iframe", referrer: "https://slot.ropeway.example/" });
    const { head, consumer } = slot.first();
    expect(head).toMatchObject({ destination: "iframe", referrer: start.referrer, origin: start.initiator });
    consumer.onHead({ ...responseHead, url: URL_A });
    expect(await slot.heard()).toContainEqual(expect.objectContaining({ type: "response", referrer: start.referrer }));
  });

  it("goes on in its own name", async () => {
    const slot = rig(FRAME);
    slot.frameStarts.add(FRAME, URL_A, start);
    await slot.ask({ ...navigation, destination: "frame", referrer: `${ORIGIN}/before` });
    expect(slot.first().head).toMatchObject({ destination: "frame", referrer: `${ORIGIN}/before`, origin: ORIGIN });
  });

  it("is never taken for the person's own navigation", async () => {
    const slot = rig(FRAME);
    await slot.ask({ ...navigation, referrer: "https://slot.ropeway.example/" });
    expect(slot.first().head).toMatchObject({ referrer: "", origin: FRAME.topLevelOrigin });
  });
});
