import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, it } from "vitest";

describe("endOnSignals", () => {
  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const)("ends on %s with %i, cleaned up, whoever else listens", async (signal, code) => {
    const program = `
      import { endOnSignals } from "./end-on-signals.ts";
      endOnSignals();
      process.on("${signal}", () => {});
      process.on("exit", () => console.log("cleaned up"));
      setInterval(() => {}, 1_000_000);
      console.log("ready");`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
      cwd: import.meta.dirname,
      stdio: ["ignore", "pipe", "inherit"],
    });
    let said = "";
    child.stdout.on("data", (chunk: Buffer) => {
      said += String(chunk);
    });
    await once(child.stdout, "data");
    child.kill(signal);
    expect(await once(child, "close")).toEqual([code, null]);
    expect(said).toBe("ready\ncleaned up\n");
  });
});
