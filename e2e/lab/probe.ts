/**
 * What `checkLink` and the lab's tests run inside the namespaces: datagrams, and when they came. UDP, as TCP would show
 * its own behaviour instead of the link's.
 *
 * probe.ts echo                             sends datagrams back; prints its port
 * probe.ts ping ADDRESS PORT COUNT GAP WAIT prints the milliseconds of the round trips; waits for the last so long
 * probe.ts sink                             prints its port, then, at the end of its input, what came and when
 * probe.ts flood ADDRESS PORT BYTES KBIT MS sends for a time
 * probe.ts send ADDRESS PORT BYTES KBIT N   sends so many
 */
import { spawnSync } from "node:child_process";
import { createSocket, type Socket } from "node:dgram";
import { setTimeout as wait } from "node:timers/promises";
import { findProgram } from "./programs.ts";

/**
 * What runs this program: before everything else, as what else runs on the machine is not to be measured, if that can
 * be.
 */
export function probeCommand(mode: string, ...words: readonly (string | number)[]): string[] {
  const chrt = findProgram("chrt");
  punctual ??= chrt !== undefined && spawnSync(chrt, ["--fifo", "1", "true"]).status === 0;
  const scheduler = chrt !== undefined && punctual ? [chrt, "--fifo", "1"] : [];
  return [...scheduler, process.execPath, import.meta.filename, mode, ...words.map(String)];
}

let punctual: boolean | undefined;

/** Bytes of the IPv4 and UDP headers of each datagram. */
const HEADERS = 28;

/** Bytes of a ping on the link. */
export const PING_BYTES = HEADERS + 4;

/** What `sink` prints: milliseconds of one clock, and bytes with their headers. In the order of arrival. */
export type Arrivals = readonly (readonly [time: number, bytes: number])[];

/** Sent at once, so that a sender that is late has not let the link run dry. */
const HEAD_START = 100;

const modes: Readonly<Record<string, (address: string, port: number, numbers: readonly number[]) => Promise<void>>> = {
  echo: async () => {
    const socket = await bound();
    socket.on("message", (data, from) => socket.send(data, from.port, from.address));
    print(socket.address().port);
    process.stdin.resume().on("end", () => socket.close());
  },

  ping: async (address, port, [count = 1, gap = 0, patience = 0]) => {
    const socket = await bound();
    const sent: number[] = [];
    const times: number[] = [];
    socket.on("message", (data) => times.push(performance.now() - (sent[data.readUInt32BE()] ?? 0)));
    for (let i = 0; i < count; i++) {
      const data = Buffer.alloc(PING_BYTES - HEADERS);
      data.writeUInt32BE(i);
      sent.push(performance.now());
      socket.send(data, port, address);
      await wait(gap);
    }
    for (const end = performance.now() + patience; times.length < count && performance.now() < end; ) await wait(5);
    print(times);
    socket.close();
  },

  sink: async () => {
    const socket = await bound();
    const arrivals: [number, number][] = [];
    socket.on("message", (data) => arrivals.push([performance.now(), data.length + HEADERS]));
    print(socket.address().port);
    process.stdin.resume().on("end", () => {
      print(arrivals);
      socket.close();
    });
  },

  flood: async (address, port, [bytes = 0, kbit = 0, duration = 0]) => {
    const start = performance.now() - HEAD_START;
    await sendWhile(address, port, bytes, () => {
      const elapsed = performance.now() - start;
      return elapsed < duration + HEAD_START ? (elapsed * kbit) / 8 / bytes : undefined;
    });
  },

  send: async (address, port, [bytes = 0, kbit = 0, count = 0]) => {
    const start = performance.now();
    let done = false;
    await sendWhile(address, port, bytes, () => {
      if (done) return undefined;
      const due = ((performance.now() - start) * kbit) / 8 / bytes;
      done = due >= count;
      return Math.min(due, count);
    });
  },
};

/** @param due how many should have been sent by now; undefined ends. */
async function sendWhile(address: string, port: number, bytes: number, due: () => number | undefined): Promise<void> {
  const socket = await bound();
  const data = Buffer.alloc(bytes - HEADERS);
  let sent = 0;
  for (let want = due(); want !== undefined; want = due()) {
    for (; sent < Math.floor(want); sent++) {
      await new Promise<void>((resolve) => socket.send(data, port, address, () => resolve()));
    }
    await wait(1);
  }
  socket.close();
}

async function bound(): Promise<Socket> {
  const socket = createSocket({ type: "udp4", recvBufferSize: 4 * 1024 * 1024 });
  await new Promise<void>((resolve) => socket.bind(0, resolve));
  return socket;
}

function print(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

if (import.meta.main) {
  const [mode = "", address = "", port = "0", ...rest] = process.argv.slice(2);
  const run = modes[mode];
  if (run === undefined) throw new Error(`Cannot probe: there is no mode ${mode}`);
  await run(address, Number(port), rest.map(Number));
}
