import { describe, expect, it, vi } from "vitest";
import { ErrorCode } from "../../shared/errors.ts";
import { REPLAYABLE_BODY_BYTES } from "./request-body.ts";
import { ANSWER_TIMEOUT } from "./send.ts";
import { failsWith, fakeWeb, fetchOf, navigationTo } from "./testing/fake-web.ts";

describe("failures", () => {
  /** Rejects `times` times as workerd does, then answers. */
  function losing(times: number) {
    const seen = { tries: 0 };
    const fetch = async () => {
      if (seen.tries++ < times) throw new Error("Network connection lost.");
      return new Response("ok");
    };
    return { seen, fetch };
  }

  it("are explained where the platform does not say, after one more try", async () => {
    const { seen, fetch } = losing(2);
    const { upstream } = fakeWeb({}, { fetch, explainFailure: async () => ErrorCode.CONNECTION_REFUSED });
    await expect(upstream(navigationTo("https://a.example/"))).rejects.toEqual(failsWith(ErrorCode.CONNECTION_REFUSED));
    expect(seen.tries).toBe(2);
  });

  it("do not repeat what changes something", async () => {
    const { seen, fetch } = losing(2);
    const { upstream } = fakeWeb({}, { fetch, explainFailure: async () => null });
    await expect(upstream(fetchOf("https://a.example/", { method: "POST" }))).rejects.toEqual(
      failsWith(ErrorCode.CONNECTION_RESET),
    );
    expect(seen.tries).toBe(1);
  });

  it("are forgotten if the second try goes well", async () => {
    const { upstream } = fakeWeb({}, { fetch: losing(1).fetch });
    expect((await upstream(navigationTo("https://a.example/"))).head.status).toBe(200);
  });

  it("come of an answer that is not final, as platforms hand it out", async () => {
    const early = Object.defineProperty(new Response(), "status", { value: 103 });
    const { upstream } = fakeWeb({}, { fetch: async () => early });
    await expect(upstream(navigationTo("https://a.example/"))).rejects.toEqual(failsWith(ErrorCode.NOT_HTTP));
  });

  /** Held here: in Node the signal of a request that was collected as garbage is never aborted. */
  const unanswered = new Set<Request>();

  /** A fetch that never answers, as the platform's does until its signal aborts. */
  const silence = (request: Request) =>
    new Promise<Response>((_, reject) => {
      unanswered.add(request);
      request.signal.addEventListener("abort", () => reject(request.signal.reason));
    });

  /** Timers that run out when told to. */
  function heldTimers() {
    const running = new Map<number, { ms: number; callback: () => void }>();
    let next = 0;
    const setTimer = (callback: () => void, ms: number) => {
      const id = next++;
      running.set(id, { ms, callback });
      return () => void running.delete(id);
    };
    return { setTimer, running: () => [...running.values()] };
  }

  it.each([
    ["a document", navigationTo("https://a.example/")],
    ["a script's request", fetchOf("https://a.example/poll")],
  ])("include an origin that does not answer in time: %s", async (_, request) => {
    const { setTimer, running } = heldTimers();
    const { upstream } = fakeWeb({}, { fetch: silence, setTimer });
    const response = upstream(request);
    response.catch(() => {});
    await vi.waitFor(() => expect(running().map((timer) => timer.ms)).toEqual([ANSWER_TIMEOUT]), 20_000);
    running()[0]?.callback();
    await expect(response).rejects.toEqual(failsWith(ErrorCode.UPSTREAM_TIMEOUT));
  });

  it("do not blame the origin while the phone is to send the body", async () => {
    const { setTimer, running } = heldTimers();
    const asked = { bytes: 0 };
    const fetch = async (request: Request) => {
      for await (const chunk of request.body ?? []) asked.bytes += chunk.byteLength;
      return silence(request);
    };
    const { upstream } = fakeWeb({}, { fetch, setTimer });
    const length = 2 * REPLAYABLE_BODY_BYTES;
    const phone = new TransformStream<Uint8Array, Uint8Array>();
    const writer = phone.writable.getWriter();
    const response = upstream({
      ...fetchOf("https://a.example/", { method: "POST", headers: [["content-length", String(length)]] }),
      body: phone.readable,
    });
    response.catch(() => {});
    await writer.write(new Uint8Array(length - 1));
    await vi.waitFor(() => expect(asked.bytes).toBe(length - 1), 20_000);
    expect(running()).toEqual([]);
    await writer.write(new Uint8Array(1));
    await writer.close();
    await vi.waitFor(() => expect(running()).toHaveLength(1), 20_000);
    running()[0]?.callback();
    await expect(response).rejects.toEqual(failsWith(ErrorCode.UPSTREAM_TIMEOUT));
  });

  it("include the phone's own cancel, before and during", async () => {
    const controller = new AbortController();
    const { upstream } = fakeWeb({}, { fetch: silence });
    const request = { ...navigationTo("https://a.example/"), signal: controller.signal };
    const response = upstream(request);
    controller.abort();
    await expect(response).rejects.toEqual(failsWith(ErrorCode.CANCEL));
    await expect(upstream(request)).rejects.toEqual(failsWith(ErrorCode.CANCEL));
  });

  it("of the edge itself are told apart from the origin's", async () => {
    const { upstream, store } = fakeWeb({});
    store.get = async () => Promise.reject(new Error("storage is gone"));
    await expect(upstream(navigationTo("https://a.example/"))).rejects.toEqual(failsWith(ErrorCode.INTERNAL_ERROR));
  });

  it("of Cloudflare's making are no pages", async () => {
    const { upstream } = fakeWeb({
      "https://a.example/": () =>
        new Response("error code: 1016", {
          status: 530,
          headers: { server: "cloudflare", "content-type": "text/plain" },
        }),
    });
    await expect(upstream(navigationTo("https://a.example/"))).rejects.toEqual(failsWith(ErrorCode.NAME_NOT_RESOLVED));
  });
});
