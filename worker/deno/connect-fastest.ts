/** The choice among a name's addresses: as RFC 8305 section 5, each next one when those before are slow or failed. */
import { type SetTimer, setTimer as setPlatformTimer } from "../../shared/clock.ts";

/** Milliseconds: until the next address of a name is tried beside those before (RFC 8305 section 5), on Deno. */
export const CONNECTION_ATTEMPT_DELAY = 250;

/** A connection in the race: closed when it is not needed. */
interface Connection {
  close(): void;
}

/**
 * @param addresses in the order of the resolver, not empty.
 * @param connect rejects once its signal is aborted.
 * @returns the first connection; the other attempts are aborted. Rejects as the first that failed did when all have.
 */
export async function connectFastest<C extends Connection>(
  addresses: readonly string[],
  connect: (address: string, signal: AbortSignal) => Promise<C>,
  signal: AbortSignal,
  setTimer: SetTimer = setPlatformTimer,
): Promise<C> {
  signal.throwIfAborted();
  const race = new AbortController();
  const attempts = AbortSignal.any([signal, race.signal]);
  const { promise, resolve, reject } = Promise.withResolvers<C>();
  const waiting = alternating([...new Set(addresses)]);
  const errors: unknown[] = [];
  let running = 0;
  let stopTimer = () => {};

  function startNext(): void {
    stopTimer();
    const address = waiting.shift();
    if (address === undefined) return;
    running++;
    stopTimer = setTimer(startNext, CONNECTION_ATTEMPT_DELAY);
    connect(address, attempts).then(
      (connection) => {
        // Two can be there before either is heard of.
        if (attempts.aborted) return connection.close();
        resolve(connection);
        race.abort();
      },
      (error) => {
        running--;
        errors.push(error);
        if (!attempts.aborted) startNext();
        if (running === 0) reject(errors[0]);
      },
    );
  }

  startNext();
  try {
    return await promise;
  } finally {
    stopTimer();
  }
}

/** The families in turns, the first one's first (RFC 8305 section 4). */
function alternating(addresses: readonly string[]): string[] {
  const isIPv6 = (address: string) => address.includes(":");
  const [first = ""] = addresses;
  const preferred = addresses.filter((address) => isIPv6(address) === isIPv6(first));
  const others = addresses.filter((address) => isIPv6(address) !== isIPv6(first));
  return preferred
    .flatMap((address, index) => [address, ...others.slice(index, index + 1)])
    .concat(others.slice(preferred.length));
}
