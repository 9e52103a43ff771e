/**
 * What a changed file costs, and a sibling of a page: gzip, brotli, VCDIFF (xdelta3, where it is installed) and `dcz` as the
 * edge codes it, on releases of real packages. Prints two tables in Markdown: `node scripts/compare-codings.ts`. The
 * packages come from the registry, below a directory of their own.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { DCZ_HEADER_BYTES } from "../shared/coding/link-coding.ts";
import { DictionaryCompressor } from "../worker/delivery/dictionaries.ts";
import { root } from "./build/paths.ts";

/** Two releases that follow each other, and files that pages load. */
const RELEASES: readonly (readonly [name: string, before: string, after: string, files: readonly string[]])[] = [
  ["preact", "10.24.0", "10.24.3", ["dist/preact.min.js", "dist/preact.js"]],
  ["vue", "3.5.12", "3.5.13", ["dist/vue.global.js", "dist/vue.global.prod.js"]],
  ["jquery", "3.6.4", "3.7.0", ["dist/jquery.js", "dist/jquery.min.js"]],
  ["bootstrap", "5.3.2", "5.3.3", ["dist/css/bootstrap.css", "dist/css/bootstrap.min.css", "dist/js/bootstrap.min.js"]],
  ["lodash", "4.17.20", "4.17.21", ["lodash.js", "lodash.min.js"]],
  ["react-dom", "18.2.0", "18.3.1", ["umd/react-dom.production.min.js"]],
  ["katex", "0.16.10", "0.16.11", ["dist/katex.min.js", "dist/katex.min.css"]],
  ["htmx.org", "2.0.2", "2.0.3", ["dist/htmx.min.js"]],
  ["alpinejs", "3.14.0", "3.14.1", ["dist/cdn.min.js"]],
  ["animate.css", "4.1.0", "4.1.1", ["animate.min.css"]],
];

/** Pages of a site, in two versions: each against itself before, and against the one that stands before it. */
const SITES: readonly (readonly [name: string, before: string, after: string, pages: readonly string[]])[] = [
  [
    "startbootstrap-sb-admin",
    "7.0.5",
    "7.0.7",
    ["index", "charts", "tables", "layout-static", "login", "register", "password", "401", "404"].map(
      (page) => `dist/${page}.html`,
    ),
  ],
  [
    "startbootstrap-clean-blog",
    "6.0.8",
    "6.0.9",
    ["index", "about", "post", "contact"].map((page) => `dist/${page}.html`),
  ],
  [
    "owl.carousel",
    "2.3.3",
    "2.3.4",
    [
      "index",
      "demos/demos",
      "demos/basic",
      "demos/events",
      "docs/api-options",
      "docs/api-events",
      "docs/started-faq",
    ].map((page) => `docs/${page}.html`),
  ],
];

const compressor = new DictionaryCompressor(
  new WebAssembly.Module(readFileSync(join(root, "node_modules/@bokuweb/zstd-wasm/dist/esm/zstd.wasm"))),
);
/** Stays, for the next time. */
const directory = join(tmpdir(), "ropeway-codings");

/** @returns where the package's files are. */
function fetchPackage(name: string, version: string): string {
  const place = join(directory, `${name}-${version}`);
  const files = join(place, "package");
  if (existsSync(files)) return files;
  mkdirSync(place, { recursive: true });
  const file = execFileSync("npm", ["pack", "--silent", `${name}@${version}`], { cwd: place, encoding: "utf8" }).trim();
  execFileSync("tar", ["-xzf", file, "--one-top-level=package", "--strip-components=1"], { cwd: place });
  return files;
}

function vcdiff(before: Buffer, after: Buffer): number | null {
  const [from, to] = ["before", "after"].map((name) => join(directory, name));
  if (from === undefined || to === undefined) return null;
  writeFileSync(from, before);
  writeFileSync(to, after);
  try {
    return execFileSync("xdelta3", ["-e", "-9", "-S", "djw", "-c", "-s", from, to], { maxBuffer: 2 ** 26 }).length;
  } catch {
    return null;
  }
}

interface Row {
  readonly name: string;
  readonly dcz: number;
  readonly brotli: number;
  readonly line: string;
}

function row(name: string, before: Buffer, after: Buffer): Row {
  const brotli = brotliCompressSync(after).length;
  const dcz = compressor.compress(after, before).length + DCZ_HEADER_BYTES;
  const sizes = [after.length, gzipSync(after).length, brotli, vcdiff(before, after) ?? "-", dcz];
  const cells = sizes.map((size) => size.toLocaleString("en"));
  return { name, dcz, brotli, line: `| ${[name, ...cells, (dcz / brotli).toFixed(2)].join(" | ")} |` };
}

function printTable(title: string, rows: readonly Row[]): void {
  const mean = rows.reduce((sum, { dcz, brotli }) => sum + dcz / brotli, 0) / rows.length;
  const header = `| ${title} | bytes | gzip 6 | brotli 11 | VCDIFF | \`dcz\` | of brotli 11 |`;
  console.log([header, "| --- | --- | --- | --- | --- | --- | --- |", ...rows.map(({ line }) => line)].join("\n"));
  console.log(`| mean of ${rows.length} | | | | | | ${mean.toFixed(3)} |\n`);
}

const files = RELEASES.flatMap(([name, before, after, paths]) =>
  paths.map((path) => {
    const [old, fresh] = [before, after].map((version) => readFileSync(join(fetchPackage(name, version), path)));
    return row(`${name} ${after} ${path.split("/").at(-1)}`, old as Buffer, fresh as Buffer);
  }),
);
printTable("successive releases", files);

const pagesOf = (name: string, version: string, paths: readonly string[]) =>
  paths.map((path) => ({
    path: path.replace(/^\w+\//, ""),
    text: readFileSync(join(fetchPackage(name, version), path)),
  }));
const versions = SITES.flatMap(([name, before, after, paths]) => {
  const old = pagesOf(name, before, paths);
  return pagesOf(name, after, paths).flatMap(({ path, text }, place) => {
    const was = old[place]?.text;
    return was === undefined || was.equals(text) ? [] : [row(`${name} ${path}`, was, text)];
  });
});
printTable("pages, against their version before", versions);
const siblings = SITES.flatMap(([name, , after, paths]) => {
  const pages = pagesOf(name, after, paths);
  return pages.slice(1).map(({ path, text }, place) => row(`${name} ${path}`, pages[place]?.text ?? text, text));
});
printTable("pages, against a sibling", siblings);
