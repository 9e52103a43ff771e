import { spawn } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { EDGE_ADDRESS, Lab, type LinkSettings, missingForLab, originAddress } from "./lab.ts";
import { startNameServer } from "./name-server.ts";
import { probeCommand } from "./probe.ts";
import { PROFILES } from "./profiles.ts";

const LINK: LinkSettings = { delay: 10, down: 0, up: 0, downQueue: 100, upQueue: 100, loss: 0 };

describe.runIf(missingForLab().length === 0)("Lab", () => {
  let lab: Lab;

  beforeAll(async () => {
    const names = { "a.test": originAddress(1), "*.edge.test": EDGE_ADDRESS };
    lab = await Lab.open({ link: LINK, congestion: "bbr", names });
  });

  afterAll(() => lab?.close());

  /** What a Node program in the phone prints. */
  async function phone(program: string): Promise<unknown> {
    return JSON.parse(await lab.phone.run([process.execPath, "--input-type=module", "-e", program]));
  }

  async function serve(role: "edge" | "origins", program: string): Promise<void> {
    const child = lab[role].spawn([process.execPath, "--input-type=module", "-e", program], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await new Promise((resolve) => child.stdout?.once("data", resolve));
  }

  it("resolves names over the link, and says at once what does not exist", async () => {
    const before = await lab.counters();
    const found = await phone(`
      import { promises as dns } from "node:dns";
      const code = (error) => error.code;
      console.log(JSON.stringify([
        await dns.lookup("a.test"), await dns.resolve4("x.y.edge.test"), await dns.resolve6("a.test").catch(code),
        await dns.resolve6("x.edge.test").catch(code), await dns.resolve4("b.test").catch(code),
        await dns.resolve4("example.com").catch(code),
      ]))`);
    expect(found).toEqual([
      { address: originAddress(1), family: 4 },
      [EDGE_ADDRESS],
      "ENODATA",
      "ENODATA",
      "ENOTFOUND",
      "ENOTFOUND",
    ]);
    const after = await lab.counters();
    expect(after.dnsQueries - before.dnsQueries).toBeGreaterThanOrEqual(6);
  });

  it("delays the phone by its link alone, and the edge by the way to the origins", async () => {
    const [toEdge, toOrigin] = await Promise.all([roundTrip("phone", "edge"), roundTrip("phone", "origins")]);
    expect(toEdge).toBeGreaterThanOrEqual(20);
    expect(toOrigin).toBeGreaterThanOrEqual(20);
    expect(await roundTrip("edge", "origins")).toBeGreaterThanOrEqual(5);
  });

  it("counts connections once, and the bytes that TCP carried", async () => {
    await serve(
      "origins",
      `import { createServer } from "node:net";
       createServer((socket) => socket.on("error", () => {}).end(Buffer.alloc(200_000)))
         .listen(80, "${originAddress(1)}", () => console.log("up"));`,
    );
    const before = await lab.counters();
    const received = await phone(`
      import { connect } from "node:net";
      const read = () => new Promise((resolve) => {
        let bytes = 0;
        connect(80, "a.test").on("data", (data) => (bytes += data.length)).on("end", () => resolve(bytes));
      });
      console.log(JSON.stringify(await Promise.all([read(), read(), read()])))`);
    const after = await lab.counters();
    expect(received).toEqual([200_000, 200_000, 200_000]);
    expect(after.tcpConnections - before.tcpConnections).toBe(3);
    expect(after.down.bytes - before.down.bytes).toBeGreaterThan(600_000);
    expect(after.down.packets - before.down.packets).toBeGreaterThan(600_000 / 1_460);
    expect(after.down.droppedByQueue + after.down.droppedByLoss + after.down.droppedInOutage).toBe(0);
  });

  it("takes repeated SYNs for one connection, and a UDP flow to port 443 for one of QUIC", async () => {
    await lab.configure({ link: { ...LINK, loss: 100 } });
    const before = await lab.counters();
    const child = lab.phone.spawn([process.execPath, "-e", `require("node:net").connect(80, "${EDGE_ADDRESS}")`]);
    const dropped = async (): Promise<number> => (await lab.counters()).up.droppedByLoss - before.up.droppedByLoss;
    await expect.poll(dropped, { timeout: 10_000 }).toBeGreaterThanOrEqual(2);
    child.kill();
    await lab.phone.run(probeCommand("send", EDGE_ADDRESS, 443, 100, 1000, 5));
    const after = await lab.counters();
    expect(after.tcpConnections - before.tcpConnections).toBe(1);
    expect(after.quicConnections - before.quicConnections).toBe(1);
    await lab.configure({ link: LINK });
  });

  it("changes link and congestion control while servers run", async () => {
    const port = await listen("edge", "echo");
    await lab.configure({ link: { ...LINK, delay: 40 }, congestion: "cubic" });
    expect(await ping("phone", port)).toBeGreaterThanOrEqual(80);
    for (const namespace of [lab.phone, lab.edge, lab.origins]) {
      const routes = await namespace.run(["ip", "route"]);
      expect(routes).toContain("congctl cubic");
      expect(routes).not.toContain("congctl bbr");
    }
    await lab.configure({ link: LINK, congestion: "bbr" });
    const roundTripAfter = await ping("phone", port);
    expect(roundTripAfter).toBeGreaterThanOrEqual(20);
    await expect(lab.configure({ link: { ...LINK, loss: 101 } })).rejects.toThrow("percentage");
    const trace = { down: "/nowhere/lte.trace", up: "/nowhere/lte.trace" };
    await expect(lab.configure({ link: { ...LINK, trace } })).rejects.toThrow("/nowhere/lte.trace");
    await lab.configure({ link: LINK });
  });

  /** What the kernels still say of earlier connections is over. */
  async function quietLink(): Promise<void> {
    let last = -1;
    const isQuiet = async (): Promise<boolean> => {
      const { up, down } = await lab.counters();
      const seen = up.packets + up.droppedByLoss + down.packets + down.droppedByLoss;
      const isSame = seen === last;
      last = seen;
      return isSame;
    };
    await expect.poll(isQuiet, { interval: 300, timeout: 10_000 }).toBe(true);
  }

  it("loses nothing, half or everything, and counts it", async () => {
    const port = await listen("edge", "sink");
    const lostOf = async (packets: number): Promise<number> => {
      const before = await lab.counters();
      await lab.phone.run(probeCommand("send", EDGE_ADDRESS, port, 100, 1000, packets));
      const seen = async (): Promise<number> => {
        const { up } = await lab.counters();
        return up.packets - before.up.packets + up.droppedByLoss - before.up.droppedByLoss;
      };
      await expect.poll(seen).toBe(packets);
      return (await lab.counters()).up.droppedByLoss - before.up.droppedByLoss;
    };
    const lost = async (loss: number): Promise<number> => {
      await quietLink();
      await lab.configure({ link: { ...LINK, loss }, seed: 7 });
      return lostOf(200);
    };
    expect(await lost(0)).toBe(0);
    const half = await lost(50);
    expect(half).toBeGreaterThan(50);
    expect(half).toBeLessThan(150);
    expect(await lost(50)).toBe(half);
    const lostAfterRewind = async (): Promise<number> => {
      await quietLink();
      await lab.rewind();
      return lostOf(200);
    };
    expect(await lostAfterRewind()).toBe(half);
    expect(await lostAfterRewind()).toBe(half);
    expect(await lost(100)).toBe(200);
    await lab.configure({ link: LINK });
  });

  it("drops at the tail what a full queue cannot hold", async () => {
    const port = await listen("edge", "sink");
    // Ten packets may wait, each for 80 ms.
    await lab.configure({ link: { ...LINK, up: 100, upQueue: 10 } });
    await quietLink();
    const before = (await lab.counters()).up;
    const sent = 60;
    await lab.phone.run(probeCommand("send", EDGE_ADDRESS, port, 1000, 20_000, sent));
    const since = async () => {
      const { up } = await lab.counters();
      return { through: up.packets - before.packets, dropped: up.droppedByQueue - before.droppedByQueue };
    };
    const seen = async (): Promise<number> => {
      const { through, dropped } = await since();
      return through + dropped;
    };
    await expect.poll(seen, { timeout: 5_000 }).toBe(sent);
    const { through, dropped } = await since();
    // As many as the queue holds, one under way, and what left while the others came.
    expect(through).toBeGreaterThanOrEqual(10);
    expect(dropped).toBeGreaterThanOrEqual(sent / 2);
    await lab.configure({ link: LINK });
  });

  it("loses in bursts", async () => {
    const port = await listen("edge", "sink");
    await quietLink();
    // A sixth of the packets, twenty in a row on average.
    const burst = { goodToBad: 1, badToGood: 5, lossInBad: 100 };
    await lab.configure({ link: { ...LINK, burst }, seed: 3 });
    const lostOfTen: number[] = [];
    for (let group = 0; group < 40; group += 1) {
      const before = (await lab.counters()).up;
      await lab.phone.run(probeCommand("send", EDGE_ADDRESS, port, 100, 5_000, 10));
      const lost = async (): Promise<number> => (await lab.counters()).up.droppedByLoss - before.droppedByLoss;
      await expect.poll(async () => (await lab.counters()).up.packets - before.packets + (await lost())).toBe(10);
      lostOfTen.push(await lost());
    }
    const all = lostOfTen.reduce((sum, lost) => sum + lost, 0);
    expect(all).toBeGreaterThan(400 / 6 / 3);
    expect(all).toBeLessThan((400 / 6) * 3);
    // Were each packet lost by itself, 8 of 10 would be once in 50,000 groups.
    expect(lostOfTen.filter((lost) => lost >= 8).length).toBeGreaterThanOrEqual(2);
    await lab.configure({ link: LINK });
  });

  it("takes a trace back to where it was told to begin", async () => {
    const directory = await mkdtemp(join(tmpdir(), "ropeway-lab-"));
    const up = join(directory, "up.trace");
    // Four seconds: nothing in the first two, enough in the others.
    const open = Array.from({ length: 200 }, (_, index) => 2010 + 10 * index);
    await writeFile(up, `${open.join("\n")}\n`);
    const port = await listen("edge", "echo");
    const untilShut = (): Promise<void> => sleep(2100);
    try {
      await lab.configure({
        link: { ...PROFILES["lte-trace"], trace: { ...PROFILES["lte-trace"].trace, up } },
        traceStart: 2000,
      });
      await lab.rewind();
      await untilShut();
      expect(await ping("phone", port)).toBeGreaterThan(500);
      await untilShut();
      await lab.rewind();
      expect(await ping("phone", port)).toBeLessThan(500);
    } finally {
      await lab.configure({ link: LINK });
      await rm(directory, { recursive: true });
    }
  });

  it("drops everything in an outage, and goes on after it", async () => {
    const port = await listen("edge", "echo");
    await lab.setOutage(true);
    const before = await lab.counters();
    await lab.phone.run(probeCommand("send", EDGE_ADDRESS, port, 100, 1000, 20));
    const dropped = async (): Promise<number> => (await lab.counters()).up.droppedInOutage;
    await expect.poll(dropped).toBe(before.up.droppedInOutage + 20);
    const during = await lab.counters();
    expect([during.up.packets, during.down.packets]).toEqual([before.up.packets, before.down.packets]);
    await lab.setOutage(false);
    expect(await ping("phone", port)).toBeGreaterThanOrEqual(20);
  });

  it("says why a program failed", async () => {
    await expect(lab.phone.run(["sh", "-c", "echo broken >&2; exit 3"])).rejects.toThrow("broken");
    expect(() => originAddress(21)).toThrow("Cannot give origin 21 an address");
  });

  it("says why it does not open, and leaves nothing", async () => {
    await expect(startNameServer(lab.phone, "192.0.2.1", {})).rejects.toThrow(
      /Cannot start the name server: dnsmasq.*192/,
    );
    const before = leftOf(process.pid);
    const names = { "a.test": "edge" };
    await expect(Lab.open({ link: LINK, congestion: "bbr", names })).rejects.toThrow("no IPv4 address: edge");
    expect(leftOf(process.pid)).toEqual(before);
  });

  it("leaves nothing behind, even of a run that was killed", async () => {
    const program = `
      import { Lab } from "./e2e/lab/lab.ts";
      const lab = await Lab.open({ link: ${JSON.stringify(LINK)}, congestion: "cubic", names: {} });
      lab.edge.spawn(["sleep", "1000"]);
      console.log("open");
      setTimeout(() => {}, 1_000_000);`;
    for (const signal of ["SIGTERM", "SIGKILL"] as const) {
      const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
        cwd: join(import.meta.dirname, "..", ".."),
        stdio: ["ignore", "pipe", "inherit"],
      });
      await new Promise((resolve) => child.stdout.once("data", resolve));
      expect(leftOf(child.pid)).toHaveLength(6);
      child.kill(signal);
      await new Promise((resolve) => child.once("close", resolve));
      if (signal === "SIGKILL") await (await Lab.open({ link: LINK, congestion: "bbr", names: {} })).close();
      expect(leftOf(child.pid)).toEqual([]);
    }
  });

  /** @returns the port. */
  async function listen(role: "edge" | "origins", mode: "echo" | "sink"): Promise<number> {
    const child = lab[role].spawn(probeCommand(mode), { stdio: ["pipe", "pipe", "inherit"] });
    const line = await new Promise<Buffer>((resolve) => child.stdout?.once("data", resolve));
    return Number(String(line));
  }

  /** Milliseconds, the shortest of a few. */
  async function ping(from: "phone" | "edge", port: number, address = EDGE_ADDRESS): Promise<number> {
    const times = await lab[from].run(probeCommand("ping", address, port, 5, 10, 5000));
    return Math.min(...(JSON.parse(times) as number[]));
  }

  async function roundTrip(from: "phone" | "edge", to: "edge" | "origins"): Promise<number> {
    return await ping(from, await listen(to, "echo"), to === "edge" ? EDGE_ADDRESS : originAddress(3));
  }
});

/** Namespaces of a process, and their files. */
function leftOf(pid: number | undefined): string[] {
  return ["/run/netns", "/etc/netns"]
    .flatMap((path) => (existsSync(path) ? readdirSync(path) : []))
    .filter((name) => name.startsWith(`ropeway-${pid}-`));
}
