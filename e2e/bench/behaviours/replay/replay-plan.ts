/** A workload as its replay needs it: one list of steps, each with what it waits for and what it fetches. */
import type { LinkSettings } from "../../../lab/lab.ts";
import { transferTime } from "../../floor.ts";
import { type SizedExchange, thinkTime, type Workload } from "../behaviour.ts";

/** Its URL is at a replay origin, and names the lengths that it has to answer with. */
export interface ReplayStep extends SizedExchange {
  readonly habit: string;
  /** Steps, by place in the plan, that have to be answered before. */
  readonly dependencies: readonly number[];
  /** Milliseconds after the last of those was answered; without any, after the replay's start. */
  readonly thinkTime: number;
}

export interface ReplayPlan {
  readonly name: string;
  readonly steps: readonly ReplayStep[];
}

/** @param originOf where requests to a URL's origin go; the origin itself by default. */
export function replayPlan(workload: Workload, originOf = (url: URL): string => url.origin): ReplayPlan {
  const steps: ReplayStep[] = [];
  let lastOfBehaviour: number[] = [];
  for (const behaviour of workload.behaviours) {
    const first = steps.length;
    for (const request of behaviour.requests) {
      const starts = request.dependencies.length === 0;
      const url = new URL(request.url);
      const lengths = [first + request.index, request.requestBody, request.responseHead, request.responseBody];
      steps.push({
        habit: behaviour.habit,
        dependencies: starts ? lastOfBehaviour : request.dependencies.map((index) => first + index),
        thinkTime: thinkTime(request, behaviour) + (starts ? behaviour.pause : 0),
        method: request.method,
        url: `${originOf(url)}/b/${lengths.join("/")}${url.pathname}${url.search}`,
        requestHead: request.requestHead,
        requestBody: request.requestBody,
        responseHead: request.responseHead,
        responseBody: request.responseBody,
      });
    }
    const waitedFor = new Set(behaviour.requests.flatMap(({ dependencies }) => dependencies));
    lastOfBehaviour = behaviour.requests.filter(({ index }) => !waitedFor.has(index)).map(({ index }) => first + index);
  }
  return { name: workload.name, steps };
}

/** Names of all hosts that a workload asks, in the order in which it meets them. */
export function hostsOf(workload: Workload): readonly string[] {
  return [...new Set(workload.behaviours.flatMap(({ requests }) => requests.map(({ url }) => new URL(url).hostname)))];
}

/** Bytes of all bodies of a workload. */
export function bodyBytes({ steps }: ReplayPlan): { readonly up: number; readonly down: number } {
  return {
    up: steps.reduce((sum, { requestBody }) => sum + requestBody, 0),
    down: steps.reduce((sum, { responseBody }) => sum + responseBody, 0),
  };
}

/**
 * The least L_app that any protocol could reach: along each chain of dependencies its think times, a round trip for the
 * first request and for each that is no GET (the answer to a GET may be there before it is asked for), or the bodies at
 * the link's rate if that takes longer.
 *
 * @returns milliseconds.
 */
export function replayFloor(plan: ReplayPlan, link: Pick<LinkSettings, "delay" | "down" | "up" | "loss">): number {
  const roundTrip = 2 * link.delay;
  const ends: number[] = [];
  for (const { dependencies, thinkTime, method } of plan.steps) {
    const ready = Math.max(0, ...dependencies.map((index) => ends[index] ?? 0));
    ends.push(ready + thinkTime + (method === "GET" && dependencies.length > 0 ? 0 : roundTrip));
  }
  const starts = plan.steps.filter(({ dependencies }) => dependencies.length === 0).map(({ thinkTime }) => thinkTime);
  const bytes = bodyBytes(plan);
  return Math.max(
    Math.max(...ends) - Math.min(...starts),
    transferTime({ down: link.down, loss: link.loss }, bytes.down),
    transferTime({ down: link.up, loss: link.loss }, bytes.up),
  );
}
