import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import jpeg from "jpeg-js";
import { GifReader } from "omggif";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { GPRSWEB_SITES, makeSite, makeSites, REAL_SITES, SITE_NAMES, type SiteName } from "./make-sites.ts";
import { filesOf, type MadeSite } from "./write-site.ts";

const DIRECTORY = fileURLToPath(new URL("../../../dist/bench/sites", import.meta.url));

interface StoredFile {
  readonly address: string;
  readonly type: string;
  readonly path: string;
  readonly content: Buffer;
  readonly coded: number;
}

let sites: Readonly<Record<SiteName, MadeSite>>;
const stored = new Map<SiteName, readonly StoredFile[]>();

beforeAll(async () => {
  sites = await makeSites(DIRECTORY);
  for (const name of SITE_NAMES) stored.set(name, await storedFiles(sites[name]));
}, 300_000);

const scratch: string[] = [];
afterAll(() => Promise.all(scratch.map((directory) => rm(directory, { recursive: true, force: true }))));

describe.each(SITE_NAMES)("%s", (name) => {
  test("its files are what the site says", () => {
    const site = sites[name];
    const files = filesAt(name);
    expect(files.map(({ address }) => address)).toContain(site.url);
    expect(files).toHaveLength(site.objects);
    expect(sum(files, ({ content }) => content.length)).toBe(site.bytes);
    expect(sum(files, ({ coded }) => coded)).toBe(site.codedBytes);
    expect(site.atLoad.objects).toBeLessThanOrEqual(site.objects);
    expect(site.atLoad.codedBytes).toBeLessThanOrEqual(site.codedBytes);
    for (const host of site.hosts) {
      expect(host.name).toMatch(/^[a-z0-9-]+(\.[a-z0-9-]+)*\.test$/);
      expect(host.cacheControl.at(-1)?.path).toBe("*");
    }
  });

  test("every file is what its name says", () => {
    for (const file of filesAt(name)) expect(() => decode(file), file.address).not.toThrow();
  });

  test("text has coded forms beside it, pictures have none", async () => {
    for (const { address, type, path, content } of filesAt(name)) {
      const [brotli, gzip] = await Promise.all(
        [`${path}.br`, `${path}.gz`].map((form) => readFile(form).catch(() => null)),
      );
      if (/^(html|css|m?js|json|svg)$/.test(type) && content.length > 200) {
        expect(brotli && brotliDecompressSync(brotli).equals(content), address).toBe(true);
        expect(gzip && gunzipSync(gzip).equals(content), address).toBe(true);
      } else {
        expect(brotli ?? gzip, address).toBeNull();
      }
    }
  });

  test("its page loads nothing from elsewhere", () => {
    const own = new Set(sites[name].hosts.map((host) => host.name));
    const [page] = filesAt(name).filter(({ address }) => address === sites[name].url);
    const loaded = page?.content
      .toString("utf8")
      .matchAll(/<(?:script|img|iframe|source|link rel="stylesheet")\b[^>]*\b(?:src|href)="(?:https?:)?\/\/([^/"]+)/g);
    for (const [, host] of loaded ?? []) expect(own).toContain(host);
  });

  test("an edit keeps hosts and number of objects, and the time of change of what it did not touch", async () => {
    const edited = await makeSite(DIRECTORY, name, 1);
    expect(edited.hosts.map((host) => host.name)).toEqual(sites[name].hosts.map((host) => host.name));
    expect(edited.objects).toBe(sites[name].objects);
    const before = new Map(filesAt(name).map((file) => [file.address, file]));
    let changed = 0;
    for (const file of await storedFiles(edited)) {
      const old = before.get(file.address);
      const same = old?.content.equals(file.content) ?? false;
      if (!same) changed++;
      if (old) expect((await stat(old.path)).mtimeMs === (await stat(file.path)).mtimeMs, file.address).toBe(same);
    }
    expect(changed).toBeGreaterThan(0);
    expect(changed).toBeLessThan(edited.objects / 2);
  }, 120_000);
});

test("150 pictures have the paper's size", () => {
  const pictures = filesAt("hundred-fifty").filter(({ type }) => type === "png");
  expect(pictures).toHaveLength(150);
  for (const { content } of pictures) expect(content).toHaveLength(1517);
});

test("STATIC-I and STATIC-II have the paper's shares of bytes by type", () => {
  expect(filesAt("static-ii")).toHaveLength(46);
  expect(share("static-i", (file) => file.type === "html")).toBeCloseTo(0.52, 1);
  expect(share("static-i", (file) => file.type === "jpg")).toBeCloseTo(0.29, 1);
  expect(share("static-i", (file) => file.type === "gif")).toBeCloseTo(0.19, 1);
  const gif = (least: number, most: number) => (file: StoredFile) =>
    file.type === "gif" && file.content.length > least && file.content.length <= most;
  for (const [matches, expected] of [
    [(file: StoredFile) => file.type === "html", 0.25],
    [(file: StoredFile) => file.type === "jpg", 0.17],
    [gif(0, 2000), 0.17],
    [gif(2000, 10_000), 0.34],
    [gif(10_000, 20_000), 0.07],
  ] as const) {
    expect(Math.abs(share("static-ii", matches) - expected)).toBeLessThan(0.02);
  }
});

test("snapshots have more than fifty objects on several hosts, styles and scripts among them", () => {
  for (const name of GPRSWEB_SITES.slice(2)) {
    expect(sites[name].objects).toBeGreaterThan(50);
    expect(sites[name].hosts.length).toBeGreaterThan(2);
    expect(new Set(filesAt(name).map(({ type }) => type))).toEqual(new Set(["html", "css", "js", "jpg", "gif"]));
  }
});

test("an hour later a third of a front page's stories is new", async () => {
  for (const name of ["news-herald", "news-wire"] as const) {
    const later = await storedFiles(await makeSite(DIRECTORY, name, 1));
    const [first, second] = [filesAt(name), later].map((files) => {
      const page = files.find(({ type }) => type === "html")?.content.toString("utf8") ?? "";
      return new Set([...page.matchAll(/\/stories\/(\d+)\.html"/g)].map(([, id]) => id));
    });
    const kept = [...(first ?? [])].filter((id) => second?.has(id)).length;
    expect(1 - kept / (first?.size ?? 0)).toBeCloseTo(1 / 3, 1);
  }
});

test("made-up text compresses no better than real pages do", () => {
  for (const name of ["static-i", "static-ii", "news-herald", "news-wire", "shop", "median-mobile"] as const) {
    const page = filesAt(name).find(({ type }) => type === "html");
    expect((page?.coded ?? 0) / (page?.content.length ?? 1), name).toBeGreaterThan(0.15);
  }
});

test("real sites are spread over hosts; the median page has the median's shape", () => {
  for (const name of REAL_SITES) expect(sites[name].hosts.length).toBeGreaterThan(1);
  const median = sites["median-mobile"];
  expect(median.objects).toBe(66);
  expect(median.codedBytes / 2_300_000).toBeCloseTo(1, 1);
  expect(median.hosts.length).toBeGreaterThanOrEqual(6);
  for (const [types, count, kilobytes] of [
    [["html"], 1, 30],
    [["js"], 20, 650],
    [["css"], 7, 75],
    [["jpg", "png", "svg"], 24, 900],
    [["woff2"], 6, 130],
  ] as const) {
    const files = filesAt("median-mobile").filter(({ type }) => types.some((wanted) => wanted === type));
    expect(files, types.join()).toHaveLength(count);
    const ratio = sum(files, ({ coded }) => coded) / (kilobytes * 1000);
    expect(Math.abs(ratio - 1), types.join()).toBeLessThan(0.1);
  }
});

test("a site is the same wherever it is made", async () => {
  const directory = await mkdtemp(join(tmpdir(), "ropeway-sites-"));
  scratch.push(directory);
  const again = await storedFiles(await makeSite(directory, "static-i"));
  const known = new Map(filesAt("static-i").map((file) => [file.address, file.content]));
  for (const { address, content } of again) expect(known.get(address)?.equals(content), address).toBe(true);
  expect(again).toHaveLength(known.size);
});

async function storedFiles(site: MadeSite): Promise<readonly StoredFile[]> {
  const files = [...(await filesOf(site))];
  return Promise.all(
    files.map(async ([address, path]) => {
      const content = await readFile(path);
      const sizes = await Promise.all(
        [`${path}.br`, `${path}.gz`].map((form) =>
          stat(form).then(
            ({ size }) => size,
            () => content.length,
          ),
        ),
      );
      return { address, path, content, type: extname(path).slice(1), coded: Math.min(content.length, ...sizes) };
    }),
  );
}

function filesAt(name: SiteName): readonly StoredFile[] {
  return stored.get(name) ?? [];
}

function share(name: SiteName, matches: (file: StoredFile) => boolean): number {
  return sum(filesAt(name).filter(matches), ({ content }) => content.length) / sites[name].bytes;
}

function sum(files: readonly StoredFile[], of: (file: StoredFile) => number): number {
  return files.reduce((total, file) => total + of(file), 0);
}

/** Throws if the content is not of the type. */
function decode({ type, content }: StoredFile): void {
  switch (type) {
    case "jpg":
      jpeg.decode(content, { useTArray: true });
      return;
    case "gif": {
      const reader = new GifReader(content);
      const pixels = new Uint8Array(reader.width * reader.height * 4);
      for (let frame = 0; frame < reader.numFrames(); frame++) reader.decodeAndBlitFrameRGBA(frame, pixels);
      return;
    }
    case "json":
      JSON.parse(content.toString("utf8"));
      return;
    case "woff2":
      expect(content.toString("latin1", 0, 4)).toBe("wOF2");
      return;
    case "svg":
      expect(content.toString("utf8")).toMatch(/<svg\b[\s\S]*<\/svg>\s*$/);
      return;
    default:
      expect(["html", "css", "js", "mjs", "png"]).toContain(type);
      if (type !== "png") new TextDecoder("utf-8", { fatal: true }).decode(content);
  }
}
