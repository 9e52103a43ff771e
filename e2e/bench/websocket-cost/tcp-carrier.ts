import { once } from "node:events";
import { createConnection, type Socket } from "node:net";
import { type BodyPipe, type CarrierTask, HIGH_WATER } from "./carrier.ts";

export async function connectTcp(host: string, port: number, task: CarrierTask): Promise<BodyPipe> {
  const socket = createConnection(port, host);
  await once(socket, "connect");
  socket.write(`${JSON.stringify(task)}\n`);
  return pipeOver(socket);
}

/** The task is the connection's first line; what follows goes to the pipe. */
export function acceptTcp(socket: Socket, serve: (pipe: BodyPipe, task: CarrierTask) => void): void {
  let line = "";
  const read = (part: Buffer): void => {
    const end = part.indexOf(10);
    line += part.toString("utf8", 0, end < 0 ? part.length : end);
    if (end < 0) return;
    socket.off("data", read);
    const pipe = pipeOver(socket);
    serve(pipe, JSON.parse(line));
    if (end + 1 < part.length) pipe.onBytes(part.length - end - 1);
  };
  socket.on("data", read);
}

function pipeOver(socket: Socket): BodyPipe {
  socket.setNoDelay(true);
  socket.on("error", () => socket.destroy());
  const pipe: BodyPipe = {
    // As much as the others let wait; more than Node's own mark, so the event for an empty buffer will come.
    send: (body) => {
      socket.write(body);
      return socket.writableLength < HIGH_WATER ? undefined : drained(socket);
    },
    onBytes: () => {},
    close: () => void socket.destroy(),
  };
  socket.on("data", (part: Buffer) => pipe.onBytes(part.length));
  return pipe;
}

/** Resolves when the socket takes more, or is gone. */
function drained(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      socket.off("drain", done).off("close", done);
      resolve();
    };
    socket.on("drain", done).on("close", done);
  });
}
