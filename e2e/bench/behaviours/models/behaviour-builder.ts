import type { Behaviour, BehaviourRequest, Method } from "../behaviour.ts";

/** A request as the model thinks of it: after which others, and how long after. */
export interface RequestPlan {
  readonly url: string;
  readonly method?: Method;
  /** Indices of requests in the same behaviour; none means from its beginning. */
  readonly after?: readonly number[];
  /** Milliseconds after the last of those was answered. */
  readonly think?: number;
  readonly requestHead: number;
  readonly requestBody?: number;
  readonly responseHead: number;
  readonly responseBody: number;
}

/** Puts a behaviour together, and computes request times from think times. */
export class BehaviourBuilder {
  readonly #habit: string;
  readonly #pause: number;
  readonly #requests: BehaviourRequest[] = [];

  /** @param pause milliseconds after the behaviour before. */
  constructor(habit: string, pause: number) {
    this.#habit = habit;
    this.#pause = pause;
  }

  /** @returns the request's index. */
  add(plan: RequestPlan): number {
    const dependencies = plan.after ?? [];
    const ready = Math.max(0, ...dependencies.map((index) => this.#requests[index]?.time ?? 0));
    const index = this.#requests.length;
    this.#requests.push({
      index,
      time: ready + (plan.think ?? 0),
      dependencies,
      method: plan.method ?? "GET",
      url: plan.url,
      requestHead: plan.requestHead,
      requestBody: plan.requestBody ?? 0,
      responseHead: plan.responseHead,
      responseBody: plan.responseBody,
    });
    return index;
  }

  build(): Behaviour {
    return { habit: this.#habit, pause: this.#pause, requests: this.#requests };
  }
}
