/** The steps of one visit, from the person's wish to the load event. */
import type { Frame } from "@playwright/test";
import type { BrowserTrace, TraceEvent } from "./browser-trace.ts";

/** Milliseconds since 1970. */
export interface PageTimes {
  readonly navigationStart: number;
  readonly responseStart: number;
  readonly responseEnd: number;
  readonly domContentLoaded: number;
  readonly firstContentfulPaint: number | null;
  /** Of what the page asked for; null where that was nothing. */
  readonly firstAsked: number | null;
  readonly lastAsked: number | null;
  readonly lastArrived: number | null;
}

export interface Phase {
  readonly name: string;
  /** Milliseconds since the person asked for the page. */
  readonly at: number;
}

/** Messages of the tunnel's WebSocket until the load event. */
export interface MessageCount {
  readonly up: number;
  readonly down: number;
  readonly bytesUp: number;
  readonly bytesDown: number;
}

interface SocketEvent {
  readonly name: string;
  /** Milliseconds since the person asked for the page. */
  readonly at: number;
  readonly length: number;
}

/** A message below this is an acknowledgement or a pong. */
const ANSWER_BYTES = 16;

export function readPageTimes(page: Frame): Promise<PageTimes> {
  return page.evaluate(() => {
    const { timeOrigin } = performance;
    const [navigation] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
    const resources = performance.getEntriesByType("resource") as PerformanceResourceTiming[];
    const asked = resources.map(({ startTime }) => timeOrigin + startTime);
    const paint = performance.getEntriesByName("first-contentful-paint")[0]?.startTime;
    const edge = (times: number[], pick: (...values: number[]) => number): number | null =>
      times.length === 0 ? null : pick(...times);
    return {
      navigationStart: timeOrigin,
      responseStart: timeOrigin + (navigation?.responseStart ?? 0),
      responseEnd: timeOrigin + (navigation?.responseEnd ?? 0),
      domContentLoaded: timeOrigin + (navigation?.domContentLoadedEventEnd ?? 0),
      firstContentfulPaint: paint === undefined ? null : timeOrigin + paint,
      firstAsked: edge(asked, Math.min),
      lastAsked: edge(asked, Math.max),
      lastArrived: edge(
        resources.map(({ responseEnd }) => timeOrigin + responseEnd),
        Math.max,
      ),
    };
  });
}

/**
 * By time. What did not happen is left out: an app that is open opens no socket.
 *
 * @param zero, load milliseconds since 1970.
 */
export function phases(trace: BrowserTrace, times: PageTimes, zero: number, load: number): Phase[] {
  const socket = socketEvents(trace, zero);
  const first = (...names: string[]): number | null => socket.find(({ name }) => names.includes(name))?.at ?? null;
  const answers = socket.filter(({ name, length }) => name === "WebSocketReceive" && length >= ANSWER_BYTES);
  const sinceZero = (time: number | null): number | null => (time === null ? null : time - zero);
  const all: [string, number | null][] = [
    ["socket asked for", first("WebSocketCreate")],
    ["socket open", first("WebSocketReceiveHandshakeResponse")],
    ["page asked for", first("WebSocketSendHandshakeRequest", "WebSocketSend")],
    ["first answer at the tunnel", answers[0]?.at ?? null],
    ["frame set out for the page", sinceZero(times.navigationStart)],
    ["document at its frame", sinceZero(times.responseStart)],
    ["document whole", sinceZero(times.responseEnd)],
    ["DOM content loaded", sinceZero(times.domContentLoaded)],
    ["first contentful paint", sinceZero(times.firstContentfulPaint)],
    ["first object asked for", sinceZero(times.firstAsked)],
    ["last object asked for", sinceZero(times.lastAsked)],
    ["last message at the tunnel", answers.findLast(({ at }) => at <= load - zero)?.at ?? null],
    ["last object at the page", sinceZero(times.lastArrived)],
    ["load event", load - zero],
  ];
  return all.flatMap(([name, at]) => (at === null ? [] : [{ name, at }])).toSorted((one, other) => one.at - other.at);
}

export function countMessages(trace: BrowserTrace, zero: number, load: number): MessageCount {
  const events = socketEvents(trace, zero).filter(({ at }) => at <= load - zero);
  const of = (wanted: string): SocketEvent[] => events.filter(({ name }) => name === wanted);
  const bytes = (some: readonly SocketEvent[]): number => some.reduce((sum, { length }) => sum + length, 0);
  const [up, down] = [of("WebSocketSend"), of("WebSocketReceive")];
  return { up: up.length, down: down.length, bytesUp: bytes(up), bytesDown: bytes(down) };
}

function socketEvents({ events, clockOffset }: BrowserTrace, zero: number): SocketEvent[] {
  const start = zero * 1000 + clockOffset;
  return events
    .filter(({ name, ts }) => name.startsWith("WebSocket") && ts >= start)
    .map((event: TraceEvent) => ({
      name: event.name,
      at: (event.ts - start) / 1000,
      length: event.args.data?.dataLength ?? 0,
    }))
    .toSorted((one, other) => one.at - other.at);
}
