import { setTimeout as sleep } from "node:timers/promises";
import { CHECK_NAMES, type Check, type CheckName, type Findings, SmokeFault, type SmokeSettings } from "./check.ts";
import { frontChecks } from "./front-checks.ts";
import { siteChecks } from "./site-checks.ts";
import { tidyUp, tunnelChecks } from "./tunnel-checks.ts";

/** Milliseconds for one check: with a page over a slow line in it. */
const CHECK_TIME = 20_000;

export type Outcome =
  | { readonly type: "passed"; readonly name: CheckName; readonly detail: string }
  | { readonly type: "failed"; readonly name: CheckName; readonly what: string; readonly mend: string }
  | { readonly type: "not tried"; readonly name: CheckName; readonly because: CheckName };

/** In the order in which they run. */
const checks: readonly Check[] = [...frontChecks, ...siteChecks, ...tunnelChecks].toSorted(
  (a, b) => CHECK_NAMES.indexOf(a.name) - CHECK_NAMES.indexOf(b.name),
);

/**
 * @param tell takes each outcome as it comes.
 * @returns what stays on the edge, for a person.
 */
export async function runChecks(settings: SmokeSettings, tell: (outcome: Outcome) => void): Promise<string> {
  const nothing = { slotHost: null, slotOrigins: [], demoUrl: null, token: null, resting: null };
  const found: Findings = { origin: settings.origin, ...nothing };
  const passed = new Set<CheckName>();
  for (const check of checks) {
    const because = check.needs.find((name) => !passed.has(name));
    const outcome: Outcome =
      because === undefined ? await runCheck(check, settings, found) : { type: "not tried", name: check.name, because };
    if (outcome.type === "passed") passed.add(check.name);
    tell(outcome);
  }
  return tidyUp(found);
}

async function runCheck({ name, run }: Check, settings: SmokeSettings, found: Findings): Promise<Outcome> {
  try {
    const detail = await Promise.race([run(settings, found), sleep(CHECK_TIME, null, { ref: false })]);
    if (detail !== null) return { type: "passed", name, detail };
    throw new SmokeFault(`No answer within ${CHECK_TIME / 1000} seconds`, "Try again; then see the edge's log");
  } catch (error) {
    if (error instanceof SmokeFault) return { type: "failed", name, what: error.message, mend: error.mend };
    const what = error instanceof Error ? error.message : String(error);
    return { type: "failed", name, what, mend: "Try again; then see the edge's log" };
  }
}
