import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { root } from "./paths.ts";

/** Programs, which are installed and not built in. */
const PROGRAMS = new Set(["deno-std", "esbuild", "node", "workerd"]);

interface LockedPackage {
  readonly version?: string;
  readonly license?: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
}

/** The packages that may be built into edge and app, each with its licence and where its source is, as licences ask for. */
export async function thirdPartyNotices(): Promise<string> {
  const lock = JSON.parse(await readFile(join(root, "package-lock.json"), "utf8")) as {
    packages: Record<string, LockedPackage>;
  };
  const builtIn = Object.entries(lock.packages).filter(
    ([path, { dev, optional }]) =>
      path !== "" && dev !== true && optional !== true && !PROGRAMS.has(path.replace("node_modules/", "")),
  );
  return (await Promise.all(builtIn.map(([path, locked]) => noticeOf(path, locked)))).join(`\n${"-".repeat(80)}\n\n`);
}

async function noticeOf(path: string, { version, license }: LockedPackage): Promise<string> {
  const directory = join(root, path);
  const { name, repository } = JSON.parse(await readFile(join(directory, "package.json"), "utf8")) as {
    readonly name: string;
    readonly repository?: string | { readonly url: string };
  };
  const source = (typeof repository === "string" ? repository : repository?.url) ?? name;
  const texts = (await readdir(directory)).filter((file) => /^(licen[cs]e|copying|notice)/i.test(file)).sort();
  const licences = await Promise.all(texts.map((file) => readFile(join(directory, file), "utf8")));
  return [`${name} ${version}`, `Licence: ${license}`, `Source: ${source}`, "", ...licences].join("\n");
}
