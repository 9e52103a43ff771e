import { expect, it } from "vitest";
import { edgeStages } from "./edge-stages.ts";

it("puts sources together by what they do", () => {
  const costs = [
    ["worker/delivery/coding.ts", 3],
    ["shared/mux/pipe.ts", 2],
    ["shared/wire/frame.ts", 2],
    ["native code", 10],
    ["built-in", 1],
    ["worker/shared-cache/shared-responses.ts", 0.5],
    ["hono/dist/hono.js", 0.25],
  ] as const;
  expect(edgeStages(costs.map(([source, time]) => ({ thread: "edge", source, functionName: null, time })))).toEqual([
    { thread: "the platform: fetch, sockets, zlib", time: 11 },
    { thread: "frames, credit and heads of the link", time: 4 },
    { thread: "coding for the link", time: 3 },
    { thread: "the shared cache", time: 0.5 },
    { thread: "packages", time: 0.25 },
  ]);
});
