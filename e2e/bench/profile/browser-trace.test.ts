import { expect, it } from "vitest";
import { compileTime, type TraceEvent, threadProfiles } from "./browser-trace.ts";
import { countMessages, phases } from "./waterfall.ts";

function event(name: string, ts: number, args: TraceEvent["args"] = {}, more: Partial<TraceEvent> = {}): TraceEvent {
  return { name, cat: "", ph: "I", pid: 7, tid: 9, ts, args, ...more };
}

it("puts profiles together from their chunks, in the order of time", () => {
  const chunk = (ts: number, id: number, functionName: string): TraceEvent =>
    event(
      "ProfileChunk",
      ts,
      { data: { cpuProfile: { nodes: [{ id, callFrame: { functionName } }], samples: [id] }, timeDeltas: [ts] } },
      { id: "0x1", tid: 10 },
    );
  const events = [
    event("thread_name", 0, { name: "DedicatedWorker thread" }),
    event("Profile", 5, { data: { startTime: 4 } }, { id: "0x1" }),
    chunk(30, 2, "late"),
    chunk(20, 1, "early"),
  ];
  const [found, ...others] = threadProfiles(events);
  expect(others).toEqual([]);
  expect(found).toMatchObject({ pid: 7, thread: "DedicatedWorker thread" });
  expect(found?.profile).toMatchObject({ samples: [1, 2], timeDeltas: [20, 30], startTime: 4 });
  expect(found?.profile.nodes.map(({ callFrame }) => callFrame.functionName)).toEqual(["early", "late"]);
});

it("sums what compiling took of the processor, on each thread, and within another such event once", () => {
  const compiling = (name: string, ts: number, dur: number, tdur: number, tid = 9): TraceEvent =>
    event(name, ts, {}, { ph: "X", dur, tdur, tid });
  const events = [
    compiling("V8.CompileCode", 150, 20, 15),
    compiling("v8.compile", 100, 100, 80),
    compiling("V8.ParseFunction", 250, 10, 5),
    compiling("v8.parseOnBackground", 120, 400, 300, 10),
    compiling("EvaluateScript", 300, 100, 90),
    compiling("v8.compileModule", 20, 10, 10),
  ];
  expect(compileTime(events, 50)).toBeCloseTo(0.385);
});

it("tells the steps of a visit by the clock of the wall, and counts the tunnel's messages", () => {
  // Zero is 1,000 ms since 1970; the trace's clock is 500 ms behind.
  const message = (name: string, at: number, dataLength: number): TraceEvent =>
    event(name, (500 + at) * 1000, { data: { dataLength } });
  const trace = {
    clockOffset: -500_000,
    events: [
      message("WebSocketReceive", -10, 900),
      message("WebSocketSend", 20, 80),
      message("WebSocketReceive", 40, 4),
      message("WebSocketReceive", 60, 700),
      message("WebSocketReceive", 95, 300),
      message("WebSocketReceive", 150, 300),
    ],
  };
  const times = {
    navigationStart: 1_030,
    responseStart: 1_065,
    responseEnd: 1_070,
    domContentLoaded: 1_080,
    firstContentfulPaint: null,
    firstAsked: 1_072,
    lastAsked: 1_075,
    lastArrived: 1_096,
  };
  expect(phases(trace, times, 1_000, 1_100).map(({ name, at }) => [name, at])).toEqual([
    ["page asked for", 20],
    ["frame set out for the page", 30],
    ["first answer at the tunnel", 60],
    ["document at its frame", 65],
    ["document whole", 70],
    ["first object asked for", 72],
    ["last object asked for", 75],
    ["DOM content loaded", 80],
    ["last message at the tunnel", 95],
    ["last object at the page", 96],
    ["load event", 100],
  ]);
  expect(countMessages(trace, 1_000, 1_100)).toEqual({ up: 1, down: 3, bytesUp: 80, bytesDown: 1_004 });
});
