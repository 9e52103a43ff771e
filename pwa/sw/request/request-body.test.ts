import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { outgoingBody as OutgoingBody } from "./slot-request.ts";

const SLOT = { slotOrigin: "https://s7k2.ropeway.example", realOrigin: "https://site.example" };
const LARGE = 2_000_000;

let outgoingBody: typeof OutgoingBody;

beforeEach(async () => {
  // It finds out once what its browser can do.
  vi.resetModules();
  ({ outgoingBody } = await import("./slot-request.ts"));
});

afterEach(() => {
  vi.restoreAllMocks();
});

function post(body: BodyInit | null, contentType = "text/plain"): Request {
  return new Request("https://s7k2.ropeway.example/", {
    method: "POST",
    body,
    headers: { "content-type": contentType },
  });
}

function breakBlobs(): void {
  const notFound = new DOMException("The object can not be found here.", "NotFoundError");
  vi.spyOn(Blob.prototype, "arrayBuffer").mockRejectedValue(notFound);
  vi.spyOn(Blob.prototype, "stream").mockImplementation(() => {
    throw notFound;
  });
}

it.each([
  ["that can read blobs", () => {}],
  ["that cannot", breakBlobs],
])("all of a body goes out from a service worker %s", async (_, arrange) => {
  arrange();
  const small = await outgoingBody(post("words"), SLOT);
  expect(small).toEqual({ content: new TextEncoder().encode("words").buffer, length: 5 });
  const { content, length } = await outgoingBody(post(new Uint8Array(LARGE)), SLOT);
  expect(content).toBeInstanceOf(ReadableStream);
  expect([length, (await new Response(content).bytes()).length]).toEqual([LARGE, LARGE]);
});

it("has a length where a server may want one, though there is no body", async () => {
  expect(await outgoingBody(post(null), SLOT)).toEqual({ content: null, length: 0 });
  const request = new Request("https://s7k2.ropeway.example/", { method: "DELETE" });
  expect(await outgoingBody(request, SLOT)).toEqual({ content: null, length: null });
  expect(await outgoingBody(new Request(request.url), SLOT)).toEqual({ content: null, length: null });
});

it("text names the real site where it named the slot, data stays as it is", async () => {
  const text = "see https://s7k2.ropeway.example/page";
  const { content, length } = await outgoingBody(post(text), SLOT);
  expect(new TextDecoder().decode(content as ArrayBuffer)).toBe("see https://site.example/page");
  expect(length).toBe("see https://site.example/page".length);
  const data = await outgoingBody(post(text, "application/octet-stream"), SLOT);
  expect(new TextDecoder().decode(data.content as ArrayBuffer)).toBe(text);
});
