import { describe, expect, it } from "vitest";
import { ErrorCode, RopewayError } from "../../../shared/errors.ts";
import { READS_MARKED } from "../../../shared/http/phone-fields.ts";
import { responseHead } from "../../../shared/testing/http/exchange-rig.ts";
import { settle } from "../../../shared/testing/turns.ts";
import { PORT_CREDIT_BYTES } from "../../messages/port-messages.ts";
import { ORIGIN, OTHER, slotRig, subresource, typesOf, URL_A } from "./testing/slot-rig.ts";

describe("SlotPort's redirected responses", () => {
  const final = `${ORIGIN}/final`;

  async function redirected() {
    const slot = slotRig();
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
    const slot = slotRig();
    await slot.ask(subresource);
    slot.first().consumer.onHead({ ...responseHead, url: `${OTHER}/x`, redirected: true });
    await settle();
    await slot.say({ type: "hold", id: 1 });
    expect(slot.first().cancelled).toBe(true);
  });
});

it("says of a script with marks whether they have to come out, and shows no page that there are any", async () => {
  const marked = { ...responseHead, url: URL_A, headers: [READS_MARKED] };
  for (const [asked, hasMarks] of [
    [{ ...subresource, destination: "" }, true],
    [{ ...subresource, destination: "script" }, true],
    [{ ...subresource, destination: "script", marksReads: true }, undefined],
    [{ ...subresource, mode: "navigate", destination: "document" }, undefined],
  ] as const) {
    const slot = slotRig();
    await slot.ask(asked);
    slot.first().consumer.onHead(marked);
    const [response] = await slot.heard();
    expect(response).toMatchObject({ type: "response", head: { headers: [] } });
    expect((response as { readonly hasMarks?: boolean }).hasMarks).toBe(hasMarks);
  }
});

describe("SlotPort's pacing", () => {
  const CHUNK = 32 * 1024;

  async function started() {
    const slot = slotRig();
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
  it("ask for some chunks ahead, for one more with each that leaves, say how much has, and end", async () => {
    const slot = slotRig();
    await slot.ask({ ...subresource, method: "POST" }, 1, "stream");
    const reader = slot.first().body?.getReader();
    const first = reader?.read();
    expect(await slot.heard()).toEqual(Array(8).fill({ type: "body-wanted", id: 1, taken: 0 }));
    const chunks = [[1], [2, 2], [3], [4]].map((bytes) => ({ type: "body", id: 1, chunk: Uint8Array.from(bytes) }));
    expect(await slot.say(...chunks)).toEqual([]);
    expect((await first)?.value).toEqual(Uint8Array.of(1));
    for (const [bytes, taken] of [
      [[2, 2], 1],
      [[3], 3],
      [[4], 4],
    ] as const) {
      expect((await reader?.read())?.value).toEqual(Uint8Array.from(bytes));
      expect(await slot.heard()).toEqual([{ type: "body-wanted", id: 1, taken }]);
    }
    const last = reader?.read();
    expect(await slot.heard()).toEqual([{ type: "body-wanted", id: 1, taken: 5 }]);
    // The slot's worker says so for each chunk that was asked for.
    await slot.say({ type: "body-end", id: 1 }, { type: "body-end", id: 1 });
    expect((await last)?.done).toBe(true);
    expect(typesOf(await slot.say({ type: "body-end", id: 1 }, { type: "ping" }))).toEqual(["pong"]);
  });

  it("take nothing but bytes, and nothing after they were given up", async () => {
    const slot = slotRig();
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
    const slot = slotRig();
    await slot.ask({ ...subresource, method: "POST" }, 1, Uint8Array.of(7, 8).buffer);
    expect(new Uint8Array(await new Response(slot.first().body).arrayBuffer())).toEqual(Uint8Array.of(7, 8));
  });
});
