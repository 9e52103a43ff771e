/**
 * What it costs an edge to mark a script's reads (worker/delivery/names): processor time for each 100 kB, in a new process and
 * when the code is hot, and how much longer the script gets.
 *
 *   node scripts/measure-reads.ts [FILE…]
 *
 * Without files, ten libraries that browsers load, of the packages of this repository and of its bench.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { markReads } from "../worker/delivery/names/script-reads.ts";

const root = join(fileURLToPath(import.meta.url), "..", "..");

const LIBRARIES = [
  "node_modules/jquery/dist/jquery.min.js",
  "node_modules/jquery-ui/dist/jquery-ui.min.js",
  "node_modules/katex/dist/katex.min.js",
  "node_modules/impress.js/js/impress.js",
  "node_modules/reveal.js/dist/reveal.js",
  "node_modules/swagger-ui-dist/swagger-ui-standalone-preset.js",
  "node_modules/swagger-ui-dist/swagger-ui-bundle.js",
  "node_modules/oidc-client-ts/dist/browser/oidc-client-ts.min.js",
  "node_modules/pdfjs-dist/legacy/build/pdf.mjs",
  "e2e/bench/node_modules/d3/dist/d3.min.js",
  "e2e/bench/node_modules/bootstrap/dist/js/bootstrap.bundle.min.js",
];

interface Cost {
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  readonly grown: number;
  /** Milliseconds. */
  readonly first: number;
  readonly hot: number;
}

const HOT_RUNS = 5;

function costOf(file: string): Cost {
  const text = readFileSync(file, "utf8");
  const times: number[] = [];
  let marked: string | null = null;
  for (let run = 0; run <= HOT_RUNS; run++) {
    const before = process.cpuUsage();
    marked = markReads(text);
    const { user, system } = process.cpuUsage(before);
    times.push((user + system) / 1000);
  }
  const [first = 0, ...hot] = times;
  const size = Buffer.byteLength(text);
  const grown = marked === null ? 0 : Buffer.byteLength(marked) - size;
  return { name: basename(file), size, grown, first, hot: hot.sort((one, other) => one - other)[2] ?? 0 };
}

const [mode, ...rest] = process.argv.slice(2);
if (mode === "--one") console.log(JSON.stringify(costOf(rest[0] ?? "")));
else {
  const given = mode === undefined ? LIBRARIES.map((file) => join(root, file)).filter(existsSync) : [mode, ...rest];
  console.log(
    "| script | kB | longer by | first, ms per 100 kB | hot, ms per 100 kB |\n| --- | ---: | ---: | ---: | ---: |",
  );
  for (const file of given) {
    const output = execFileSync(process.execPath, [...process.execArgv, fileURLToPath(import.meta.url), "--one", file]);
    const { name, size, grown, first, hot } = JSON.parse(output.toString()) as Cost;
    const per = (time: number) => ((time / size) * 100_000).toFixed(0);
    const longer = `${((grown / size) * 100).toFixed(1)} %`;
    console.log(`| ${name} | ${(size / 1000).toFixed(0)} | ${longer} | ${per(first)} | ${per(hot)} |`);
  }
}
