/** Files of the project that scripts were made of: the edge on Deno has them as they are, browsers bundled. */
import { readFileSync } from "node:fs";
import { SourceMap } from "node:module";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { appDirectory, root } from "../../scripts/build/paths.ts";
import type { RanScript } from "./coverage.ts";

/** Files below the checkout in which a function ran; those of packages too, which begin with "node_modules/". */
export function filesOf(scripts: readonly RanScript[]): Set<string> {
  return new Set(scripts.filter(({ offsets }) => offsets.length > 0).flatMap((script) => filesOfScript(script)));
}

function filesOfScript({ url, offsets }: RanScript): string[] {
  if (url.startsWith("file:")) return [relative(root, fileURLToPath(url))];
  const path = /^https?:/.test(url) ? new URL(url).pathname : "";
  const bundle = path.startsWith("/.ropeway/") ? readBundle(path) : null;
  return bundle === null ? [] : offsets.map((offset) => bundle.fileAt(offset));
}

/** @returns null where no such script was built. */
function readBundle(path: string): { fileAt(offset: number): string } | null {
  const file = join(appDirectory, path);
  const text = readText(file);
  const mapName = /\/\/# sourceMappingURL=(\S+)\s*$/.exec(text ?? "")?.[1];
  if (text === null || mapName === undefined) return null;
  const map = new SourceMap(JSON.parse(readFileSync(join(dirname(file), mapName), "utf8")));
  return {
    fileAt(offset) {
      const before = text.slice(0, offset);
      const line = before.split("\n").length - 1;
      const entry = map.findEntry(line, offset - (before.lastIndexOf("\n") + 1));
      if (!("originalSource" in entry)) throw new Error(`Cannot name a function: ${path} has nothing at ${offset}`);
      return relative(root, resolve(dirname(file), entry.originalSource));
    },
  };
}

function readText(file: string): string | null {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return null;
  }
}
