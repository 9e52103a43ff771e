/** A result's tables for BENCHMARKS.md, and their way into it. */
import { readFile, rename, writeFile } from "node:fs/promises";
import type { BenchResult } from "../model.ts";
import { PAPER_FIGURE_HEAD, paperFigures } from "./paper-figures.ts";
import { SUMMARY_HEAD, summaryRows } from "./summary.ts";

/** One block of BENCHMARKS.md: what stands between `<!-- bench:ID -->` and `<!-- /bench -->`. */
const BLOCK = /<!-- bench:(\S+) -->([\s\S]*?)<!-- \/bench -->/g;
const START = /<!-- bench:(\S+) -->/g;

/**
 * Fills the blocks `summary` (Ropeway beside the best direct contestant) and `papers` (their figures beside ours), and
 * leaves all else as it is.
 *
 * @returns names of the blocks filled.
 * @throws Error "Cannot update FILE: …" when it cannot be read, or a block has no end.
 */
export async function updateBenchmarks(file: string, { experiments, seed }: BenchResult): Promise<string[]> {
  const text = await readFile(file, "utf8").catch((error: Error) => {
    throw new Error(`Cannot update ${file}: ${error.message}`);
  });
  const tables: Readonly<Record<string, () => string>> = {
    summary: () => markdownTable(SUMMARY_HEAD, summaryRows(experiments, seed)),
    papers: () => markdownTable(PAPER_FIGURE_HEAD, paperFigures(experiments)),
  };
  const filled: string[] = [];
  let updated = text;
  for (const id of blockIds(text, file)) {
    const table = tables[id];
    if (table === undefined) continue;
    const content = table();
    updated = updated.replaceAll(BLOCK, (block, name) =>
      name === id ? `<!-- bench:${id} -->\n${content}\n<!-- /bench -->` : block,
    );
    filled.push(id);
  }
  await writeFile(`${file}.partial`, updated);
  await rename(`${file}.partial`, file);
  return filled;
}

/** @throws Error "Cannot update FILE: block ID has no end". */
function blockIds(text: string, file: string): string[] {
  const whole = [...text.matchAll(BLOCK)];
  for (const [block, id] of whole) {
    if ([...block.matchAll(START)].length > 1) throw new Error(`Cannot update ${file}: block ${id} has no end`);
  }
  const starts = [...text.matchAll(START)].map(([, id]) => id ?? "");
  if (starts.length > whole.length) throw new Error(`Cannot update ${file}: block ${starts.at(-1)} has no end`);
  return [...new Set(starts)];
}

/** First column to the left, the others to the right. */
export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const rule = head.map((_, column) => (column === 0 ? "---" : "---:"));
  return [line(head.map(plain)), line(rule), ...rows.map((row) => line(row.map(plain)))].join("\n");
}

/** Text that Markdown takes for what it is: no tags, columns, links or comments of its own. */
function plain(text: string): string {
  return text
    .replaceAll(/\s+/g, (space) => (space.includes("\n") ? " " : space))
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll("|", "\\|")
    .replaceAll("`", "\\`");
}
