import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { settle } from "../../shared/testing/turns.ts";
import { openOverConnection } from "./origin-socket.ts";

const PING = Uint8Array.of(0x89, 1);
const bytes = (...parts: readonly (Uint8Array | number[])[]) => Uint8Array.from(parts.flatMap((part) => [...part]));
const ping = (say: number) => bytes(PING, [say]);

/** A socket, what its origin sends as it is told to, and what it is sent. */
async function opened() {
  const waiting: ((read: Uint8Array | null) => void)[] = [];
  const sent: Uint8Array[] = [];
  /** Settles when the origin takes what it is sent. */
  let taking: Promise<void> = Promise.resolve();
  const connection = {
    read: () => new Promise<Uint8Array | null>((resolve) => waiting.push(resolve)),
    write: async (frame: Uint8Array) => {
      sent.push(frame);
      await taking;
    },
    close: () => {
      for (const end of waiting.splice(0)) end(null);
    },
  };
  const send = async (...parts: readonly Uint8Array[]) => {
    waiting.shift()?.(bytes(...parts));
    await settle();
  };
  const opening = openOverConnection(
    { url: new URL("http://a.example/"), headers: new Headers() },
    connection,
    new AbortController().signal,
  );
  await settle();
  const key = /Sec-WebSocket-Key: (\S+)/.exec(String(Buffer.from(sent.shift() ?? [])))?.[1];
  const accept = createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
  const lines = ["HTTP/1.1 101 Yes", "Upgrade: websocket", "Connection: Upgrade", `Sec-WebSocket-Accept: ${accept}`];
  await send(Buffer.from(`${lines.join("\r\n")}\r\n\r\n`));
  const { socket } = await opening;
  if (socket === null) throw new Error("no socket");
  return {
    socket,
    send,
    hold: () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      taking = promise;
      return resolve;
    },
    /** What each answer says: the mask undone. */
    pongs: () => sent.map((frame) => (frame[0] === 0x8a ? (frame[6] ?? 0) ^ (frame[2] ?? 0) : frame[0])),
  };
}

describe("pings of an origin", () => {
  it("that came together are answered once, with what the last one says", async () => {
    const { socket, send, pongs } = await opened();
    const received = socket.receive();
    await send(...Array.from({ length: 5_000 }, () => ping(1)), ping(2));
    expect(pongs()).toEqual([2]);
    await send(ping(3));
    // The beginning of another frame is no reason to wait.
    await send(ping(4), Uint8Array.of(0x81));
    expect(pongs()).toEqual([2, 3, 4]);
    await send(bytes([1], [0x61]));
    expect(await received).toMatchObject({ kind: "text", isLast: true });
  });

  it("are answered before the message behind them is taken", async () => {
    const { socket, send, pongs } = await opened();
    const received = socket.receive();
    await send(ping(1), Uint8Array.of(0x81, 1, 0x61), ping(2));
    expect(await received).toMatchObject({ kind: "text" });
    expect(pongs()).toEqual([1]);
    void socket.receive();
    await settle();
    expect(pongs()).toEqual([1, 2]);
  });

  it("have one answer on its way to an origin that takes none", async () => {
    const { socket, send, pongs, hold } = await opened();
    void socket.receive();
    const take = hold();
    for (let say = 1; say <= 10; say += 1) await send(ping(say));
    expect(pongs()).toEqual([1]);
    take();
    await settle();
    expect(pongs()).toEqual([1, 10]);
  });
});
