import { describe, expect, it } from "vitest";
import { ErrorCode, RopewayError } from "../../../shared/errors.ts";
import { responseHead } from "../../../shared/testing/http/exchange-rig.ts";
import { settle } from "../../../shared/testing/turns.ts";
import { PORT_CREDIT_BYTES, type PortRequestHead, type SlotBinding } from "../../messages/port-messages.ts";
import { HeldResponse, holdNavigation } from "../requests/held-responses.ts";
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

describe("SlotPort", () => {
  it("says first what it is bound to, and answers a ping", async () => {
    expect(await slotRig(FRAME).say({ type: "ping" })).toMatchObject([
      { type: "bound", binding: FRAME },
      { type: "pong" },
    ]);
  });

  it("says whether the person saves data, and again when that changes, until it is closed", async () => {
    const { wishes, ports, heard, far } = slotRig();
    wishes.savesData = true;
    for (const port of ports) port.introduce();
    expect(await heard()).toMatchObject([
      { type: "bound", savesData: false },
      { type: "bound", savesData: true },
    ]);
    far.close();
    await settle();
    expect(ports.size).toBe(0);
  });

  it("shows a page nothing of what the edge tells the store", async () => {
    const slot = slotRig();
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

  it("tells a page nothing of how a response goes on", async () => {
    const slot = slotRig();
    await slot.ask(subresource);
    const resumption = { range: { first: 0, last: 9, total: 10 }, validator: '"v1"' };
    slot.first().consumer.onHead({ ...responseHead, url: URL_A, resumption });
    const [message] = await slot.heard();
    expect(message).toMatchObject({ type: "response", head: { status: 200 } });
    expect(message).not.toHaveProperty("head.resumption");
  });

  const file: PortRequestHead = { ...subresource, mode: "same-origin", isFile: true };

  it.each([
    ["a document", navigation],
    ["a file", file],
  ])("hands %s over to be written, and not a byte of it to the page", async (_, head) => {
    const slot = slotRig();
    await slot.ask(head);
    const { consumer } = slot.first();
    consumer.onHead({ ...responseHead, url: URL_A });
    void consumer.onBody(Uint8Array.of(1));
    expect(typesOf(await slot.heard())).toEqual(["response"]);
    expect(typesOf(await slot.say({ type: "hold", id: 1, file: "a.bin" }))).toEqual([]);
    expect(slot.files).toMatchObject([{ name: "a.bin", request: { url: URL_A, topLevelOrigin: ORIGIN } }]);
    expect(slot.first().cancelled).toBe(false);
  });

  it.each<[string, PortRequestHead, string]>([
    ["that the page has", subresource, URL_A],
    ["of another origin", { ...file, mode: "no-cors", url: `${OTHER}/a` }, `${OTHER}/a`],
    ["that leads to another origin", file, `${OTHER}/a`],
  ])("writes no file of a response %s", async (_, head, url) => {
    const slot = slotRig();
    await slot.ask(head);
    slot.first().consumer.onHead({ ...responseHead, url });
    await slot.heard();
    await slot.say({ type: "hold", id: 1, file: "a.bin" });
    expect([slot.files, slot.first().cancelled]).toEqual([[], true]);
  });

  it("does nothing of what its service worker has given up meanwhile", async () => {
    const slot = slotRig();
    const request = { type: "request", id: 1, head: subresource, body: null };
    const late = await slot.say({ type: "ping", until: Date.now() - 1 }, request);
    expect(late.at(-1)).toEqual({ type: "pong", isLate: true });
    expect(slot.requests).toEqual([]);
    expect(typesOf(await slot.say({ type: "ping", until: Date.now() + 60_000 }, request))).toEqual(["pong"]);
    expect(slot.requests).toHaveLength(1);
  });

  it("passes head, body and end on", async () => {
    const slot = slotRig();
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
      const slot = slotRig(binding);
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
    expect(told).toEqual([
      [{ type: "document", kind: "broken", url: URL_A, id: null, code, message: "it closed" }],
      [],
      [],
    ]);
  });

  it("tells of the address of another app that a page is led to, if it is one", async () => {
    const slot = slotRig(TOP_LEVEL);
    for (const leadsTo of ["tel:+49301234", "nonsense", 7, "https://b.example/", "intent://x"])
      await slot.say({ type: "no-document", url: URL_A, leadsTo } as never);
    const told = { origin: ORIGIN, url: URL_A };
    expect(slot.noDocuments).toEqual([{ ...told, leadsTo: "tel:+49301234" }, told, told, told, told]);
  });

  it("tells of pages without a document only in a top-level slot", async () => {
    for (const binding of [TOP_LEVEL, FRAME]) {
      const slot = slotRig(binding);
      await slot.say({ type: "no-document" });
      await slot.say({ type: "no-document", url: URL_A });
      await slot.say({ type: "no-document", url: "https://another.example/" });
      const [unsaid, said] = [{ origin: ORIGIN }, { origin: ORIGIN, url: URL_A }];
      expect(slot.noDocuments).toEqual(binding.topLevel ? [unsaid, said, unsaid] : []);
    }
  });
});

it("cancels what a service worker that was ended had open, and gives its credit back, but keeps what is held", async () => {
  const slot = slotRig();
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
  const slot = slotRig(binding);
  const document = { type: "silent-document", url, title: "page", phase: "loading" };
  await slot.say(document);
  expect(slot.silentDocuments).toEqual(Array(times).fill({ ...document, id: null }));
});

it("heeds no word of a silent document that is none", async () => {
  const slot = slotRig();
  const document = { type: "silent-document", url: URL_A, title: "page", phase: "loading" };
  for (const odd of [{ title: { __e: 1 } }, { title: 7 }, { phase: "left" }, { url: `blob:${URL_A}` }, { url: {} }])
    await slot.say({ ...document, ...odd });
  expect(slot.silentDocuments).toEqual([]);
  await slot.say({ ...document, more: "of it" });
  expect(slot.silentDocuments).toEqual([{ ...document, id: null }]);
});

it("says by which of the shell's navigations a silent document has come, whatever the slot says", async () => {
  const slot = slotRig();
  const begun = new HeldResponse(null, 7);
  begun.onHead({ ...responseHead, url: URL_A });
  holdNavigation(slot.held, ORIGIN, URL_A, begun);
  await slot.ask(navigation);
  const told = ["/page#part", "/frame"].map((path) => ({ url: ORIGIN + path, title: "", phase: "loading" }));
  for (const document of told) await slot.say({ type: "silent-document", id: 1, ...document });
  expect(slot.silentDocuments).toMatchObject([{ id: 7 }, { id: null }]);
});

describe("a form that leads a frame to another origin", () => {
  const head = { ...navigation, url: `${OTHER}/form`, method: "POST", destination: "iframe", form: "1" } as const;
  const wanted = { url: `${OTHER}/form`, form: { name: "1", from: TOP_LEVEL } };

  it("is kept until the shell says who sends it, and goes without fields that no form has", async () => {
    const slot = slotRig();
    const headers = [
      ["x-own", "1"],
      ["content-type", "text/plain"],
    ] as const;
    const body = new TextEncoder().encode("a=1").buffer;
    const answers = await slot.say({ type: "request", id: 1, head: { ...head, headers }, body });
    expect(typesOf(answers)).toEqual(["response", "end"]);
    expect(slot.requests).toEqual([]);
    const sent = slot.frameStarts.takeForm(wanted);
    expect(sent?.headers).toEqual([["content-type", "text/plain"]]);
    expect(await new Response(sent?.body).text()).toBe("a=1");
  });

  it("streams a large body once it is wanted, and breaks off with its service worker", async () => {
    const slot = slotRig();
    await slot.say({ type: "request", id: 1, head, body: "stream" });
    const reader = slot.frameStarts.takeForm(wanted)?.body?.getReader();
    const first = reader?.read();
    expect(typesOf(await slot.heard())).toContain("body-wanted");
    await slot.say({ type: "body", id: 1, chunk: Uint8Array.of(1) });
    expect((await first)?.value).toEqual(Uint8Array.of(1));
    const second = expect(reader?.read()).rejects.toThrow("was ended");
    slot.far.close();
    await second;
  });

  it("is refused where it does not come as one", async () => {
    for (const other of [{ form: "" }, { method: "PUT" }, { form: undefined }]) {
      const slot = slotRig();
      const answers = await slot.say({ type: "request", id: 1, head: { ...head, ...other }, body: null });
      expect(errorCodes(answers)).toEqual([ErrorCode.PROTOCOL_ERROR]);
    }
  });
});

describe("a frame of another origin", () => {
  const start = { referrer: "https://top.example/", initiator: "https://top.example" };

  it("is asked for in the name of who sent it there, and its slot is told", async () => {
    const slot = slotRig(FRAME);
    slot.frameStarts.add(FRAME, URL_A, start);
    await slot.ask({ ...navigation, destination: "iframe", referrer: "https://slot.ropeway.example/" });
    const { head, consumer } = slot.first();
    expect(head).toMatchObject({ destination: "iframe", referrer: start.referrer, origin: start.initiator });
    consumer.onHead({ ...responseHead, url: URL_A });
    expect(await slot.heard()).toContainEqual(expect.objectContaining({ type: "response", referrer: start.referrer }));
  });

  it("goes on in its own name", async () => {
    const slot = slotRig(FRAME);
    slot.frameStarts.add(FRAME, URL_A, start);
    await slot.ask({ ...navigation, destination: "frame", referrer: `${ORIGIN}/before` });
    expect(slot.first().head).toMatchObject({ destination: "frame", referrer: `${ORIGIN}/before`, origin: ORIGIN });
  });

  it("is never taken for the person's own navigation", async () => {
    const slot = slotRig(FRAME);
    await slot.ask({ ...navigation, referrer: "https://slot.ropeway.example/" });
    expect(slot.first().head).toMatchObject({ referrer: "", origin: FRAME.topLevelOrigin });
  });
});
