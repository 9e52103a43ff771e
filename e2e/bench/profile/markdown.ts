/** A profile as text for people. */
import { median } from "../statistics.ts";
import { edgeStages } from "./edge-stages.ts";
import type { CellProfile, CodeCost, ProfileResult, ThreadCost } from "./model.ts";

const ROWS = 8;

export function profileMarkdown({ cells, rounds, startedAt }: ProfileResult): string {
  const head = [
    "# Where the time goes",
    "",
    `${startedAt}; ${rounds} visits of each kind, times in milliseconds. Waterfall, link and processor time are of the`,
    "visit with the median load; functions are of one more visit, which their profilers slow down.",
  ];
  return `${[...head, ...cells.flatMap(cellMarkdown)].join("\n")}\n`;
}

function cellMarkdown(cell: CellProfile): string[] {
  const { link, messages } = cell;
  const load = median(cell.loads);
  const phone = sum(cell.phoneThreads);
  const edge = sum(cell.edgeThreads);
  return [
    "",
    `## ${cell.id}`,
    "",
    `Load ${whole(load)} (HTTP/2: ${whole(median(cell.directLoads))}). The link carried nothing for ${whole(link.idle)}, nothing`,
    `down for ${whole(link.idleDown)}. ${messages.down} messages down, ${messages.up} up. Processor: phone ${whole(phone)}, edge ${whole(edge)}.`,
    "",
    ...table(["step", "at", "after the one before"], steps(cell)),
    "",
    ...table(["phone, processor", "ms", "of it compiling scripts"], phoneTimeRows(cell)),
    "",
    ...table(["phone, by thread", "ms", "of all"], threadRows(cell.phoneThreads)),
    "",
    ...table(["phone, by source (profiled)", "thread", "ms"], codeRows(cell.phoneSources)),
    "",
    ...table(["phone, by function (profiled)", "thread", "ms"], codeRows(cell.phoneFunctions)),
    "",
    ...table(["edge, by thread", "ms", "of all"], threadRows(cell.edgeThreads)),
    "",
    ...table(
      ["edge, by stage (profiled)", "ms", "of all"],
      threadRows(edgeStages(cell.edgeSources), Number.POSITIVE_INFINITY),
    ),
    "",
    ...table(["edge, by source (profiled)", "thread", "ms"], codeRows(cell.edgeSources)),
    "",
    ...table(["edge, by function (profiled)", "thread", "ms"], codeRows(cell.edgeFunctions)),
    "",
    `Largest on the phone: ${largest(cell.phoneThreads)}. Largest of its scripts: ${largestCode(cell.phoneSources)}.`,
    `Largest at the edge: ${largestCode(cell.edgeSources)}. Longest steps: ${longestSteps(cell)}.`,
  ];
}

function phoneTimeRows({ phoneTimes }: CellProfile): string[][] {
  if (phoneTimes === undefined) return [];
  const { ropeway, direct } = phoneTimes;
  return [["Ropeway", ropeway] as const, ["HTTP/2", direct] as const].map(([who, { all, compiling }]) => [
    who,
    whole(all),
    whole(compiling),
  ]);
}

function steps({ phases }: CellProfile): string[][] {
  return phases.map(({ name, at }, index) => [name, whole(at), whole(at - (phases[index - 1]?.at ?? 0))]);
}

function longestSteps({ phases }: CellProfile): string {
  return phases
    .map(({ name, at }, index) => ({ name, time: at - (phases[index - 1]?.at ?? 0), from: phases[index - 1]?.name }))
    .toSorted((one, other) => other.time - one.time)
    .slice(0, 3)
    .map(({ name, time, from }) => `${from ?? "the wish"} → ${name} (${whole(time)})`)
    .join(", ");
}

function threadRows(costs: readonly ThreadCost[], most = ROWS): string[][] {
  const all = sum(costs);
  return costs.slice(0, most).map(({ thread, time }) => [thread, whole(time), `${whole((100 * time) / all)} %`]);
}

function codeRows(costs: readonly CodeCost[]): string[][] {
  return costs
    .slice(0, ROWS)
    .map(({ thread, source, functionName, time }) => [
      functionName === null ? source : `\`${functionName}\`, ${source}`,
      thread,
      whole(time),
    ]);
}

function largest(costs: readonly ThreadCost[]): string {
  return costs
    .slice(0, 3)
    .map(({ thread, time }) => `${thread} (${whole(time)})`)
    .join(", ");
}

function largestCode(costs: readonly CodeCost[]): string {
  return costs
    .slice(0, 3)
    .map(({ thread, source, time }) => `${source} (${thread}, ${whole(time)})`)
    .join(", ");
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map((_, index) => (index === 0 ? "---" : "---:"))), ...rows.map(line)];
}

function sum(costs: readonly ThreadCost[]): number {
  return costs.reduce((total, { time }) => total + time, 0);
}

function whole(value: number): string {
  return Math.round(value).toLocaleString("en");
}
