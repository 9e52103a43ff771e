/** V8's CPU profiles, from the inspector or put together from the pieces in a browser's trace. */

/** Where code is, as V8 counts: lines and columns from 0. */
export interface CodePlace {
  readonly functionName: string;
  readonly url: string;
  readonly lineNumber: number;
  readonly columnNumber: number;
}

/** DevTools protocol, Profiler.Profile, as far as it is used. */
export interface CpuProfile {
  readonly nodes: readonly { readonly id: number; readonly callFrame: CodePlace }[];
  /** Ids of the nodes that were found on top. */
  readonly samples: readonly number[];
  /** Microseconds between one sample and the one before it, or the start. */
  readonly timeDeltas: readonly number[];
  /** Microseconds, by the clock of the profiled process. */
  readonly startTime: number;
}

export interface SelfTime {
  readonly place: CodePlace;
  /** Milliseconds in which it was on top of the stack. */
  readonly time: number;
}

/** Not the engine's words for "nothing ran". */
const IDLE = new Set(["(idle)", "(root)"]);

/** A gap between samples means that nobody sampled, not that one function ran for all of it. */
const LONGEST_SAMPLE = 20_000;

/**
 * Self time by place, the most first. A sample stands for the time up to the next one.
 *
 * @param from microseconds by the clock of the profile.
 */
export function selfTimes(
  profile: CpuProfile,
  from = Number.NEGATIVE_INFINITY,
  to = Number.POSITIVE_INFINITY,
): SelfTime[] {
  const places = new Map(profile.nodes.map(({ id, callFrame }) => [id, callFrame]));
  const times = new Map<string, { place: CodePlace; time: number }>();
  let at = profile.startTime;
  for (const [index, id] of profile.samples.entries()) {
    at += profile.timeDeltas[index] ?? 0;
    const next = Math.min(LONGEST_SAMPLE, profile.timeDeltas[index + 1] ?? 0);
    const place = places.get(id);
    if (place === undefined || IDLE.has(place.functionName) || at < from || at > to || next <= 0) continue;
    const key = `${place.url}:${place.lineNumber}:${place.columnNumber}:${place.functionName}`;
    const entry = times.get(key) ?? { place, time: 0 };
    entry.time += next / 1000;
    times.set(key, entry);
  }
  return [...times.values()].toSorted((one, other) => other.time - one.time);
}
