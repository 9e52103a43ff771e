import type { DeviceEvent, PairedDevice } from "../../../../shared/devices.ts";
import { agoText } from "../bar/link-pill.tsx";
import { formatBytes } from "../parts/format.ts";

/** When it was last there, what it has used, and what ends it. @param now as `Date.now()` */
export function deviceHint({ usage, guest }: PairedDevice, now: number): string {
  const parts: string[] = [];
  if (usage !== null) {
    parts.push(usage.isConnected ? "Connected" : `Last seen ${agoText(usage.seenAt, now)}`);
    const most = guest?.mostBytes ?? null;
    parts.push(`${formatBytes(usage.bytes)}${most === null ? "" : ` of ${formatBytes(most)}`} used`);
  }
  if (guest?.endsAt) parts.push(`until ${timeText(guest.endsAt)}`);
  if (guest !== null) parts.unshift("Guest");
  return parts.join(" · ");
}

/** Day and time, as the person's language has them. @param time milliseconds since the epoch. */
export function timeText(time: number): string {
  return new Date(time).toLocaleString([], { dateStyle: "short", timeStyle: "short" });
}

const WITH = { key: "by the access key", code: "by a code", "former-token": "before there was a list" } as const;
const WHY = {
  unused: "was not used for 90 days",
  "time-over": "was a guest whose time is over",
  "data-used-up": "was a guest that used up its data",
} as const;

/** What happened, in a sentence. */
export function eventText(event: DeviceEvent): string {
  switch (event.kind) {
    case "paired":
      return `${event.name} was paired ${WITH[event.with]}`;
    case "unpaired":
      return `${event.name} was unpaired${event.by === null ? "" : ` from ${event.by}`}`;
    case "ended":
      return `${event.name} ${WHY[event.why]}`;
    case "turned-away":
      return `${event.name} asked to come in, but is not paired any more`;
    case "refused":
      return event.count === 1 ? "A wrong key or code was refused" : `${event.count} wrong keys or codes were refused`;
    case "key-changed":
      return `The access key was changed${event.by === null ? "" : ` from ${event.by}`}`;
  }
}
