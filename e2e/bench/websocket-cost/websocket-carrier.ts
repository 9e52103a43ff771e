import { once } from "node:events";
import { type RawData, WebSocket } from "ws";
import { type BodyPipe, type CarrierTask, HIGH_WATER } from "./carrier.ts";

/** Each body is one message. */
export async function connectWebSocket(url: string, task: CarrierTask): Promise<BodyPipe> {
  const socket = new WebSocket(url, { perMessageDeflate: false });
  await once(socket, "open");
  socket.send(JSON.stringify(task));
  return pipeOver(socket);
}

/** The task is the first message. */
export function acceptWebSocket(socket: WebSocket, serve: (pipe: BodyPipe, task: CarrierTask) => void): void {
  socket.once("message", (data: RawData) => serve(pipeOver(socket), JSON.parse(String(data))));
}

function pipeOver(socket: WebSocket): BodyPipe {
  socket.on("error", () => socket.terminate());
  const pipe: BodyPipe = {
    send(body) {
      if (socket.bufferedAmount < HIGH_WATER) return void socket.send(body);
      return new Promise((resolve) => socket.send(body, () => resolve()));
    },
    onBytes: () => {},
    close: () => socket.terminate(),
  };
  socket.on("message", (data: Buffer) => pipe.onBytes(data.length));
  return pipe;
}
