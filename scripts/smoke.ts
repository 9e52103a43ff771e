/**
 * `npm run smoke -- https://my.edge`: checks a deployment from outside, as a phone would use it. The access key comes with
 * a pairing link in place of the address, in ROPEWAY_ACCESS_KEY, from the state folder of an edge on this machine, or from the
 * terminal.
 */
import { createInterface } from "node:readline/promises";
import { parseArgs } from "node:util";
import { isLocalName } from "../worker/front/edge-settings.ts";
import { COMMANDS, readArguments } from "./command-line.mjs";
import { LOCAL_KEY_FILE, readAccessKey } from "./local-edge/access-key.ts";
import { CHECK_NAMES, type SmokeSettings } from "./smoke/check.ts";
import { type Outcome, runChecks } from "./smoke/run-checks.ts";

try {
  const settings = await readSettings();
  process.exitCode = (await smoke(settings)) ? 0 : 1;
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
// A socket that nobody answers would keep the process.
process.exit();

/** @returns whether all is well. */
async function smoke(settings: SmokeSettings): Promise<boolean> {
  const start = performance.now();
  console.log(`Checking ${settings.origin}`);
  const outcomes: Outcome[] = [];
  const left = await runChecks(settings, (outcome) => {
    outcomes.push(outcome);
    console.log(lineOf(outcome, outcomes.length));
  });
  const passed = outcomes.filter(({ type }) => type === "passed").length;
  const seconds = Math.round((performance.now() - start) / 1000);
  console.log(`${passed} of ${outcomes.length} checks passed in ${seconds} s. Left on the edge: ${left}.`);
  return passed === outcomes.length;
}

function lineOf(outcome: Outcome, number: number): string {
  const width = Math.max(...CHECK_NAMES.map(({ length }) => length));
  const begin = (word: string): string =>
    `${word.padEnd(5)} ${String(number).padStart(2)} ${outcome.name.padEnd(width)} `;
  switch (outcome.type) {
    case "passed":
      return `${begin("ok")} ${outcome.detail}`;
    case "not tried":
      return `${begin("-")} not tried: it needs "${outcome.because}"`;
    case "failed":
      return `${begin("FAULT")} ${outcome.what}.\n${" ".repeat(begin("").length + 1)}${outcome.mend}.`;
  }
}

async function readSettings(): Promise<SmokeSettings> {
  const { values, positionals } = readArguments("smoke", () =>
    parseArgs({ options: COMMANDS.smoke.options, allowPositionals: true }),
  );
  const url = URL.parse(positionals[0] ?? "");
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new Error("Cannot check: say which edge, https://my.edge say; --help lists what there is");
  const ofLink = new URLSearchParams(url.hash.slice(1)).get("key");
  const given = ofLink || process.env.ROPEWAY_ACCESS_KEY;
  // The edge on this machine that was started here has its key here.
  const kept = isLocalName(url.hostname) ? await readAccessKey(LOCAL_KEY_FILE) : "";
  return { origin: url.origin, accessKey: given || kept || (await askForKey()), page: values.page ?? null };
}

async function askForKey(): Promise<string> {
  if (!process.stdin.isTTY)
    throw new Error("Cannot check: the access key is missing; set ROPEWAY_ACCESS_KEY, or give the pairing link");
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = (await terminal.question("Access key, or pairing link: ")).trim();
  terminal.close();
  return new URLSearchParams(URL.parse(answer)?.hash.slice(1)).get("key") ?? answer;
}
