/** Bodies on one Ropeway stream over a WebSocket: the product's own mux at both ends, without HTTP and optimizer. */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { WebSocket } from "ws";
import { Session } from "../../../shared/mux/session/session.ts";
import type { MuxStream } from "../../../shared/mux/stream/stream.ts";
import type { Transport } from "../../../shared/transport.ts";
import { decodeMessage, SESSION_ID_BYTES } from "../../../shared/wire/frame.ts";
import { type BodyPipe, type CarrierTask, HIGH_WATER } from "./carrier.ts";

export async function connectRopeway(url: string, task: CarrierTask): Promise<BodyPipe> {
  const socket = new WebSocket(url, { perMessageDeflate: false });
  await once(socket, "open");
  const session = new Session({
    role: "phone",
    sessionId: randomBytes(SESSION_ID_BYTES),
    handler: { onEnd: () => socket.terminate() },
  });
  const transport = transportOver(socket);
  session.channel.attach(transport);
  socket.on("message", (data: Buffer) => session.channel.receive(data, transport));
  const stream = session.streams.openNow();
  const pipe = pipeOver(stream, () => socket.terminate());
  stream.sendHead([["task", JSON.stringify(task)]], false);
  return pipe;
}

/** The task is in the stream's head. */
export function acceptRopeway(socket: WebSocket, serve: (pipe: BodyPipe, task: CarrierTask) => void): void {
  socket.once("message", (first: Buffer) => {
    const hello = decodeMessage(first).next().value;
    if (hello?.type !== "hello") return socket.terminate();
    const session = new Session({
      role: "edge",
      sessionId: hello.sessionId,
      handler: {
        onEnd: () => socket.terminate(),
        onStream(stream) {
          const pipe = pipeOver(
            stream,
            () => socket.terminate(),
            (task) => {
              stream.sendHead([["task", "taken"]], false);
              serve(pipe, task);
            },
          );
        },
      },
    });
    const transport = transportOver(socket);
    session.channel.resume(transport, hello);
    session.channel.receive(first, transport);
    socket.on("message", (data: Buffer) => session.channel.receive(data, transport));
  });
}

function pipeOver(stream: MuxStream, close: () => void, onTask?: (task: CarrierTask) => void): BodyPipe {
  let waiting = 0;
  const pipe: BodyPipe = {
    send(body) {
      waiting += body.length;
      const sent = stream.write(body).then(() => {
        waiting -= body.length;
      }, close);
      return waiting < HIGH_WATER ? undefined : sent;
    },
    onBytes: () => {},
    close,
  };
  stream.handler = {
    onHead: (fields) => onTask?.(JSON.parse(fields[0]?.[1] ?? "")),
    onData(part) {
      stream.consumed(part.length);
      pipe.onBytes(part.length);
    },
    onEnd: close,
    onReset: close,
  };
  return pipe;
}

function transportOver(socket: WebSocket): Transport {
  socket.on("error", () => socket.terminate());
  return {
    send(message) {
      if (socket.readyState !== WebSocket.OPEN) return false;
      socket.send(message);
      return true;
    },
    close: (code, reason) => socket.close(code, reason),
  };
}
