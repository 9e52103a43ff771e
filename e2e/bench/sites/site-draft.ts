import type { SiteHost } from "../model.ts";

/** A site in memory, before it is written: exactly what a complete visit of its page fetches, and nothing else. */
export interface SiteDraft {
  /** `HOST/path` of the document; a path that ends in `index.html` is visited as its directory. */
  readonly document: string;
  /** By `HOST/path`. */
  readonly files: ReadonlyMap<string, Buffer>;
  /** Cache-Control by host; every host of `files` has its entry. */
  readonly cacheControl: Readonly<Record<string, SiteHost["cacheControl"]>>;
  /** As in Site. */
  readonly depth: number;
  /** Where the load event need not wait for everything. */
  readonly afterLoad?: AfterLoad;
}

/** Fonts, what scripts fetch() and what they only ask for later: a load event may come before these. */
export interface AfterLoad {
  /** Matches the `HOST/path` of such files. */
  readonly files: RegExp;
  /** Longest chain of objects that the load event waits for. */
  readonly depthBefore: number;
}

/** Makes a site as it stands at a version: 0 for the first visit, then one more for each time it was edited. */
export type SiteGenerator = (version: number) => Promise<SiteDraft>;

/** What a server says of files whose name changes with their content. */
export const FINGERPRINTED = "public, max-age=31536000, immutable";

/** The same Cache-Control for everything on a host. */
export function allFiles(value: string): SiteHost["cacheControl"] {
  return [{ path: "*", value }];
}

/** Collects the files of a site and refuses to put two at one place. */
export class SiteFiles {
  readonly files = new Map<string, Buffer>();

  /** Puts a file at `HOST/path` and gives its address back. */
  add(place: string, content: string | Buffer): string {
    if (this.files.has(place))
      throw new Error(`Cannot put a second file at ${place}: a site has one file at each path`);
    this.files.set(place, typeof content === "string" ? Buffer.from(content) : content);
    return `https://${place}`;
  }
}
