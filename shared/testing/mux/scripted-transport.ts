import type { Transport } from "../../transport.ts";
import { decodeMessage, encodeFrame, type Frame } from "../../wire/frame.ts";

export type EncodableFrame = Parameters<typeof encodeFrame>[0];

/** A link whose far end is played by a test: keeps what was sent, delivers nothing by itself. */
export class ScriptedTransport implements Transport {
  readonly messages: Uint8Array[] = [];
  closed: { readonly code: number; readonly reason: string } | null = null;

  send(message: Uint8Array): boolean {
    if (this.closed !== null) return false;
    this.messages.push(message);
    return true;
  }

  close(code: number, reason: string): void {
    this.closed ??= { code, reason };
  }

  /** All frames sent so far, and forgets them. */
  takeFrames(): Frame[] {
    return this.messages.splice(0).flatMap((message) => [...decodeMessage(message)]);
  }
}

/** Frames as one message. */
export function messageOf(...frames: readonly EncodableFrame[]): Uint8Array {
  return Uint8Array.from(frames.flatMap((frame) => [...encodeFrame(frame)]));
}
