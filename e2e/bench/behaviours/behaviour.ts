/**
 * What an application asks of the network, in the terms of HTTP/2-Advance (Dong, Shuang, Cai, Wang, Li): behaviours of
 * (index, request time, resources it depends on, method, URL, header length, body length), grouped by habit. As files,
 * tab-separated lines, one request each:
 *
 * ```
 * # comments
 * behaviour  HABIT  PAUSE                    begins a behaviour; PAUSE in milliseconds
 * INDEX  TIME  DEPENDENCIES  METHOD  URL  REQUEST-HEAD  REQUEST-BODY  RESPONSE-HEAD  RESPONSE-BODY
 * ```
 *
 * DEPENDENCIES are indices with commas between, or "-" for none; times are milliseconds, lengths bytes.
 */

export type Method = "GET" | "HEAD" | "POST";

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

/**
 * @param file for error messages.
 * @throws Error "Cannot read FILE line N: …" where a line is not as described above.
 */
export function readWorkload(text: string, name: string, file: string): Workload {
  const behaviours: (Behaviour & { requests: BehaviourRequest[] })[] = [];
  for (const [position, line] of text.split("\n").entries()) {
    if (line === "" || line.startsWith("#")) continue;
    const [first = "", ...rest] = line.split("\t");
    const current = behaviours.at(-1);
    if (first === "behaviour") behaviours.push({ habit: rest[0] ?? "", pause: Number(rest[1]), requests: [] });
    else if (current !== undefined && rest.length === 8 && Number(first) === current.requests.length)
      current.requests.push(requestOf(Number(first), rest));
    else throw new Error(`Cannot read ${file} line ${position + 1}: it is neither a behaviour nor its next request`);
  }
  return { name, behaviours };
}

function requestOf(
  index: number,
  [time, dependencies = "", method, url = "", ...lengths]: readonly string[],
): BehaviourRequest {
  const [requestHead = 0, requestBody = 0, responseHead = 0, responseBody = 0] = lengths.map(Number);
  return {
    ...{ index, time: Number(time), method: method as Method, url },
    dependencies: dependencies === "-" ? [] : dependencies.split(",").map(Number),
    ...{ requestHead, requestBody, responseHead, responseBody },
  };
}
