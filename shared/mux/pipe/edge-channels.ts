/** What only the edge does with the channels of a session. */
import * as limits from "../../limits.ts";
import type { Transport } from "../../transport.ts";
import type { ChannelFrame } from "../../wire/frame.ts";
import type { Attachment } from "./attachment.ts";
import { begunAnew, cannotResume } from "./channel-errors.ts";
import { type ChannelSet, isQuiet } from "./channel-set.ts";

/**
 * A transport for the channel that the phone's HELLO names, which goes on, or begins.
 *
 * @param isCarried the transport is a `carrier`.
 * @throws RopewayError LINK_LOST as Channel.resume.
 */
export function resumeChannel(
  channels: ChannelSet,
  transport: Transport,
  hello: ChannelFrame & { type: "hello" },
  isCarried = false,
): Attachment {
  const index = hello.channel ?? 0;
  const known = channels.by(index);
  const begins = hello.received === 0 && hello.next === 0;
  // A further channel that the phone knows to be known here was forgotten, with what it has acted on.
  const isForgotten = known === undefined && (!begins || (index > 0 && hello.resume));
  if (index >= limits.channels || isForgotten) throw cannotResume("a channel is gone");
  if (known !== undefined) {
    // The phone has retired the one that was there.
    const isOver = known.channel.retirement.name !== "none" && begins && !hello.resume;
    known.channel.retirement = { name: "none" };
    if (isOver) {
      for (const stream of [...known.streams.values()]) stream.fail(begunAnew());
      channels.drop(known);
    }
  }
  channels.at(index).channel.resume(transport, hello, isCarried);
  return channels.attachment(index, transport);
}

/** A transport that already carried the channel, before the edge hibernated. */
export function adoptChannel(channels: ChannelSet, index: number, transport: Transport): Attachment {
  channels.at(index).channel.adopt(transport);
  return channels.attachment(index, transport);
}

interface ClosingSession {
  readonly channels: ChannelSet;
  readonly receiver: { strand(): void };
}

/**
 * The phone has confirmed the end of the transport of a channel. It may not know that itself, if the link broke then, and
 * resume: so the channel is kept, but it may be forgotten.
 *
 * @returns false when something of the channel is under way.
 */
export function confirmRetirement({ channels, receiver }: ClosingSession, index: number): boolean {
  const retiring = channels.by(index);
  if (retiring === undefined) return true;
  if (!isQuiet(retiring)) return false;
  channels.first.skipOwnIds(retiring.lastOwnId);
  retiring.channel.retirement = { name: "confirmed" };
  receiver.strand();
  return true;
}
