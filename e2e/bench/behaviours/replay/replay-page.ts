/**
 * The script of replay.html: fetches a plan from its own host and does what it says with fetch(). Runs in a browser, the
 * same for every contestant; sees nothing of what carries its requests.
 *
 * A request starts when all that it depends on was answered and its think time after that has passed. If one of those
 * failed, it is not sent. With `?plan=NAME&hold` it waits for `window.replay.start()`.
 */

import { ownRequestHead, paddingFields } from "./head-padding.ts";
import { NoiseBytes } from "./noise-bytes.ts";
import { type ReplayedRequest, type ReplayOutcome, replayOutcome } from "./replay-outcome.ts";
import type { ReplayPlan, ReplayStep } from "./replay-plan.ts";

export interface ReplayWindow {
  readonly replay: {
    /** Starts a replay that is held, once. */
    start(): void;
    /** Requests done so far. */
    done: number;
    outcome: ReplayOutcome | null;
    /** Why there is no replay: the page's own failure. */
    error: string | null;
  };
}

const parameters = new URLSearchParams(location.search);
let start: () => void = () => {};
const started = new Promise<void>((resolve) => {
  start = resolve;
});
const replay: ReplayWindow["replay"] = { start, done: 0, outcome: null, error: null };
Object.assign(window, { replay });

show("loading");
try {
  const plan = await loadPlan(parameters.get("plan") ?? "");
  show("ready");
  if (parameters.has("hold")) await started;
  show("running");
  replay.outcome = await runPlan(plan);
  show(replay.outcome.failures === 0 ? "done" : "failed");
} catch (error) {
  replay.error = String(error);
  show("failed");
}

function show(phase: "loading" | "ready" | "running" | "done" | "failed"): void {
  document.documentElement.dataset.replay = phase;
  const { outcome, error } = replay;
  const latency = outcome?.applicationLatency;
  document.body.textContent =
    error ?? (latency == null ? phase : `${phase}: ${outcome?.requests.length} requests in ${Math.round(latency)} ms`);
}

async function loadPlan(name: string): Promise<ReplayPlan> {
  const response = await fetch(`/plan/${name}.json`);
  if (!response.ok) throw new Error(`Cannot load the plan ${name}: status ${response.status}`);
  return response.json();
}

async function runPlan(plan: ReplayPlan): Promise<ReplayOutcome> {
  performance.setResourceTimingBufferSize(plan.steps.length + 100);
  performance.clearResourceTimings();
  let firstRequest: number | null = null;
  /** Milliseconds since the first request. */
  const clock = (): number => {
    const now = performance.now();
    firstRequest ??= now;
    return now - firstRequest;
  };
  const answers: Promise<ReplayedRequest>[] = [];
  for (const [index, step] of plan.steps.entries()) {
    answers.push(afterDependencies(answers, index, step, clock));
  }
  const requests = await Promise.all(answers);
  return replayOutcome({
    name: plan.name,
    startedAt: performance.timeOrigin + (firstRequest ?? 0),
    requests,
    bodyBytesUp: plan.steps.reduce(
      (sum, { requestBody }, index) => sum + (requests[index]?.end == null ? 0 : requestBody),
      0,
    ),
    protocols: [...new Set(performance.getEntriesByType("resource").map(protocolOf))].sort(),
  });
}

async function afterDependencies(
  answers: readonly Promise<ReplayedRequest>[],
  index: number,
  step: ReplayStep,
  clock: () => number,
): Promise<ReplayedRequest> {
  const waitedFor = await Promise.all(step.dependencies.map((dependency) => answers[dependency]));
  const { habit, method, url } = step;
  const failed = step.dependencies.find((_, position) => waitedFor[position]?.failure !== null);
  if (failed !== undefined) {
    const failure = `not sent, since request ${failed} failed`;
    return { habit, method, url, start: null, head: null, end: null, bytes: 0, failure };
  }
  if (step.thinkTime > 0) await new Promise((resolve) => setTimeout(resolve, step.thinkTime));
  return send(index, step, clock);
}

async function send(index: number, step: ReplayStep, clock: () => number): Promise<ReplayedRequest> {
  const { habit, method, url } = step;
  const body = step.requestBody === 0 ? null : new NoiseBytes(index).take(step.requestBody);
  const headers = paddingOf(step);
  const start = clock();
  let head: number | null = null;
  let bytes = 0;
  try {
    const response = await fetch(url, { method, headers, body });
    head = clock();
    if (response.status !== 200) throw new Error(`status ${response.status}: ${await response.text()}`);
    const expected = new NoiseBytes(index);
    let right = true;
    const reader = response.body?.getReader();
    for (let part = await reader?.read(); part?.value !== undefined; part = await reader?.read()) {
      bytes += part.value.length;
      right = expected.matches(part.value) && right;
    }
    if (bytes !== step.responseBody) throw new Error(`${bytes} bytes came instead of ${step.responseBody}`);
    if (!right) throw new Error("other bytes came than were asked for");
    return { habit, method, url, start, head, end: clock(), bytes, failure: null };
  } catch (error) {
    return { habit, method, url, start, head, end: null, bytes, failure: String(error) };
  } finally {
    replay.done++;
  }
}

/** Fields of our own would cost a request to another origin a CORS preflight, so only those to our own get some. */
function paddingOf(step: ReplayStep): [string, string][] {
  const url = new URL(step.url);
  if (url.origin !== location.origin) return [];
  return paddingFields(step.requestHead - ownRequestHead(step, url, navigator.userAgent));
}

function protocolOf(entry: PerformanceEntry): string {
  return (entry as PerformanceResourceTiming).nextHopProtocol;
}
