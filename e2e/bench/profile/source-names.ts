/** Names for places in built scripts, by the source maps of the build. */
import { readFileSync } from "node:fs";
import { SourceMap, type SourceMapPayload } from "node:module";
import { join, relative, resolve } from "node:path";
import { withoutContentHash } from "../../../scripts/build/content-hash.ts";
import { appDirectory, root, workerDirectory } from "../../../scripts/build/paths.ts";
import type { CodePlace } from "./cpu-profile.ts";

export interface NamedPlace {
  readonly functionName: string;
  /** Source file below the checkout, or what else the code belongs to. */
  readonly source: string;
}

/** Scripts of the app by the ends of their addresses. */
const APP_SCRIPTS = [
  "/shell.js",
  "/sw.js",
  "/.ropeway/tunnel.js",
  "/.ropeway/slot-worker.js",
  "/.ropeway/sw.js",
  "/.ropeway/boot.js",
] as const;

/** The engine's own words that stand for its work, not for a place. */
const ENGINE: Readonly<Record<string, string>> = {
  "(program)": "native code",
  "(garbage collector)": "garbage collector",
};

export class SourceNames {
  readonly #maps = new Map<string, LoadedMap | null>();

  /** A place in a browser's script. */
  ofBrowser(place: CodePlace): NamedPlace {
    // One name has its content's hash, but for its map.
    const path = withoutContentHash(URL.parse(place.url)?.pathname ?? "");
    const script = APP_SCRIPTS.toSorted((one, other) => other.length - one.length).find((known) => path === known);
    if (script !== undefined) return this.#named(place, join(appDirectory, script));
    // The slot's worker carries these inside it, so they have no maps.
    if (path.startsWith("/.ropeway/")) return { functionName: nameOf(place), source: `pwa/slot (${path.slice(10)})` };
    return { functionName: nameOf(place), source: path === "" ? this.#engine(place) : "the page's own" };
  }

  /** A place in the edge's worker. */
  ofEdge(place: CodePlace): NamedPlace {
    if (place.url === "" && place.lineNumber <= 0) return { functionName: nameOf(place), source: this.#engine(place) };
    return this.#named(place, join(workerDirectory, "worker.js"));
  }

  #engine({ functionName }: CodePlace): string {
    return ENGINE[functionName] ?? "built-in";
  }

  #named(place: CodePlace, file: string): NamedPlace {
    const map = this.#load(file);
    const entry = map?.findEntry(place);
    if (entry === undefined) return { functionName: nameOf(place), source: relative(root, file) };
    return entry;
  }

  #load(file: string): LoadedMap | null {
    const known = this.#maps.get(file);
    if (known !== undefined) return known;
    const loaded = LoadedMap.read(`${file}.map`);
    this.#maps.set(file, loaded);
    return loaded;
  }
}

/** A source map with the sources' texts, in which functions have the names that people gave them. */
class LoadedMap {
  readonly #file: string;
  readonly #map: SourceMap;
  readonly #lines: ReadonlyMap<string, readonly string[]>;

  private constructor(file: string, payload: SourceMapPayload) {
    this.#file = file;
    this.#map = new SourceMap(payload);
    this.#lines = new Map(
      payload.sources.map((source, index) => [source, payload.sourcesContent[index]?.split("\n") ?? []]),
    );
  }

  /** Null where the build made none. */
  static read(file: string): LoadedMap | null {
    try {
      return new LoadedMap(file, JSON.parse(readFileSync(file, "utf8")) as SourceMapPayload);
    } catch {
      return null;
    }
  }

  findEntry(place: CodePlace): NamedPlace | undefined {
    const entry = this.#map.findEntry(place.lineNumber, place.columnNumber);
    if (!("originalSource" in entry)) return undefined;
    const source = relative(root, resolve(join(this.#file, ".."), entry.originalSource));
    const line = this.#lines.get(entry.originalSource)?.[entry.originalLine] ?? "";
    const name = declaredName(line, entry.originalColumn);
    return { functionName: name ?? `line ${entry.originalLine + 1}`, source: shortSource(source) };
  }
}

/** Packages by their names. */
function shortSource(source: string): string {
  const inPackage = source.lastIndexOf("node_modules/");
  return inPackage < 0 ? source : source.slice(inPackage + "node_modules/".length);
}

/**
 * The name of the function whose parameters or body begin at a column of a line: V8 places a function at its "(" or, an
 * arrow function, at its first parameter.
 */
export function declaredName(line: string, column: number): string | undefined {
  const before = line.slice(0, column + 1);
  const declared = /(?:function\*?\s+|async\s+|get\s+|set\s+|static\s+)?([#\w$]+)\s*(?:<[^<>]*>)?\s*\(?$/.exec(
    before,
  )?.[1];
  const assigned = /([#\w$]+)\s*(?::[^=]+)?[=:]\s*(?:async\s*)?\(?$/.exec(before)?.[1];
  const after = /^\s*(?:(?:async|static|get|set|function\*?)\s+)*([#\w$]+)\s*(?:<[^<>]*>)?\(/.exec(
    line.slice(column),
  )?.[1];
  const name = assigned ?? after ?? declared;
  return name === undefined || /^(?:function|async|return|if|for|while|new)$/.test(name) ? undefined : name;
}

function nameOf({ functionName }: CodePlace): string {
  return functionName === "" ? "(anonymous)" : functionName;
}
