import { describe, expect, it } from "vitest";
import { processRole, type ThreadCpu, threadCpuBetween } from "./thread-cpu.ts";
import { costsByThread } from "./thread-roles.ts";

function thread(pid: number, tid: number, process: string, name: string, time: number): ThreadCpu {
  return { pid, tid, process, thread: name, time };
}

describe("processRole", () => {
  it.each([
    ["/usr/lib/chromium/chromium --no-sandbox", "browser"],
    ["/usr/lib/chromium/chromium --type=renderer --lang=en", "renderer"],
    ["/usr/lib/chromium/chromium --type=utility --utility-sub-type=network.mojom.NetworkService", "network service"],
    ["/usr/lib/chromium/chromium --type=gpu-process", "GPU"],
    ["/usr/bin/workerd\0serve\0config.capnp", "workerd"],
  ])("%j is %s", (commandLine, role) => expect(processRole(commandLine)).toBe(role));
});

describe("threadCpuBetween", () => {
  it("counts new threads whole and leaves out those that rested", () => {
    const before = [thread(1, 1, "browser", "chromium", 5), thread(1, 2, "browser", "IO", 3)];
    const after = [
      ...before.map((each) => ({ ...each, time: each.time + (each.tid === 2 ? 4 : 0) })),
      thread(1, 3, "browser", "new", 9),
    ];
    expect(threadCpuBetween(before, after).map(({ tid, time }) => [tid, time])).toEqual([
      [3, 9],
      [2, 4],
    ]);
  });
});

describe("costsByThread", () => {
  it("tells the app's process from a page's by their workers, and leaves out the bench's own", () => {
    const costs = costsByThread([
      thread(5, 5, "renderer", "chromium", 10),
      thread(5, 6, "renderer", "DedicatedWorker", 20),
      thread(8, 8, "renderer", "chromium", 30),
      thread(8, 9, "renderer", "ServiceWorker t", 40),
      thread(8, 10, "renderer", "ThreadPoolForeg", 1),
      thread(8, 11, "renderer", "ThreadPoolForeg", 2),
      thread(2, 2, "tracing service", "chromium", 99),
      thread(1, 3, "browser", "DevToolsPipeHan", 99),
    ]);
    expect(costs.map(({ thread: name, time }) => [name, time])).toEqual([
      ["page: service worker", 40],
      ["page: main", 30],
      ["app: tunnel worker", 20],
      ["app: main", 10],
      ["page: pool", 3],
    ]);
  });
});
