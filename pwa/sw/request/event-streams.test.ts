import { describe, expect, it } from "vitest";
import { ErrorCode, RopewayError } from "../../../shared/errors.ts";
import { ResponseBody } from "../tunnel-port.ts";
import { EventStreams } from "./slot-request.ts";

const CANCELLED = new RopewayError(ErrorCode.CANCEL, "stream", "user", "Cannot go on: the page cancelled the request");

function request({ url = "/events", accept = "text/event-stream", cache = "no-store" } = {}) {
  return { url, cache: cache as RequestCache, headers: new Headers({ accept }) };
}

const LOST = new RopewayError(ErrorCode.LINK_LOST, "stream", "library", "Cannot go on: the app was closed");

/** Reads a body of these parts, which fails if `error` is given. */
async function pass(streams: EventStreams, parts: readonly string[], error?: RopewayError): Promise<string> {
  const body = new ResponseBody(
    () => {},
    () => {},
  );
  const events = streams.begin("c1", request());
  if (events !== null) body.watch(events);
  const reader = body.readable.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (const part of parts) {
    body.push(new TextEncoder().encode(part));
    text += (await reader.read()).value;
  }
  if (error === undefined) body.end();
  else body.fail(error);
  const last = await reader.read().catch(() => "failed");
  return typeof last === "string" ? last : text;
}

function nextHeaders(streams: EventStreams) {
  return streams.begin("c1", request())?.headers;
}

describe("EventStreams", () => {
  it.each([
    ["of the last whole event", ["id: 1\ndata: a\n\nid: 2\ndata: b\n\nid: 3\ndata:"], "2"],
    ["over chunks and any line ends", ["i", "d:7", "\r", "\ndata: x\r\n\r", "\n"], "7"],
    ["that stays with events that have none", ["id: ü 1\n\n", "data: b\r\rdata: c\n\n"], "ü 1"],
    ["without null, and not of longer lines", ["id: 4\n\nid: a\0b\n\n", `id: ${"9".repeat(2000)}\n\n`], "4"],
  ])("tells the id %s", async (_which, parts, id) => {
    const streams = new EventStreams();
    expect(nextHeaders(streams)).toEqual([]);
    expect(await pass(streams, parts)).toBe(parts.join(""));
    expect(nextHeaders(streams)).toEqual([["last-event-id", id]]);
  });

  it("forgets an id that is taken back, and one that has been told", async () => {
    const streams = new EventStreams();
    await pass(streams, ["id: 1\n\n"]);
    await pass(streams, ["id\ndata: new start\n\n"]);
    expect(nextHeaders(streams)).toEqual([]);
    await pass(streams, ["id: 1\n\n"]);
    nextHeaders(streams);
    expect(nextHeaders(streams)).toEqual([]);
  });

  it("keeps the id over a stream that failed without an event, not over one that the page closed", async () => {
    const streams = new EventStreams();
    await pass(streams, ["id: 1\n\n"], LOST);
    await pass(streams, [], LOST);
    expect(nextHeaders(streams)).toEqual([["last-event-id", "1"]]);
    await pass(streams, ["id: 2\n\n"], CANCELLED);
    expect(nextHeaders(streams)).toEqual([]);
  });

  it("is for the page that asked, its address, and event sources only", async () => {
    const streams = new EventStreams();
    await pass(streams, ["id: 1\n\n"]);
    expect(streams.begin("c2", request())?.headers).toEqual([]);
    expect(streams.begin("c1", request({ url: "/other" }))?.headers).toEqual([]);
    expect(streams.begin("c1", request({ cache: "default" }))).toBeNull();
    expect(streams.begin("c1", request({ accept: "*/*" }))).toBeNull();
    expect(nextHeaders(streams)).toEqual([["last-event-id", "1"]]);
  });
});
