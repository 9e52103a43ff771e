import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Site } from "../model.ts";
import { codedForms, isCodedForm } from "./content-coding.ts";
import type { SiteDraft } from "./site-draft.ts";

/** Seconds since the epoch at which version 0 of every site was made; each later version an hour after. */
const FIRST_MODIFIED = Date.UTC(2025, 0, 6, 6) / 1000;
const VERSION_SECONDS = 3600;

/** Kept beside a written site; that it is there says that the site is whole. */
const RECORD = "site.json";

/** A site with what its load event waits for at least, for bounds on load times. */
export interface MadeSite extends Site {
  readonly atLoad: Pick<Site, "objects" | "bytes" | "codedBytes" | "depth">;
}

export interface SiteVersion {
  readonly name: string;
  readonly version: number;
  /** Where the version before lies, if there is one: files that are the same keep their time of change, hence ETag. */
  readonly before: Site | undefined;
}

/** Writes a site below a directory as `HOST/path`, with coded forms beside. The directory appears once it is whole. */
export async function writeSite(directory: string, draft: SiteDraft, which: SiteVersion): Promise<MadeSite> {
  const unfinished = `${directory}.${process.pid}.part`;
  await rm(unfinished, { recursive: true, force: true });
  const all = { objects: 0, bytes: 0, codedBytes: 0, depth: draft.depth };
  const atLoad = { ...all, depth: draft.afterLoad?.depthBefore ?? draft.depth };
  for (const [place, content] of draft.files) {
    const path = join(unfinished, place);
    const modified = await timeOfChange(place, content, which);
    const forms = codedForms(place, content);
    await mkdir(dirname(path), { recursive: true });
    for (const form of [{ suffix: "", content }, ...forms]) {
      await writeFile(path + form.suffix, form.content);
      await utimes(path + form.suffix, modified, modified);
    }
    for (const sum of draft.afterLoad?.files.test(place) ? [all] : [all, atLoad]) {
      sum.objects++;
      sum.bytes += content.length;
      sum.codedBytes += Math.min(content.length, ...forms.map((form) => form.content.length));
    }
  }
  const site: MadeSite = {
    name: which.name,
    url: `https://${draft.document.replace(/\/index\.html$/, "/")}`,
    hosts: hostsOf(draft).map((name) => ({
      name,
      root: join(directory, name),
      cacheControl: cacheControlOf(draft, name),
    })),
    ...all,
    atLoad,
  };
  await writeFile(join(unfinished, RECORD), JSON.stringify(site));
  await rename(unfinished, directory).catch(async (cause: unknown) => {
    // Another process was faster; what it wrote is the same.
    if (!(await readSite(directory))) throw cause;
    await rm(unfinished, { recursive: true, force: true });
  });
  return site;
}

/** The site that was written to a directory, undefined if there is none. */
export async function readSite(directory: string): Promise<MadeSite | undefined> {
  const record = await readFile(join(directory, RECORD), "utf8").catch(() => undefined);
  if (record === undefined) return undefined;
  const site = JSON.parse(record) as MadeSite;
  return { ...site, hosts: site.hosts.map((host) => ({ ...host, root: join(directory, host.name) })) };
}

/** Address and path on disk of everything that a visit fetches. */
export async function filesOf(site: Site): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>();
  for (const { name, root } of site.hosts) {
    for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name);
      if (!entry.isFile() || isCodedForm(path)) continue;
      files.set(`https://${name}${path.slice(root.length).replace(/\/index\.html$/, "/")}`, path);
    }
  }
  return files;
}

async function timeOfChange(place: string, content: Buffer, { version, before }: SiteVersion): Promise<number> {
  const slash = place.indexOf("/");
  const root = before?.hosts.find(({ name }) => name === place.slice(0, slash))?.root;
  if (root !== undefined) {
    const path = join(root, place.slice(slash + 1));
    const old = await readFile(path).catch(() => undefined);
    if (old?.equals(content)) return (await stat(path)).mtimeMs / 1000;
  }
  return FIRST_MODIFIED + version * VERSION_SECONDS;
}

function hostsOf(draft: SiteDraft): readonly string[] {
  const [first = ""] = draft.document.split("/");
  return [...new Set([first, ...[...draft.files.keys()].map((place) => place.slice(0, place.indexOf("/")))])];
}

function cacheControlOf(draft: SiteDraft, host: string): Site["hosts"][number]["cacheControl"] {
  const rules = draft.cacheControl[host];
  if (!rules) throw new Error(`Cannot write ${host}: the site says no Cache-Control for it`);
  return rules;
}
