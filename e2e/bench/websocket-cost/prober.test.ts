import { spawn } from "node:child_process";
import { afterAll, describe, expect, it } from "vitest";
import { CARRIERS } from "./carrier.ts";
import { HANDSHAKES } from "./probe-task.ts";
import { Prober, type Spawn } from "./prober.ts";

const here: Spawn = ([program = "", ...rest], options) => spawn(program, rest, options);

describe("a client and a server in processes of their own", () => {
  const prober = new Prober({ server: here, client: here, address: "127.0.0.1" });

  afterAll(() => prober.close());

  it.each(CARRIERS)("carry echoes over %s, one byte and one megabyte", async (carrier) => {
    for (const payload of [1, 1_000_000]) {
      expect(await prober.measure({ measure: "echo", carrier, payload, count: 3 })).toBeGreaterThan(0);
    }
  });

  it.each(CARRIERS)("carry bodies over %s, more than any credit", async (carrier) => {
    expect(await prober.measure({ measure: "throughput", carrier, payload: 1, count: 500 })).toBeGreaterThan(0);
    expect(await prober.measure({ measure: "throughput", carrier, payload: 100_000, count: 100 })).toBeGreaterThan(0);
  });

  it.each(HANDSHAKES)("open connections: %s", async (handshake) => {
    expect(await prober.measure({ measure: "handshake", handshake, count: 3 })).toBeGreaterThan(0);
  });

  it("say when one of them cannot start", async () => {
    const nowhere: Spawn = (_argv, options) => spawn("false", [], options);
    const broken = new Prober({ server: nowhere, client: here, address: "127.0.0.1" });
    await expect(broken.measure({ measure: "handshake", handshake: "tcp", count: 1 })).rejects.toThrow(
      "the server of the probe has ended",
    );
  });
});
