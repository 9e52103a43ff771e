/** Files that the phone has to load, gzipped, and how much they may be. */
import { gzipSync } from "node:zlib";
import type { BuiltFiles } from "./built-files.ts";
import { withoutContentHash } from "./content-hash.ts";

interface Budget {
  readonly name: string;
  readonly files: readonly string[];
  /** Bytes after gzip. */
  readonly limit: number;
}

const KB = 1000;

const budgets: readonly Budget[] = [
  {
    name: "shell and slot scripts",
    files: ["early.js", "shell.js", ".ropeway/slot-worker.js", ".ropeway/sw.js"],
    limit: 120.2 * KB,
  },
  { name: "shell's sheets", files: [".ropeway/sheets.js"], limit: 19.1 * KB },
  { name: "history and bookmarks", files: [".ropeway/library.js"], limit: 11.9 * KB },
  { name: "sheet of devices", files: [".ropeway/devices.js"], limit: 8.9 * KB },
  { name: "find in page", files: [".ropeway/find.js", ".ropeway/find-text.js"], limit: 8.1 * KB },
  { name: "reader", files: [".ropeway/reader.js"], limit: 15.3 * KB },
  { name: "sheet of downloads", files: [".ropeway/downloads-sheet.js"], limit: 4 * KB },
  { name: "tunnel", files: [".ropeway/tunnel.js"], limit: 53.1 * KB },
  { name: "store's decoder", files: [".ropeway/decoder.js"], limit: 27 * KB },
  { name: "decoder of brotli", files: [".ropeway/brotli.js"], limit: 106 * KB },
  {
    name: "questions of pages",
    files: [".ropeway/permissions.js", ".ropeway/page-permissions.js"],
    limit: 7 * KB,
  },
  { name: "written documents", files: [".ropeway/written.js"], limit: 5 * KB },
  { name: "views of documents", files: [".ropeway/view.js"], limit: 12.9 * KB },
  { name: "words of slots' documents", files: [".ropeway/words.js"], limit: 1.2 * KB },
  { name: "viewer of PDFs", files: [".ropeway/pdf.js", ".ropeway/pdf-worker.js"], limit: 470 * KB },
  { name: "sockets of pages", files: [".ropeway/page-sockets.js"], limit: 4 * KB },
  { name: "sign-ins of servers", files: [".ropeway/sign-ins.js"], limit: 6 * KB },
  { name: "downloads", files: [".ropeway/downloads.js"], limit: 6 * KB },
  { name: "tunnel's store", files: [".ropeway/store.js"], limit: 32.7 * KB },
  { name: "shell service worker", files: ["sw.js"], limit: 10 * KB },
  { name: "pages without scripts", files: [".ropeway/lite.js", ".ropeway/lite-worker.js"], limit: 25.4 * KB },
  { name: "style sheet", files: ["shell.css"], limit: 7 * KB },
];

export interface BudgetReport {
  readonly table: string;
  readonly exceeded: readonly string[];
}

export function checkBudgets(files: BuiltFiles): BudgetReport {
  const lines: string[] = [];
  const exceeded: string[] = [];
  for (const { name, files: paths, limit } of budgets) {
    const sizes = paths.map((path) => {
      const contents = files.get(path) ?? namedByContent(files, path);
      if (contents === undefined) throw new Error(`Cannot check the budget of ${name}: ${path} was not built`);
      return gzipSync(contents, { level: 9 }).length;
    });
    const size = sizes.reduce((sum, each) => sum + each, 0);
    const parts =
      paths.length > 1 ? ` (${paths.map((path, index) => `${path} ${inKb(sizes[index] ?? 0)}`).join(", ")})` : "";
    lines.push(`${name.padEnd(23)} ${inKb(size).padStart(5)} of ${inKb(limit).padStart(5)} KB${parts}`);
    if (size > limit) exceeded.push(`${name}: ${size} of ${limit} bytes gzip`);
  }
  return { table: lines.join("\n"), exceeded };
}

function namedByContent(files: BuiltFiles, path: string): Uint8Array | undefined {
  return [...files].find(([name]) => withoutContentHash(name) === path)?.[1];
}

function inKb(bytes: number): string {
  return (bytes / KB).toFixed(1);
}
