import { describe, expect, it } from "vitest";
import { SHARED_BODY_BYTES } from "./shared-responses.ts";
import { settle, sharedWeb } from "./testing/shared-web.ts";

const URL_ASKED = "https://a.example/logo.svg";
const PUBLIC = { "cache-control": "public, max-age=60" };
const PIECE = new Uint8Array(64 * 1024).fill(1);

/** A body that comes as the test says, from an origin that hears of its end. */
function slowOrigin(fields: Record<string, string> = PUBLIC) {
  const heads = Promise.withResolvers<void>();
  const pulls: (() => void)[] = [];
  const aborted: boolean[] = [];
  const web = sharedWeb(async ({ signal }) => {
    const index = aborted.push(false) - 1;
    signal.addEventListener("abort", () => {
      aborted[index] = true;
    });
    await heads.promise;
    let left = 3;
    const body = new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          await new Promise<void>((resolve) => {
            pulls.push(resolve);
            signal.addEventListener("abort", () => resolve());
          });
          signal.throwIfAborted();
          if (left-- === 0) controller.close();
          else controller.enqueue(PIECE.slice());
        },
      },
      { highWaterMark: 0 },
    );
    return new Response(body, { headers: fields });
  });
  const go = async () => {
    await settle();
    for (const pull of pulls.splice(0)) pull();
    await settle();
  };
  return { ...web, aborted, answer: heads.resolve, go };
}

const lengthOf = async (response: Promise<Response>) => (await (await response).arrayBuffer()).byteLength;

describe("requests for the same at the same time", () => {
  it("are one to the origin, and each gets all of it, who comes late too", async () => {
    const web = slowOrigin();
    const first = [lengthOf(web.ask(URL_ASKED)), lengthOf(web.ask(URL_ASKED))];
    await settle();
    web.answer();
    await web.go();
    const late = lengthOf(web.ask(URL_ASKED));
    for (const _ of "123") await web.go();
    expect(await Promise.all([...first, late])).toEqual(Array(3).fill(3 * PIECE.length));
    expect(web.asked.length).toBe(1);
  });

  it("tell who comes late how old it is by then, as the store would", async () => {
    const web = slowOrigin();
    const first = web.ask(URL_ASKED);
    web.answer();
    await web.go();
    web.pass(20);
    const [early, late] = [await first, await web.askElsewhere(URL_ASKED)];
    expect([early.headers.get("age"), late.headers.get("age")]).toEqual([null, "20"]);
    const lengths = Promise.all([lengthOf(first), lengthOf(Promise.resolve(late))]);
    for (const _ of "1234") await web.go();
    expect(await lengths).toEqual(Array(2).fill(3 * PIECE.length));
    expect(web.asked.length).toBe(1);
  });

  it("go on when who asked first leaves, and end with the last", async () => {
    const web = slowOrigin();
    const [first, second] = [new AbortController(), new AbortController()];
    const leaving = web.ask(URL_ASKED, {}, { signal: first.signal });
    const staying = web.ask(URL_ASKED, {}, { signal: second.signal });
    await settle();
    first.abort(new Error("gone"));
    await expect(leaving).rejects.toThrow("gone");
    web.answer();
    const { body } = await staying;
    expect(web.aborted).toEqual([false]);
    const reader = body?.getReader();
    const read = reader?.read();
    await web.go();
    expect((await read)?.value?.length).toBe(PIECE.length);
    second.abort();
    await settle();
    expect(web.aborted).toEqual([true]);
    web.ask(URL_ASKED).catch(() => {});
    await settle();
    expect(web.asked.length).toBe(2);
  });

  it("do not wait for the one that does not read", async () => {
    const web = slowOrigin();
    web.answer();
    const asking = [web.ask(URL_ASKED), web.ask(URL_ASKED)] as const;
    const [slow, fast] = await Promise.all(asking);
    const all = fast.arrayBuffer();
    for (const _ of "1234") await web.go();
    expect((await all).byteLength).toBe(3 * PIECE.length);
    expect((await slow.arrayBuffer()).byteLength).toBe(3 * PIECE.length);
  });

  it("ask each for themselves where the response is not for others, and do not wait the next time", async () => {
    const web = slowOrigin({ "cache-control": "private" });
    const asking = [web.ask(URL_ASKED), web.ask(URL_ASKED)];
    await settle();
    expect(web.asked.length).toBe(1);
    web.answer();
    await Promise.all(asking);
    expect(web.asked.length).toBe(2);
  });

  it("do not wait long for a head, nor for that of what was another's before", async () => {
    const web = slowOrigin({ "cache-control": "private" });
    const first = web.ask(URL_ASKED);
    const second = web.ask(URL_ASKED);
    while (web.asked.length < 2) await settle();
    web.answer();
    await Promise.all([first, second]);
    const before = web.asked.length;
    void web.ask(URL_ASKED);
    void web.ask(URL_ASKED);
    await settle();
    expect(web.asked.length).toBe(before + 2);
  });

  it("ask again by themselves where the first failed", async () => {
    let count = 0;
    const web = sharedWeb(async () => {
      await settle();
      if (++count === 1) throw new TypeError("reset");
      return new Response("body", { headers: PUBLIC });
    });
    const [first, second] = await Promise.allSettled([web.ask(URL_ASKED), web.ask(URL_ASKED)]);
    expect([first?.status, second?.status, web.asked.length]).toEqual(["rejected", "fulfilled", 2]);
  });
});

describe("a body above the bound", () => {
  const large = (last: number) => {
    const bytes = new Uint8Array(SHARED_BODY_BYTES + 3 * PIECE.length).fill(5);
    bytes[bytes.length - 1] = last;
    bytes[10] = last;
    return bytes;
  };

  async function askTwice(first: Uint8Array<ArrayBuffer>, second = first, changed: ResponseInit = { headers: PUBLIC }) {
    const web = sharedWeb(() =>
      web.asked.length === 1
        ? new Response(new Blob([first]).stream(), { headers: PUBLIC })
        : new Response(new Blob([second]).stream(), changed),
    );
    const [fast, slow] = await Promise.all([web.ask(URL_ASKED), web.ask(URL_ASKED)]);
    const all = new Uint8Array(await fast.arrayBuffer());
    return { web, all, slow };
  }

  it("comes whole for the slower, too, by a request of its own", async () => {
    const { web, all, slow } = await askTwice(large(1));
    expect(Buffer.compare(all, large(1))).toBe(0);
    expect(Buffer.compare(new Uint8Array(await slow.arrayBuffer()), large(1))).toBe(0);
    expect(web.asked.length).toBe(2);
  });

  it("is one that comes in very many pieces, too: each costs memory by itself", async () => {
    const count = SHARED_BODY_BYTES / 100;
    const web = sharedWeb(() => {
      let left = count;
      const pull = (controller: ReadableStreamDefaultController<Uint8Array>) =>
        left-- > 0 ? controller.enqueue(Uint8Array.of(1)) : controller.close();
      return new Response(new ReadableStream({ pull }, { highWaterMark: 0 }), { headers: PUBLIC });
    });
    for (let round = 1; round <= 2; round++) {
      expect(await lengthOf(web.ask(URL_ASKED))).toBe(Math.ceil(count));
      await settle();
      expect(web.asked.length).toBe(round);
    }
  });

  it("is never put together of two", async () => {
    const { slow } = await askTwice(large(1), large(2));
    await expect(slow.arrayBuffer()).rejects.toThrow("another by now");
  });

  it.each<[string, ResponseInit]>([
    ["status", { status: 404, headers: PUBLIC }],
    ["validator", { headers: { ...PUBLIC, etag: '"2"' } }],
    ["type", { headers: { ...PUBLIC, "content-type": "text/html" } }],
  ])("does not go on under the head of another: %s", async (_name, changed) => {
    const { slow } = await askTwice(large(1), large(1), changed);
    await expect(slow.arrayBuffer()).rejects.toThrow("another by now");
  });
});
