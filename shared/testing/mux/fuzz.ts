/**
 * The fuzzer: mutated frames and heads against the decoders and the session. Everything follows from a seed. Each function
 * returns how many mutated frames it threw (sessions get plain ones in between, or they would end too soon), or throws with
 * seed, position and bytes.
 */
import { toHex } from "../../base-encodings.ts";
import { RopewayError } from "../../errors.ts";
import { serveExchange, startExchange } from "../../http/exchange.ts";
import { fieldsToRequest, fieldsToResponse } from "../../http/head-fields.ts";
import * as limits from "../../limits.ts";
import { Session, type SessionSnapshot, snapshotOf } from "../../mux/session/session.ts";
import type { MuxStream } from "../../mux/stream/stream.ts";
import type { Transport } from "../../transport.ts";
import { decodeMessage } from "../../wire/frame.ts";
import { HpackDecoder } from "../../wire/hpack/header-decoder.ts";
import { ConsumerLog, CountedBody, responseHead } from "../http/exchange-rig.ts";
import { requestHead } from "../http/request-heads.ts";
import type { Random } from "../random.ts";
import { Turns } from "../turns.ts";
import { FuzzInput, type FuzzKnowledge, message, mutate } from "./fuzz-input.ts";
import { TEST_SESSION_ID } from "./linked-sessions.ts";
import { messageOf } from "./scripted-transport.ts";

type Role = "phone" | "edge";

/** What was thrown and what the session said, in order, where somebody wants to know. */
type Steps = string[] | null;

/** Mutated messages at the frame decoder. */
export function fuzzFrames(random: Random, frames: number): number {
  let input = new FuzzInput(random, "phone");
  for (let thrown = 0; thrown < frames; ) {
    if (thrown % 1000 === 0) input = new FuzzInput(random, random.pick<Role>(["phone", "edge"]));
    const count = 1 + random.below(3);
    const bytes = mutate(
      random,
      message(count, () => input.frame()),
    );
    thrown += count;
    guard(random, thrown, bytes, () => {
      let decoded = 0;
      for (const frame of decodeMessage(bytes)) {
        decoded += 1;
        if (frame.type === "data") expectThat(frame.payload.buffer === bytes.buffer, "payloads are not copied");
      }
      expectThat(decoded <= bytes.length, "a frame takes bytes");
    });
  }
  return frames;
}

/** Mutated HPACK blocks at the header decoder, and what comes of them at the readers of heads. */
export function fuzzHeads(random: Random, heads: number): number {
  const fresh = (): HpackDecoder =>
    new HpackDecoder({
      maxTableBytes: limits.hpackTableBytes,
      maxListBytes: limits.headListBytes,
      maxFields: limits.headFields,
    });
  let decoder = fresh();
  let input = new FuzzInput(random, "phone");
  for (let thrown = 1; thrown <= heads; thrown += 1) {
    const bytes = random.oneIn(10) ? random.bytes(random.below(200)) : mutate(random, input.block());
    guard(random, thrown, bytes, () => {
      try {
        const fields = decoder.decode(bytes);
        for (const read of [() => fieldsToRequest(fields), () => fieldsToResponse(fields, "https://a.example/")]) {
          guard(random, thrown, bytes, read);
        }
      } catch (error) {
        if (error instanceof RopewayError && error.scope === "session") {
          decoder = fresh();
          input = new FuzzInput(random, random.pick<Role>(["phone", "edge"]));
        }
        throw error;
      }
      expectThat(tableBytes(decoder) <= limits.hpackTableBytes, "the header table keeps to its limit");
    });
  }
  return heads;
}

/** Mutated and merely senseless messages at sessions of both roles, which answer, consume, hibernate and resume. */
export function fuzzSessions(random: Random, frames: number, steps: Steps = null): number {
  let thrown = 0;
  while (thrown < frames) {
    const target = new FuzzTarget(random, random.pick<Role>(["phone", "edge"]), { steps });
    const input = new FuzzInput(random, target.role === "edge" ? "phone" : "edge", target);
    const greedy = random.oneIn(100);
    const next = greedy ? () => input.greed() : () => input.frame();
    const patience = 1 + random.below(400);
    for (let messages = 0; messages < patience && target.session.ended === null; messages += 1) {
      const count = 1 + random.below(4);
      const isMutated = random.oneIn(greedy ? 500 : 12);
      const bytes = isMutated ? mutate(random, message(count, next)) : message(count, next);
      if (isMutated) thrown += count;
      guard(random, thrown, bytes, () => {
        target.say(bytes);
        if (!greedy) target.act();
        target.check();
      });
    }
    guard(random, thrown, new Uint8Array(0), () => target.finish());
  }
  return thrown;
}

/** The same at sessions whose streams are HTTP exchanges, with the platform's streams and decoders behind them. */
export async function fuzzExchanges(random: Random, frames: number, steps: Steps = null): Promise<number> {
  let thrown = 0;
  while (thrown < frames) {
    const target = new FuzzTarget(random, random.pick<Role>(["phone", "edge"]), { steps, exchanges: true });
    const input = new FuzzInput(random, target.role === "edge" ? "phone" : "edge", target);
    const next = (): ReturnType<FuzzInput["frame"]> => input.frame();
    for (let messages = 0; messages < 100 && target.session.ended === null; messages += 1) {
      const isMutated = random.oneIn(12);
      const bytes = isMutated ? mutate(random, message(3, next)) : message(3, next);
      if (isMutated) thrown += 3;
      guard(random, thrown, bytes, () => {
        target.say(bytes);
        target.check();
      });
      await Promise.resolve();
    }
    await new Promise<void>((resolve) => setTimeout(resolve, 0));
    guard(random, thrown, new Uint8Array(0), () => target.finish());
  }
  return thrown;
}

/** A session under fire, the owner of its streams, and what must hold all the time. */
class FuzzTarget implements FuzzKnowledge {
  readonly role: Role;
  streams = 0;
  session: Session;
  readonly #random: Random;
  readonly #turns = new Turns();
  readonly #exchanges: boolean;
  readonly #steps: Steps;
  /** Milliseconds of the session's clock. */
  #now = 0;
  #transport: Transport;
  /** Bytes that each stream's owner was given and has not consumed. */
  readonly #unread = new Map<MuxStream, number>();

  constructor(random: Random, role: Role, { exchanges = false, steps }: { exchanges?: boolean; steps: Steps }) {
    this.#random = random;
    this.role = role;
    this.#exchanges = exchanges;
    this.#steps = steps;
    this.session = this.#open();
    this.#transport = this.#socket();
    const hello = { type: "hello", sessionId: TEST_SESSION_ID, received: 0, next: 0, link: 0, resume: false } as const;
    if (role === "phone") this.session.channel.attach(this.#transport);
    else this.session.channel.resume(this.#transport, hello);
    this.say(messageOf(hello));
    if (role === "phone") for (let streams = 1 + random.below(6); streams > 0; streams -= 1) this.#request();
  }

  get sent(): number {
    return this.session.channel.snapshot().sent;
  }

  say(bytes: Uint8Array): void {
    this.#note("hears", bytes);
    this.session.channel.receive(bytes, this.#transport);
    this.#turns.run();
  }

  /** Something that an owner of streams, or the network, might do now. */
  act(): void {
    const random = this.#random;
    if (this.session.ended !== null) return;
    this.#now += random.below(100);
    const [stream, unread] = this.#unread.size === 0 ? [null, 0] : random.pick([...this.#unread]);
    switch (random.below(8)) {
      case 0:
        if (stream !== null && this.role === "edge" && stream.state !== "closed") this.#answer(stream);
        break;
      case 1:
        stream?.write(new Uint8Array(random.below(100_000))).catch(() => {});
        break;
      case 2:
        stream?.reset(8);
        break;
      case 3:
        stream?.end();
        break;
      case 4:
      case 5:
        stream?.consumed(unread);
        if (stream !== null) this.#unread.set(stream, 0);
        break;
      case 6:
        this.#reconnect();
        break;
      default:
        if (random.oneIn(4) && this.role === "edge" && this.session.streams.count === 0) this.#hibernate();
    }
    this.#turns.run();
  }

  check(): void {
    const { session } = this;
    expectThat(session.streams.count <= limits.concurrentStreams, "streams keep to their limit");
    expectThat(session.channel.retained.bytes <= limits.retainedBytes, "what is kept keeps to its limit");
    const edge = this.role === "edge";
    const window = edge ? limits.uploadUnreadBytes : limits.unreadBytes;
    const streamWindow = edge ? limits.uploadSessionCreditBytes : limits.sessionCreditBytes;
    let unread = 0;
    for (const bytes of this.#unread.values()) {
      unread += bytes;
      expectThat(bytes <= streamWindow, "unread bytes keep to the stream's credit");
    }
    expectThat(unread <= window, "unread bytes keep to the session's credit");
    if (!this.#random.oneIn(32)) return;
    const { encoder, decoder, grantedCredit } = snapshotOf(session);
    for (const { table } of [encoder, decoder]) {
      const bytes = table.entries.reduce((sum, [name, value]) => sum + name.length + value.length + 32, 0);
      expectThat(bytes <= limits.hpackTableBytes, "header tables keep to their limit");
    }
    expectThat(grantedCredit >= 0 && grantedCredit <= window, "credit that is out is within the window");
  }

  finish(): void {
    this.session.end(new RopewayError(0, "session", "user", "Cannot go on: enough"));
    this.#turns.run();
    expectThat(this.session.streams.count === 0, "no stream outlives its session");
    expectThat(this.session.channel.retained.count === 0, "nothing is kept after the end");
  }

  #open(snapshot?: SessionSnapshot): Session {
    return new Session({
      role: this.role,
      sessionId: TEST_SESSION_ID,
      defer: this.#turns.defer,
      now: () => this.#now,
      ...(snapshot ? { snapshot } : {}),
      handler: {
        onStream: (stream) => (this.#exchanges ? this.#serve(stream) : this.#own(stream)),
        onEnd: (error) => {
          const ours = error.initiator === "library" && error.cause !== undefined;
          if (ours) throw new Error("Cannot accept an internal error", { cause: error });
          this.#unread.clear();
        },
      },
    });
  }

  #socket(): Transport {
    let open = true;
    return {
      send: (bytes) => {
        this.#note("says", bytes);
        expectThat(bytes.length <= limits.messageBytes, "messages keep to their limit");
        return open;
      },
      close: () => {
        open = false;
      },
    };
  }

  #note(does: string, bytes: Uint8Array): void {
    this.#steps?.push(`${this.role} ${does} ${bytes.length}: ${toHex(bytes.subarray(0, 100))}`);
  }

  #own(stream: MuxStream): void {
    this.#unread.set(stream, 0);
    stream.handler = {
      onHead: (fields) => void fieldsToRequest(fields),
      onData: (chunk) => this.#unread.set(stream, (this.#unread.get(stream) ?? 0) + chunk.length),
      onEnd: () => {},
      onReset: (error) => {
        if (error.cause !== undefined) throw new Error("Cannot accept an internal error", { cause: error });
        this.#unread.delete(stream);
      },
    };
  }

  #serve(stream: MuxStream): void {
    const choice = this.#random.below(4);
    serveExchange(stream, async ({ body }) => {
      if (choice === 0) throw new RopewayError(0x20, "stream", "origin", "Cannot answer");
      if (choice === 1) for await (const chunk of body ?? []) expectThat(chunk.length > 0, "chunks are not empty");
      return { head: responseHead, body: choice === 2 ? null : new CountedBody(100_000).stream };
    });
  }

  #request(): void {
    this.streams += 1;
    const stream = this.session.streams.openNow();
    if (!this.#exchanges) {
      this.#own(stream);
      if (stream.handler !== null) stream.handler.onHead = (fields) => void fieldsToResponse(fields, requestHead.url);
      stream.sendHead([[":method", "GET"]], this.#random.oneIn(2));
      return;
    }
    const body = this.#random.oneIn(2) ? null : new CountedBody(50_000).stream;
    startExchange(stream, requestHead, body, new ConsumerLog());
  }

  #answer(stream: MuxStream): void {
    try {
      stream.sendHead([[":status", "200"]], this.#random.oneIn(2));
    } catch (error) {
      if (!(error instanceof RopewayError)) throw error;
    }
  }

  #reconnect(): void {
    const random = this.#random;
    this.session.channel.detach(this.#transport);
    this.#transport = this.#socket();
    const { sent, received } = this.session.channel.snapshot();
    const near = (value: number): number => Math.max(0, value - random.below(4) + (random.oneIn(8) ? 1 : 0));
    const hello = {
      type: "hello",
      sessionId: TEST_SESSION_ID,
      received: near(sent),
      next: near(received),
      link: 0,
      resume: false,
    } as const;
    if (this.role === "phone") this.session.channel.attach(this.#transport);
    else {
      try {
        this.session.channel.resume(this.#transport, hello);
      } catch (error) {
        if (!(error instanceof RopewayError)) throw error;
      }
    }
    this.say(messageOf(hello));
  }

  #hibernate(): void {
    this.session.channel.flush();
    this.#unread.clear();
    this.session = this.#open(structuredClone(snapshotOf(this.session)));
    this.session.channel.adopt(this.#transport);
  }
}

function tableBytes(decoder: HpackDecoder): number {
  return decoder.snapshot().table.entries.reduce((sum, [name, value]) => sum + name.length + value.length + 32, 0);
}

/** Runs a step that may fail with a RopewayError and with nothing else. */
function guard(random: Random, position: number, bytes: Uint8Array, step: () => unknown): void {
  try {
    step();
  } catch (error) {
    if (error instanceof RopewayError) return;
    const hex = toHex(bytes.subarray(0, 200));
    throw new Error(`Cannot survive frame ${position} of seed ${random.seed}: ${hex}`, { cause: error });
  }
}

function expectThat(holds: boolean, what: string): void {
  if (!holds) throw new Error(`Cannot see that ${what}`);
}
