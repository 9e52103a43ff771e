/**
 * How long an attempt to open a link may take. While the link is away its SYNs are lost, and the kernel sends them less
 * and less often: 0, 1 and 3 s after the attempt began on Linux, from 6.5 on each second up to 5 s, then 7, 15 and 31 s.
 * A new attempt begins with new ones, so that the link's return is met soon; but one whose SYN got through needs the
 * time of a handshake from there. Pure.
 */

/** Milliseconds: WebSocket handshake; six round trips at GPRS's worst 3 s. */
export const SOCKET_OPEN_TIMEOUT = 20_000;

/** Milliseconds: a handshake gets at least this: SYN sent again after 1 and 3 s, then three round trips. */
export const SOCKET_OPEN_TIMEOUT_MIN = 5_000;

/** Milliseconds in which a kernel sends SYNs often. */
const DENSE_SYNS = 4_000;
/** A handshake may take so much longer than the last one did. */
const HANDSHAKE_SLACK = 1.25;
/**
 * Milliseconds: a handshake that took longer shared a slow link, for instance with the app's own files at its start.
 */
const LONGEST_HANDSHAKE = 5_000;
/**
 * One attempt in so many gets more time, by this factor: the phone may be on a slower network by now. It is one in
 * `everySlow` where handshakes take long already: networks that are slower still are rare, and in most of a long
 * attempt SYNs are rare, too.
 */
const LONG_ATTEMPT = { every: 3, everySlow: 6, factor: 2 };

/**
 * @param handshake milliseconds that handshakes took here, null before the first.
 * @param timeouts attempts before it that ended in silence.
 * @returns milliseconds.
 */
export function attemptTime(handshake: number | null, timeouts: number): number {
  if (handshake === null) return SOCKET_OPEN_TIMEOUT;
  const time = Math.max(SOCKET_OPEN_TIMEOUT_MIN, DENSE_SYNS + allowance(handshake));
  const { factor } = LONG_ATTEMPT;
  const every = handshake < LONGEST_HANDSHAKE ? LONG_ATTEMPT.every : LONG_ATTEMPT.everySlow;
  return Math.min(SOCKET_OPEN_TIMEOUT, timeouts % every === every - 1 ? factor * time : time);
}

/** Whether an attempt that is `age` ms old may have lost no packet yet. */
export function isOnTime(handshake: number | null, age: number): boolean {
  return age <= allowance(handshake ?? LONGEST_HANDSHAKE);
}

function allowance(handshake: number): number {
  return HANDSHAKE_SLACK * Math.min(handshake, LONGEST_HANDSHAKE);
}

/** What to take the next handshake for: one that had to wait for the link to come back says little. */
export function expectedHandshake(known: number | null, measured: number): number {
  return known === null ? measured : Math.min(measured, 2 * known);
}
