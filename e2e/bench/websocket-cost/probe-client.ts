/** The near end of experiment B, a program: answers each line of its standard input, a ProbeQuestion, with a line. */
import { once } from "node:events";
import { createConnection } from "node:net";
import { createInterface } from "node:readline";
import { connect as connectTls } from "node:tls";
import { WebSocket } from "ws";
import {
  type BodyPipe,
  type Carrier,
  type CarrierTask,
  connectRopeway,
  connectTcp,
  connectWebSocket,
  echoTimes,
  receiveTime,
  sendTime,
} from "./carriers.ts";
import { startCountingRelay } from "./counting-relay.ts";
import type { Handshake, ProbeAnswer, ProbePorts, ProbeQuestion } from "./prober.ts";

/** Before those that count, so that the programs are compiled and the buffers there. */
const WARM_UP_SHARE = 0.2;

for await (const line of createInterface({ input: process.stdin })) {
  const answer = await measure(JSON.parse(line) as ProbeQuestion).then(
    (value): ProbeAnswer => ({ value }),
    (error: unknown): ProbeAnswer => ({ error: String(error) }),
  );
  console.log(JSON.stringify(answer));
}
process.exit(0);

async function measure({ address, ports, task }: ProbeQuestion): Promise<number> {
  const warmUp = "count" in task ? Math.ceil(task.count * WARM_UP_SHARE) : 0;
  if (task.measure === "handshake") {
    const times: number[] = [];
    for (let count = 0; count < warmUp + task.count; count++)
      times.push(await handshakeTime(task.handshake, address, ports));
    return median(times.slice(warmUp));
  }
  if (task.measure === "handshakeBytes") return handshakeBytes(task.handshake, ports, task.direction);
  const { carrier, payload, count } = task;
  if (task.measure === "up") {
    const pipe = await connect(carrier, address, ports, { mode: "take", payload, count });
    const time = await sendTime(pipe, payload, count);
    pipe.close();
    return (count * payload * 8) / 1000 / time;
  }
  if (task.measure === "echo") {
    const pipe = await connect(carrier, address, ports, { mode: "echo", payload, count });
    const times = await echoTimes(pipe, payload, warmUp + count);
    pipe.close();
    return median(times.slice(warmUp));
  }
  const pipe = await connect(carrier, address, ports, { mode: "send", payload, count: warmUp + count });
  const time = await receiveTime(pipe, { before: warmUp * payload, timed: count * payload });
  pipe.close();
  return (count * payload * 8) / 1000 / time;
}

function connect(carrier: Carrier, address: string, ports: ProbePorts, task: CarrierTask): Promise<BodyPipe> {
  switch (carrier) {
    case "tcp":
      return connectTcp(address, ports.tcp, task);
    case "websocket":
      return connectWebSocket(`ws://${address}:${ports.websocket}/`, task);
    case "ropeway":
      return connectRopeway(`ws://${address}:${ports.ropeway}/`, task);
  }
}

/** Milliseconds until the connection may carry data. */
async function handshakeTime(handshake: Handshake, host: string, ports: ProbePorts): Promise<number> {
  const port = ports[handshake];
  const start = performance.now();
  if (handshake === "tcp" || handshake === "tls") {
    // Nobody vouches for the certificate, which costs the client less than one to check would.
    const socket =
      handshake === "tcp" ? createConnection(port, host) : connectTls({ port, host, rejectUnauthorized: false });
    await once(socket, handshake === "tcp" ? "connect" : "secureConnect");
    const time = performance.now() - start;
    socket.destroy();
    return time;
  }
  const scheme = handshake === "websocket" ? "ws" : "wss";
  const socket = new WebSocket(`${scheme}://${host}:${port}/`, { perMessageDeflate: false, rejectUnauthorized: false });
  await once(socket, "open");
  const time = performance.now() - start;
  socket.terminate();
  return time;
}

/** Of TCP payload, until the connection may carry data. For a server on this machine. */
async function handshakeBytes(handshake: Handshake, ports: ProbePorts, direction: "up" | "down"): Promise<number> {
  const relay = await startCountingRelay(ports[handshake]);
  await handshakeTime(handshake, "127.0.0.1", { ...ports, [handshake]: relay.port });
  const count = relay.bytes[direction];
  await relay.close();
  return count;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
