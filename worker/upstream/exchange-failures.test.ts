import { describe, expect, it } from "vitest";
import { ErrorCode } from "../../shared/errors.ts";
import { limits } from "../../shared/limits.ts";
import { fakeWeb, fetchOf, navigationTo } from "./testing/fake-web.ts";

const failsWith = (code: ErrorCode) => expect.objectContaining({ code, scope: "stream" });

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

  /** A fetch that never answers, as the platform's does until its signal aborts. */
  const silence = (request: Request) =>
    new Promise<Response>((_, reject) => {
      request.signal.addEventListener("abort", () => reject(request.signal.reason));
    });

  it("include an origin that does not answer in time", async () => {
    const timers: (() => void)[] = [];
    const { upstream } = fakeWeb(
      {},
      {
        fetch: silence,
        startTimer: (ms, callback) => {
          expect(ms).toBe(limits.connectTimeout);
          timers.push(callback);
          return () => {};
        },
      },
    );
    const response = upstream(navigationTo("https://a.example/"));
    await Promise.all([
      expect(response).rejects.toEqual(failsWith(ErrorCode.UPSTREAM_TIMEOUT)),
      (async () => {
        while (timers.length === 0) await Promise.resolve();
        timers[0]?.();
      })(),
    ]);
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
