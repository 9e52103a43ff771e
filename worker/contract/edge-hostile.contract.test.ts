/** What a peer that breaks the protocol can do to an edge that runs: end its own session. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RunningEdge, startEdge } from "../../scripts/edge-process.ts";
import { toHex } from "../../shared/base-encodings.ts";
import { ErrorCode } from "../../shared/errors.ts";
import * as limits from "../../shared/limits.ts";
import { CLOSE_CODE_BASE, HEALTH_PATH, KEEP_ALIVE } from "../../shared/subprotocol.ts";
import { FuzzInput, mutate } from "../../shared/testing/mux/fuzz-input.ts";
import { messageOf } from "../../shared/testing/mux/scripted-transport.ts";
import { Random, runSeed } from "../../shared/testing/random.ts";
import { askEdge } from "../testing/contract.ts";
import { EDGES, openTunnelSocket, pairPhone, TestPhone } from "../testing/test-phone.ts";
import { startLocalOrigin } from "../upstream/testing/local-origin.ts";

/** Per edge. */
const MESSAGES = 1500;
const SOCKETS_AT_ONCE = 4;
const MESSAGES_PER_SOCKET = 25;

// All edges at once: most of the time is the patience of limits.refusalTime.
describe.concurrent.each(EDGES)("a hostile peer of an edge on %s over %s", (runtime, road) => {
  const closers: (() => unknown)[] = [];
  const log: string[] = [];
  let edge: RunningEdge;
  let token: string;
  let origin: string;
  let bystander: TestPhone;

  beforeAll(async () => {
    // Nothing private may be reached but the one origin: what the fuzzer asks for stays inside.
    const local = await startLocalOrigin((_, response) => response.end("well"));
    origin = local.origin;
    edge = await startEdge({
      runtime,
      port: 0,
      demo: { url: origin, origins: [origin] },
      log: (line) => log.push(line),
    });
    closers.push(local.close, () => edge.close());
    token = await pairPhone(edge.url, edge.accessKey);
    bystander = new TestPhone(edge.url, token, { road });
    await bystander.connect();
    closers.push(() => bystander.close());
  });
  afterAll(async () => {
    await Promise.all(closers.map((close) => close()));
    expect(log.filter((line) => /uncaught|unhandled|panic|internal error|out of memory/i.test(line))).toEqual([]);
  });

  async function expectWell(): Promise<void> {
    expect((await askEdge(edge.url, HEALTH_PATH)).status).toBe(200);
    expect((await bystander.fetch(origin)).text).toBe("well");
    expect(bystander.ended).toBeNull();
  }

  const hello = () =>
    messageOf({
      type: "hello",
      sessionId: crypto.getRandomValues(new Uint8Array(16)),
      received: 0,
      next: 0,
      link: 0,
      resume: false,
    });

  it("is told by a code that text is not spoken here", async () => {
    const socket = await openTunnelSocket(edge.url, token, road);
    socket.send("GET / HTTP/1.1");
    expect(await socket.closed).toBe(CLOSE_CODE_BASE + ErrorCode.PROTOCOL_ERROR);
    await expectWell();
  });

  it("may keep the link alive by the one text there is", async () => {
    const socket = await openTunnelSocket(edge.url, token, road);
    const answer = new Promise((resolve) => {
      socket.onMessage = resolve;
    });
    socket.send(KEEP_ALIVE);
    expect(await answer).toBe(KEEP_ALIVE);
    socket.close();
  });

  it.each([
    ["before HELLO", false],
    ["in a session", true],
  ])("sends no message above the limit %s", async (_, greets) => {
    for (const bytes of [limits.messageBytes + 1, 8 * 1024 * 1024]) {
      const socket = await openTunnelSocket(edge.url, token, road);
      if (greets) socket.send(hello());
      socket.send(new Uint8Array(bytes));
      expect(await socket.closed).toBeGreaterThan(CLOSE_CODE_BASE);
    }
    await expectWell();
  });

  it("opens no session without HELLO, nor one that it claims to have had", async () => {
    const sessionId = new Uint8Array(16);
    const attempts = [
      [messageOf({ type: "ack", received: 0 }), ErrorCode.PROTOCOL_ERROR],
      [messageOf({ type: "hello", sessionId, received: 9, next: 0, link: 0, resume: false }), ErrorCode.LINK_LOST],
    ] as const;
    for (const [bytes, code] of attempts) {
      const socket = await openTunnelSocket(edge.url, token, road);
      socket.send(bytes);
      expect(await socket.closed).toBe(CLOSE_CODE_BASE + code);
    }
  });

  it("throws random bytes and mutated frames, and nobody else notices", async () => {
    console.log(`live edge on ${runtime} over ${road}: ROPEWAY_FUZZ_SEED=${runSeed()}`);
    const all = new Random(runSeed());
    let sent = 0;
    /** By attacker: which follows from the seed. */
    const thrown: string[][] = [];
    const attack = async (_: unknown, attacker: number): Promise<void> => {
      const random = all.fork(`attacker ${attacker}`);
      const messages: string[] = [];
      thrown.push(messages);
      while (sent < MESSAGES) {
        // A device of its own: a phone's sessions are counted.
        const socket = await openTunnelSocket(edge.url, await pairPhone(edge.url, edge.accessKey), road);
        const input = new FuzzInput(random, "phone");
        if (!random.oneIn(8)) socket.send(hello());
        for (let count = 0; count < MESSAGES_PER_SOCKET && socket.isOpen; count++) {
          const message = hostileMessage(random, input);
          messages.push(`${attacker}/${messages.length}: ${toHex(message)}`);
          socket.send(message);
          sent++;
          // Lets the edge answer, and close, in between.
          if (count % 5 === 0) await new Promise((resolve) => setTimeout(resolve, 0));
        }
        socket.close();
        await socket.closed;
      }
    };
    await Promise.all(Array.from({ length: SOCKETS_AT_ONCE }, attack));
    expect(sent).toBeGreaterThanOrEqual(MESSAGES);
    await expectWell().catch((error: unknown) => {
      const last = thrown.flatMap((messages) => messages.slice(-MESSAGES_PER_SOCKET));
      throw new Error(`Cannot survive the last messages of seed ${runSeed()}:\n${last.join("\n")}`, { cause: error });
    });
  });
});

function hostileMessage(random: Random, input: FuzzInput): Uint8Array {
  const frames = messageOf(...Array.from({ length: 1 + random.below(4) }, () => input.frame()));
  switch (random.below(4)) {
    case 0:
      return random.bytes(random.below(200));
    case 1:
      return frames;
    default:
      return mutate(random, frames);
  }
}
