import type { RopewayError } from "../../errors.ts";
import * as limits from "../../limits.ts";
import { Session, type SessionHandler } from "../../mux/session/session.ts";
import { DEFAULT_PRIORITY, type EncodableField, type Frame, type SequencedFrame } from "../../wire/frame.ts";
import { HpackEncoder } from "../../wire/hpack/header-encoder.ts";
import { Turns } from "../turns.ts";
import { TEST_SESSION_ID } from "./linked-sessions.ts";
import { type EncodableFrame, messageOf, ScriptedTransport } from "./scripted-transport.ts";

/** A session whose peer a test plays frame by frame, after a proper HELLO. */
export class ScriptedPeer {
  readonly session: Session;
  readonly transport = new ScriptedTransport();
  readonly turns = new Turns();
  /** For blocks that decode. */
  readonly encoder = new HpackEncoder({ maxTableBytes: limits.hpackTableBytes });
  /** Why the session ended, each time it said so. */
  readonly errors: RopewayError[] = [];

  /** @param role of the session under test. */
  constructor(role: "phone" | "edge", handler: Partial<SessionHandler> = {}) {
    this.session = new Session({
      role,
      sessionId: TEST_SESSION_ID,
      defer: this.turns.defer,
      // A clock that stands: what a test sees does not depend on the machine's speed.
      now: () => 0,
      handler: { ...handler, onEnd: (error) => this.errors.push(error) },
    });
    const hello = { type: "hello", sessionId: TEST_SESSION_ID, received: 0, next: 0, link: 0, resume: false } as const;
    if (role === "phone") this.session.channel.attach(this.transport);
    else this.session.channel.resume(this.transport, hello);
    this.session.channel.receive(messageOf(hello), this.transport);
    this.heard();
  }

  /** Sends one message, and returns what the session says to it. */
  say(...frames: readonly EncodableFrame[]): Frame[] {
    return this.sayBytes(messageOf(...frames));
  }

  sayBytes(message: Uint8Array): Frame[] {
    this.session.channel.receive(message, this.transport);
    return this.heard();
  }

  /** What the session has sent since it was last asked. */
  heard(): Frame[] {
    this.turns.run();
    return this.transport.takeFrames();
  }

  head(streamId: number, fields: readonly EncodableField[], end = true): SequencedFrame {
    return { type: "head", streamId, end, priority: DEFAULT_PRIORITY, block: this.encoder.encode(fields) };
  }
}

export function data(streamId: number, bytes: number, end = false): SequencedFrame {
  return { type: "data", streamId, end, payload: new Uint8Array(bytes) };
}
