import { useEffect, useState } from "preact/hooks";
import type { LinkPhase } from "../../../messages/tunnel-messages.ts";
import { t } from "../../app/language.ts";
import { localeTag } from "../../app/language-choice.ts";

/** A first connection is quick; only one that takes longer than this is worth a word. */
const QUIET_CONNECTING_MS = 2_000;

/**
 * The quiet line above the bar while the link is not there; nothing while it is.
 *
 * @property storedAt as of `TabState`.
 */
export function LinkPill({ link, storedAt }: { link: LinkPhase; storedAt: number | null }) {
  const since = "since" in link ? link.since : null;
  const now = useNow(since !== null);
  if (since === null) return null;
  const waited = Math.max(0, now - since);
  if (link.kind === "connecting" && waited < QUIET_CONNECTING_MS) return null;
  return (
    <p class="link-pill" data-link={link.kind}>
      <span class="dot" />
      {storedAt === null
        ? linkText(link, now)
        : t("{first}. {second}", { first: storedText(storedAt, now), second: linkText(link, now) })}
    </p>
  );
}

/** Whether the person waits for a link that was there, or should be by now. */
export function isWaiting(link: LinkPhase): boolean {
  switch (link.kind) {
    case "connecting":
      return link.attempt > 1;
    case "offline":
    case "stalled":
    case "waiting":
      return true;
    default:
      return false;
  }
}

/** The state of the link in a few words. @param now as `Date.now()` */
export function linkText(link: LinkPhase, now: number): string {
  switch (link.kind) {
    case "unpaired":
      return t("Not paired yet");
    case "refused":
      return link.why === undefined ? t("Not paired any more") : t("Key not accepted");
    case "open":
      return t("Connected");
    case "offline":
      return t("Offline, waiting for the link, {time}", { time: seconds(now - link.since) });
    case "connecting":
      if (link.attempt === 1) return t("Connecting, {time}", { time: seconds(now - link.since) });
      return waitingText(now - link.since);
    case "stalled":
    case "waiting":
      return waitingText(now - link.since);
  }
}

/** @param now as `Date.now()` */
export function storedText(storedAt: number, now: number): string {
  return t("Stored {ago}", { ago: agoText(storedAt, now) });
}

/** @param then milliseconds since 1970. @param now as `Date.now()` */
export function agoText(then: number, now: number): string {
  const minutes = Math.max(0, Math.floor((now - then) / 60_000));
  if (minutes < 1) return t("just now");
  const format = new Intl.RelativeTimeFormat(localeTag());
  if (minutes < 60) return format.format(-minutes, "minute");
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? format.format(-hours, "hour") : format.format(-Math.floor(hours / 24), "day");
}

function waitingText(milliseconds: number): string {
  return t("Waiting for the link, {time}", { time: seconds(milliseconds) });
}

function seconds(milliseconds: number): string {
  return t("{count} s", { count: Math.max(0, Math.floor(milliseconds / 1000)) });
}

/** `Date.now()`, anew every second while `isRunning`. */
export function useNow(isRunning: boolean): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!isRunning) return;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [isRunning]);
  return now;
}
