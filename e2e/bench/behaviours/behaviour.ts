/**
 * What an application asks of the network, in the terms of HTTP/2-Advance (Dong, Shuang, Cai, Wang, Li): behaviours of
 * (index, request time, resources it depends on, method, URL, header length, body length), grouped by habit.
 */

export const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] as const;

export type Method = (typeof METHODS)[number];

/** One request and the size of its answer. All lengths are bytes as HTTP/1.1 would send them. */
export interface SizedExchange {
  readonly method: Method;
  /** Absolute, http: or https:, without a fragment. */
  readonly url: string;
  /** Request line and fields, with the empty line. */
  readonly requestHead: number;
  readonly requestBody: number;
  /** Status line and fields, with the empty line. */
  readonly responseHead: number;
  readonly responseBody: number;
}

export interface BehaviourRequest extends SizedExchange {
  /** Place in its behaviour, from 0. */
  readonly index: number;
  /**
   * Milliseconds since the behaviour began, on a network that takes no time: a request's think time is what lies
   * between the latest of its dependencies' times and its own.
   */
  readonly time: number;
  /** Indices of the requests whose answers it waits for; all smaller than its own. */
  readonly dependencies: readonly number[];
}

/** One thing that a person does with an application, such as reading an article. */
export interface Behaviour {
  /** What kind of thing: login, refresh, read, post, repost, ... */
  readonly habit: string;
  /** Milliseconds between the last answer of the behaviour before, or the start, and this one's time 0. */
  readonly pause: number;
  readonly requests: readonly BehaviourRequest[];
}

/** A sitting with one application: behaviours one after the other. */
export interface Workload {
  readonly name: string;
  readonly behaviours: readonly Behaviour[];
}

/** Milliseconds between the end of a request's dependencies (or the behaviour's start) and the request. */
export function thinkTime(request: BehaviourRequest, behaviour: Behaviour): number {
  const ready = request.dependencies.map((index) => behaviour.requests[index]?.time ?? 0);
  return request.time - Math.max(0, ...ready);
}

const TOKEN = /^[a-z0-9]+(-[a-z0-9]+)*$/;

/** @returns what is wrong with the behaviour, or null. */
export function behaviourFault({ habit, pause, requests }: Behaviour): string | null {
  if (!TOKEN.test(habit)) return `its habit ${JSON.stringify(habit)} is not made of a-z, 0-9 and -`;
  if (!isCount(pause)) return `its pause ${pause} is not a whole number from 0`;
  if (requests.length === 0) return "it has no requests";
  for (const [position, request] of requests.entries()) {
    const fault = requestFault(request, position, requests);
    if (fault !== null) return `request ${position}: ${fault}`;
  }
  return null;
}

/** @returns what is wrong with the request at this position of its behaviour, or null. */
export function requestFault(
  request: BehaviourRequest,
  position: number,
  requests: readonly BehaviourRequest[],
): string | null {
  if (request.index !== position) return `its index is ${request.index}`;
  if (!METHODS.includes(request.method)) return `its method ${request.method} is none of ${METHODS.join(", ")}`;
  const url = URL.parse(request.url);
  if (url === null || !/^https?:$/.test(url.protocol) || url.hash !== "" || /\s/.test(request.url)) {
    return `its URL ${JSON.stringify(request.url)} is not an absolute http(s) URL without a fragment`;
  }
  for (const name of ["time", "requestHead", "requestBody", "responseHead", "responseBody"] as const) {
    if (!isCount(request[name])) return `its ${name} ${request[name]} is not a whole number from 0`;
  }
  if (request.requestBody > 0 && (request.method === "GET" || request.method === "HEAD")) {
    return `a ${request.method} has no body`;
  }
  if (request.responseBody > 0 && request.method === "HEAD") return "the answer to HEAD has no body";
  if (new Set(request.dependencies).size < request.dependencies.length) return "it names a dependency twice";
  for (const dependency of request.dependencies) {
    const earlier = dependency < position ? requests[dependency] : undefined;
    if (earlier === undefined) return `it depends on ${dependency}, which is not an earlier request`;
    if (earlier.time > request.time) return `it comes before its dependency ${dependency}`;
  }
  return null;
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}
