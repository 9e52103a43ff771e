/**
 * Behaviours as text: tab-separated lines, one request each.
 *
 * ```
 * # Ropeway behaviours 1                     first line; later lines that begin with # are comments
 * behaviour  HABIT  PAUSE                    begins a behaviour; PAUSE in milliseconds
 * INDEX  TIME  DEPENDENCIES  METHOD  URL  REQUEST-HEAD  REQUEST-BODY  RESPONSE-HEAD  RESPONSE-BODY
 * ```
 *
 * DEPENDENCIES are indices with commas between, or "-" for none; times are milliseconds, lengths bytes. What each field
 * means: behaviour.ts.
 */
import {
  type Behaviour,
  type BehaviourRequest,
  behaviourFault,
  type Method,
  requestFault,
  type Workload,
} from "./behaviour.ts";

const FIRST_LINE = "# Ropeway behaviours 1";
const COLUMNS = 9;

/** @param comments lines for people, without "#". @throws when a behaviour is not valid. */
export function writeWorkload(workload: Workload, comments: readonly string[] = []): string {
  const lines = [FIRST_LINE, ...comments.map((comment) => `# ${comment}`)];
  for (const [position, behaviour] of workload.behaviours.entries()) {
    const fault = behaviourFault(behaviour);
    if (fault !== null) throw new Error(`Cannot write behaviour ${position} of ${workload.name}: ${fault}`);
    lines.push(["behaviour", behaviour.habit, behaviour.pause].join("\t"), ...behaviour.requests.map(requestLine));
  }
  return `${lines.join("\n")}\n`;
}

/**
 * @param name the workload's.
 * @param file for error messages.
 * @throws with file and line when the text is not as described above, or a behaviour is not valid.
 */
export function readWorkload(text: string, name: string, file: string): Workload {
  const fail = (line: number, reason: string): never => {
    throw new Error(`Cannot read ${file} line ${line}: ${reason}`);
  };
  const lines = text.split("\n").map((line) => line.replace(/\r$/, ""));
  if (lines[0] !== FIRST_LINE) fail(1, `it is not ${JSON.stringify(FIRST_LINE)}`);
  const behaviours: (Behaviour & { requests: BehaviourRequest[] })[] = [];
  let opened = 0;
  const finish = (): void => {
    const last = behaviours.at(-1);
    const fault = last === undefined ? null : behaviourFault(last);
    if (fault !== null) fail(opened, fault);
  };
  for (const [position, line] of lines.entries()) {
    const number = position + 1;
    if (line === "" || line.startsWith("#")) continue;
    const cells = line.split("\t");
    if (cells[0] === "behaviour") {
      finish();
      opened = number;
      if (cells.length !== 3) fail(number, `a behaviour has a habit and a pause, not ${cells.length - 1} cells`);
      behaviours.push({ habit: cells[1] ?? "", pause: count(cells[2]), requests: [] });
      continue;
    }
    const current = behaviours.at(-1);
    if (current === undefined) return fail(number, "there is no behaviour before this request");
    if (cells.length !== COLUMNS) fail(number, `it has ${cells.length} cells, not ${COLUMNS}`);
    const request = requestOf(cells);
    const fault = requestFault(request, current.requests.length, current.requests);
    if (fault !== null) fail(number, fault);
    current.requests.push(request);
  }
  finish();
  if (behaviours.length === 0) fail(lines.length, "it has no behaviour");
  return { name, behaviours };
}

function requestLine(request: BehaviourRequest): string {
  return [
    request.index,
    request.time,
    request.dependencies.join(",") || "-",
    request.method,
    request.url,
    request.requestHead,
    request.requestBody,
    request.responseHead,
    request.responseBody,
  ].join("\t");
}

function requestOf(cells: readonly string[]): BehaviourRequest {
  return {
    index: count(cells[0]),
    time: count(cells[1]),
    dependencies: cells[2] === "-" ? [] : (cells[2] ?? "").split(",").map(count),
    method: cells[3] as Method,
    url: cells[4] ?? "",
    requestHead: count(cells[5]),
    requestBody: count(cells[6]),
    responseHead: count(cells[7]),
    responseBody: count(cells[8]),
  };
}

/** NaN, which no check lets pass, for what is no plain decimal number. */
function count(cell = ""): number {
  return /^\d+$/.test(cell) ? Number(cell) : Number.NaN;
}
