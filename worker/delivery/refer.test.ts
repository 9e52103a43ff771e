import { describe, expect, it, vi } from "vitest";
import type { RequestHead, ResponseHead } from "../../shared/http/heads.ts";
import { bodyName } from "../../shared/http/phone-fields.ts";
import { responseHead } from "../../shared/testing/http/exchange-rig.ts";
import { requestHead } from "../../shared/testing/http/request-heads.ts";
import { References, readAhead } from "./references.ts";

const BODY = "the same as yesterday ".repeat(100);
const sizeOf = (text: string) => new TextEncoder().encode(text).length;

async function nameOf(text: string) {
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return bodyName(Buffer.from(hash).toString("hex"), sizeOf(text));
}

/** In pieces, each in the buffer of the one before, as some platforms give them. */
function inPieces(text: string, size = 100, ends = true): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  const buffer = new Uint8Array(size);
  let at = 0;
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (at >= bytes.length) return ends ? controller.close() : new Promise<void>(() => {});
        const piece = bytes.subarray(at, at + size);
        at += size;
        buffer.set(piece);
        controller.enqueue(buffer.subarray(0, piece.length));
      },
    },
    { highWaterMark: 0 },
  );
}

/** Read as whoever sends it does: piece by piece. */
async function textOf(body: ReadableStream<Uint8Array>, most = Number.POSITIVE_INFINITY): Promise<string> {
  const reader = body.getReader();
  let text = "";
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    text += new TextDecoder().decode(read.value);
    if (text.length >= most) break;
  }
  return text;
}

async function refer(
  body: ReadableStream<Uint8Array>,
  request: Partial<RequestHead> = {},
  response: Partial<ResponseHead> = {},
  references = new References(() => () => {}),
) {
  const head = { ...requestHead, stored: await nameOf(BODY), ...request };
  return references.refer({ head: { ...responseHead, ...response }, body }, head);
}

describe("a body that the phone has named", () => {
  it("goes as a name when it came again", async () => {
    const resumption = { range: null, validator: '"1"' };
    const { head, body } = await refer(inPieces(BODY), {}, { headers: [["etag", '"new"']], resumption });
    expect(body).toBeNull();
    expect(head).toEqual({ ...responseHead, headers: [["etag", '"new"']], isReference: true });
  });

  it.each([
    ["is another of the same length", BODY.replace("yesterday", "some days")],
    ["is longer", `${BODY}.`],
    ["is shorter", BODY.slice(1)],
    ["is empty", ""],
  ])("comes whole when it %s", async (_, text) => {
    const { head, body } = await refer(inPieces(text));
    expect(head).toEqual(responseHead);
    expect(await textOf(body as ReadableStream<Uint8Array>)).toBe(text);
  });

  it.each<[string, Partial<RequestHead>, Partial<ResponseHead>]>([
    ["a redirect led to it: it may be another origin's", {}, { redirected: true }],
    ["it is not to be stored, as what hides a redirect says", {}, { headers: [["cache-control", "no-store"]] }],
    ["it is an error page", {}, { status: 404 }],
    ["its length says that it is another", {}, { headers: [["content-length", "7"]] }],
    ["it is the rest of one", {}, { continues: true }],
    ["nothing was named", { stored: undefined as never }, {}],
    ["what was named is longer than the edge holds", { stored: { hash: "x".repeat(22), size: 2_000_000 } }, {}],
  ])("is not even read where %s", async (_, request, response) => {
    const source = inPieces(BODY);
    const { head, body } = await refer(source, request, response);
    expect([head.isReference, body === source, source.locked]).toEqual([undefined, true, false]);
  });

  it("comes as it is when its origin takes its time, or breaks off", async () => {
    const timer = Promise.withResolvers<() => void>();
    const references = new References((task) => {
      timer.resolve(task);
      return () => {};
    });
    const slow = refer(inPieces(BODY, 100, false), {}, {}, references);
    const late = await timer.promise;
    await new Promise((resolve) => setImmediate(resolve));
    late();
    const { body } = await slow;
    expect(await textOf(body as ReadableStream<Uint8Array>, BODY.length)).toBe(BODY);

    const broken = inPieces(BODY.slice(0, 500)).pipeThrough(
      new TransformStream({ flush: (controller) => controller.error(new Error("reset")) }),
    );
    const { body: rest } = await refer(broken);
    await expect(textOf(rest as ReadableStream<Uint8Array>)).rejects.toThrow("reset");
  });

  it("is read no further than what was named, and its origin is told when nobody wants it", async () => {
    const cancel = vi.fn();
    let pulls = 0;
    const endless = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          pulls += 1;
          controller.enqueue(new Uint8Array(1000));
        },
        cancel,
      },
      { highWaterMark: 0 },
    );
    const { body } = await refer(endless);
    expect(pulls).toBe(3);
    await body?.cancel("stop");
    expect(cancel).toHaveBeenCalledWith("stop");
  });

  it("is not held beside too many others that nobody takes", async () => {
    const references = new References(() => () => {});
    const stored = { hash: "x".repeat(22), size: 1_000_000 };
    const taken = [];
    for (let count = 0; count < 4; count++) taken.push(await refer(inPieces(BODY), { stored }, {}, references));
    const source = inPieces(BODY);
    expect((await refer(source, { stored }, {}, references)).body).toBe(source);
    await Promise.all(taken.map(({ body }) => textOf(body as ReadableStream<Uint8Array>)));
    expect((await refer(inPieces(BODY), {}, {}, references)).head.isReference).toBe(true);
  });
});

it.each([1, 100, 4_096, 10_000])("keeps a body that comes in pieces of %i bytes in few", async (size) => {
  const text = Array.from({ length: 20_000 }, (_, at) => `${at} `).join("");
  const { chunks, rest } = await readAhead(inPieces(text, size), 1_000_000, 1_000, () => () => {});
  expect([rest, Buffer.concat(chunks).toString()]).toEqual(["whole", text]);
  expect(chunks.length).toBeLessThanOrEqual(Math.ceil(text.length / Math.min(4_096, text.length)) + 1);
});
