import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

/** Packages of which sites are made. Their versions are part of what a generated site is cached by. */
export const SOURCE_PACKAGES = [
  "bootstrap",
  "idb",
  "impress.js",
  "jquery",
  "jquery-ui",
  "katex",
  "reveal.js",
  "spectre.css",
  "startbootstrap-agency",
  "swagger-ui-dist",
  "webslides",
] as const;

/** Those of the bench, then those that it shares with the browser tests. */
const PACKAGES = ["../node_modules/", "../../../node_modules/"].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
);

/** A file of an installed package, such as `katex/dist/katex.min.js`. */
export async function packageFile(path: string): Promise<Buffer> {
  const file = PACKAGES.map((folder) => folder + path).find(existsSync);
  if (file === undefined) throw new Error(`Cannot read ${path} of the installed packages: start with npm run bench`);
  return readFile(file);
}

export async function packageText(path: string): Promise<string> {
  return (await packageFile(path)).toString("utf8");
}

/** `name@version` of every source package. */
export async function sourceVersions(): Promise<readonly string[]> {
  return Promise.all(
    SOURCE_PACKAGES.map(async (name) => {
      const { version } = JSON.parse(await packageText(`${name}/package.json`)) as { version: string };
      return `${name}@${version}`;
    }),
  );
}
