import { afterEach, expect, it, vi } from "vitest";
import { DeviceRequests } from "./pairing.ts";

afterEach(() => vi.unstubAllGlobals());

function edgeAnswers(response: Response | Error) {
  const fetch = vi.fn(async (_url: string, _init: RequestInit) => {
    if (response instanceof Error) throw response;
    return response;
  });
  vi.stubGlobal("fetch", fetch);
  return fetch;
}

it("asks with the device's token, and says what is asked for", async () => {
  const fetch = edgeAnswers(Response.json({ devices: [], events: [] }));
  expect(await new DeviceRequests("token").list()).toEqual({ answer: { devices: [], events: [] } });
  edgeAnswers(new Response(null, { status: 204 }));
  expect(await new DeviceRequests("token").unpair("id", true)).toEqual({ answer: null });
  expect(fetch.mock.calls).toEqual([
    ["/.ropeway/devices", { method: "GET", headers: { authorization: "Bearer token" } }],
  ]);
});

it("names the cookies that are to go, the limits of a guest, and who else is to go", async () => {
  const fetch = edgeAnswers(new Response(null, { status: 204 }));
  const requests = new DeviceRequests("token");
  await requests.unpair("id", true);
  await requests.unpair("id", false);
  await requests.rename("id", "Kitchen");
  await requests.createCode({ lastsFor: 1, mostBytes: null });
  await requests.createCode(null);
  await requests.changeKey(true);
  expect(fetch.mock.calls.map(([url, { method, body }]) => [method, url, body])).toEqual([
    ["DELETE", "/.ropeway/devices/id?cookies", undefined],
    ["DELETE", "/.ropeway/devices/id", undefined],
    ["PATCH", "/.ropeway/devices/id", '{"name":"Kitchen"}'],
    ["POST", "/.ropeway/devices/codes", '{"guest":{"lastsFor":1,"mostBytes":null}}'],
    ["POST", "/.ropeway/devices/codes", "{}"],
    ["POST", "/.ropeway/devices/key", '{"unpairsOthers":true}'],
  ]);
});

it("says why it cannot, an edge of before that knows no devices too", async () => {
  const requests = new DeviceRequests("token");
  edgeAnswers(new Error("offline"));
  expect(await requests.list()).toEqual({ why: "Your edge cannot be reached now." });
  edgeAnswers(new Response("no JSON", { status: 404 }));
  expect(await requests.list()).toEqual({ why: expect.stringContaining("older than the app") });
  edgeAnswers(Response.json({ error: "…" }, { status: 403 }));
  expect(await requests.list()).toEqual({ why: expect.stringContaining("guest") });
});
