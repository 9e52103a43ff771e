import { expect, it } from "vitest";
import { profileCells } from "./cells.ts";
import { profileMarkdown } from "./markdown.ts";
import type { CellProfile } from "./model.ts";

it("chooses cells by parts of their names", () => {
  expect(profileCells([])).toHaveLength(13);
  expect(profileCells(["delay=5 app=open", "median"]).map(({ id }) => id)).toEqual([
    "page=hundred-fifty delay=5 app=open",
    "page=median-mobile profile=lte app=cold",
    "page=median-mobile profile=lte app=open",
    "page=median-mobile profile=lte app=warm",
    "page=median-mobile profile=lte app=warm visit=next day",
    "page=median-mobile profile=lte app=open visit=next day",
  ]);
  expect(() => profileCells(["delay=7"])).toThrow("Cannot profile: no cell of this name");
});

it("names the three largest costs of each side", () => {
  const code = (thread: string, ...sources: string[]) =>
    sources.map((source, index) => ({ thread, source, functionName: null, time: 50 - index }));
  const cell: CellProfile = {
    id: "page=a",
    loads: [410, 400, 430],
    directLoads: [330],
    phases: [
      { name: "page asked for", at: 20 },
      { name: "load event", at: 410 },
    ],
    link: { idleDown: 90, idleUp: 80, idle: 70, bytesDown: 1, bytesUp: 1, firstDown: 40, lastDown: 380 },
    messages: { up: 3, down: 500, bytesUp: 1, bytesDown: 1 },
    phoneThreads: [{ thread: "page: main", time: 100 }],
    phoneTimes: { ropeway: { all: 100, compiling: 30 }, direct: { all: 80, compiling: 20 } },
    edgeThreads: [{ thread: "workerd: main", time: 60 }],
    profiledLoad: 900,
    phoneSources: code("app: tunnel worker", "a.ts", "b.ts", "c.ts", "d.ts"),
    phoneFunctions: [],
    edgeSources: code("edge", "e.ts"),
    edgeFunctions: [],
  };
  const text = profileMarkdown({ schema: 1, startedAt: "2026", rounds: 3, machine: {}, versions: {}, cells: [cell] });
  expect(text).toContain("Load 410 (HTTP/2: 330). The link carried nothing for 70");
  expect(text).toContain("| Ropeway | 100 | 30 |\n| HTTP/2 | 80 | 20 |");
  expect(text).toContain("Largest on the phone: page: main (100).");
  expect(text).toContain(
    "a.ts (app: tunnel worker, 50), b.ts (app: tunnel worker, 49), c.ts (app: tunnel worker, 48).",
  );
  expect(text).toContain("Longest steps: page asked for → load event (390), the wish → page asked for (20).");
});
