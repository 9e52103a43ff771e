import { afterEach, expect, it, vi } from "vitest";
import { fetchUncached } from "./fetch-workerd.ts";

afterEach(() => vi.unstubAllGlobals());

it("keeps every answer out of the platform's cache, and leaves the request as it is", async () => {
  const platform = vi.fn(async () => new Response("fresh"));
  vi.stubGlobal("fetch", platform);
  const request = new Request("https://a.example/me.js", { redirect: "manual" });
  expect(await (await fetchUncached(request)).text()).toBe("fresh");
  expect(platform).toHaveBeenCalledExactlyOnceWith(request, {
    encodeResponseBody: "manual",
    cf: { cacheTtlByStatus: { "100-599": -1 } },
  });
});
