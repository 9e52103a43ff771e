import { readdir, readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { type BuildOptions, build } from "esbuild";
import { appTexts } from "../house/languages.ts";
import type { BuiltFiles } from "./built-files.ts";
import { contentHash, UNKNOWN_HASH, withoutContentHash } from "./content-hash.ts";
import { ofShell, shellEntry } from "./of-shell.ts";
import { browserOptions } from "./options.ts";
import { root } from "./paths.ts";
import { precacheManifest } from "./precache.ts";
import { virtualModules } from "./virtual-modules.ts";

/** All slots have it from the shell's host (slot-sw.ts), under a name that tells its content. */
const SLOT_WORKER = ".ropeway/slot-worker";

/** The tunnel loads it when no page waits for it, by a name that tells its content: the two are of one release. */
const STORE = ".ropeway/store";

/** The same of what the store needs for a changed body. */
const DECODER = ".ropeway/decoder";

/** The same of the tunnel, for what comes in brotli. */
const BROTLI = ".ropeway/brotli";

/** The same of the tunnel, for the first page that opens a socket. */
const PAGE_SOCKETS = ".ropeway/page-sockets";

/** The same, for the first server that asks for a name and a password. */
const SIGN_INS = ".ropeway/sign-ins";

/** The same, for the first file that is kept. */
const DOWNLOADS = ".ropeway/downloads";

/** The same of the page script, for the first blank document that something is put into. */
const WRITTEN = ".ropeway/written";

/** Likewise: JSON, XML, feeds and pictures that are the page. */
const VIEW = ".ropeway/view";
/** The same of the page script, for the first call that the person has to allow; and of the shell, which asks. */
const PAGE_PERMISSIONS = ".ropeway/page-permissions";
const PERMISSIONS = ".ropeway/permissions";

/** The viewer of PDFs, and its worker. */
const PDF = ".ropeway/pdf";
const PDF_WORKER = ".ropeway/pdf-worker";

/** What the shell's pages and the shell load at once, by such names, too. */
const SHELL = "shell";
const EARLY = "early";
const BLANK = "blank";
const TUNNEL = ".ropeway/tunnel";
/** Chromium (136) then compiles all functions at once, off the main thread where it can, not each when it is first called. */
const EAGER = { js: "//# allFunctionsCalledOnLoad" };

/** The same of the shell: menu, settings and whatever else no first page needs. */
const SHEETS = ".ropeway/sheets";

/** The same of the shell: history and bookmarks. */
const LIBRARY = ".ropeway/library";

/** The same of the sheets: paired devices, and what draws a QR code. */
const DEVICES = ".ropeway/devices";

/** Likewise: the list of downloads. */
const DOWNLOADS_SHEET = ".ropeway/downloads-sheet";
/** The same of the sheets: "Find in page"; and of that, with which a page's documents search themselves. */
const FIND = ".ropeway/find";
const FIND_TEXT = ".ropeway/find-text";
/** Likewise, with which a page shows its article. */
const READER = ".ropeway/reader";

/** The same of the shell, where slots have a list of hosts. */
const LISTED = ".ropeway/listed";

/** The app's words in another language, by a name with its code and the hash of the scripts that they are of. */
const LANGUAGES = ".ropeway/languages";

/** Words of slots' documents: the script that finds them, and one with those of each language. */
const WORDS = ".ropeway/words";

/** Pages without scripts, of the shell and of its service worker: for phones that have such pages. */
const LITE = ".ropeway/lite";
const LITE_WORKER = ".ropeway/lite-worker";

/**
 * Where each script comes from that needs no other's name. Only the shell's page and the tunnel load scripts as modules. The slot's service worker carries
 * the scripts and pages of its host inside it; those here are for a host that has no service worker yet.
 */
const scripts: readonly (readonly [output: string, source: string, format: "esm" | "iife"])[] = [
  [DECODER, "pwa/tunnel/coding/dcz-chunk.ts", "esm"],
  [BROTLI, "pwa/tunnel/coding/brotli-chunk.ts", "esm"],
  [PAGE_SOCKETS, "pwa/tunnel/page-sockets.ts", "esm"],
  [SIGN_INS, "pwa/tunnel/requests/sign-ins.ts", "esm"],
  [DOWNLOADS, "pwa/tunnel/requests/downloads.ts", "esm"],
  [LISTED, "pwa/shell/frames/listed-hosts.ts", "esm"],
  [LITE, "pwa/shell/lite/lite-chunk.ts", "esm"],
  [WRITTEN, "pwa/slot/page/written-documents.ts", "esm"],
  [VIEW, "pwa/slot/view/view.ts", "esm"],
  [WORDS, "pwa/slot/words.ts", "esm"],
  [PAGE_PERMISSIONS, "pwa/slot/page/permissions.ts", "esm"],
  [PDF, "pwa/slot/view/pdf-viewer.ts", "esm"],
  [PDF_WORKER, "node_modules/pdfjs-dist/legacy/build/pdf.worker.mjs", "esm"],
  [FIND_TEXT, "pwa/slot/page/find-text.ts", "esm"],
  [READER, "pwa/slot/page/reader.ts", "esm"],
  [".ropeway/boot", "pwa/slot/documents/boot.ts", "iife"],
  [".ropeway/frame", "pwa/slot/documents/frame.ts", "iife"],
  [".ropeway/lost", "pwa/slot/documents/lost.ts", "iife"],
  [".ropeway/wipe", "pwa/slot/documents/wipe.ts", "iife"],
  [BLANK, "pwa/shell/blank.ts", "iife"],
];

const copies: readonly (readonly [output: string, source: string])[] = [
  ["index.html", "pwa/shell/index.html"],
  ["blank.html", "pwa/shell/blank.html"],
  ["manifest.webmanifest", "pwa/manifest.webmanifest"],
  [".ropeway/boot.html", "pwa/slot/documents/boot.html"],
  [".ropeway/frame.html", "pwa/slot/documents/frame.html"],
  [".ropeway/lost.html", "pwa/slot/documents/lost.html"],
  [".ropeway/wipe.html", "pwa/slot/documents/wipe.html"],
];

/** Builds the app, below `dist/app`. */
export async function buildApp(): Promise<BuiltFiles> {
  const files: BuiltFiles = new Map();
  for (const [path, contents] of await independentScripts()) files.set(path, contents);
  for (const [output, source] of copies) files.set(output, await readFile(join(root, source)));
  for (const folder of ["icons", "screenshots"])
    for (const [path, contents] of await pictureFiles(folder)) files.set(path, contents);

  const listed = nameByContent(files, LISTED);
  const lite = nameByContent(files, LITE);
  const liteWorker = nameByContent(files, LITE_WORKER);
  const findText = nameByContent(files, FIND_TEXT);
  const reader = nameByContent(files, READER);
  const tunnel = await addTunnel(files);
  const shell = await addShell(files, { listed, lite, findText, reader, tunnel });
  const early = await addEarly(files, tunnel);
  namesInPage(files, "index.html", [shell, early, nameByContent(files, SHELL, "css")]);
  namesInPage(files, "blank.html", [nameByContent(files, BLANK)]);
  const slotWorker = await addSlotWorker(files);
  const serviceWorkers = await bundle({
    entryPoints: [
      { out: "sw", in: "pwa/sw/shell/shell-sw.ts" },
      { out: ".ropeway/sw", in: "pwa/sw/slot-sw.ts" },
    ],
    format: "iife",
    define: {
      ...browserOptions.define,
      "self.__WB_MANIFEST": JSON.stringify(precacheManifest(files)),
      "self.__SLOT_WORKER": JSON.stringify(`/${slotWorker}`),
      "self.__LISTED": JSON.stringify(`/${listed}`),
      "self.__LITE": JSON.stringify(`/${lite}`),
      "self.__LITE_WORKER": JSON.stringify(`/${liteWorker}`),
    },
  });
  for (const [path, contents] of serviceWorkers) files.set(path, contents);
  return files;
}

/** Those that need no other's name, and the style sheet. */
async function independentScripts(): Promise<BuiltFiles> {
  const languages = (await catalogueNames()).map((name) => name.replace(/\.json$/, ""));
  const define = { ...browserOptions.define, "self.__LANGUAGES": JSON.stringify(languages) };
  const built = await Promise.all([
    ...(["esm", "iife"] as const).map((format) =>
      bundle({
        entryPoints: scripts.filter((script) => script[2] === format).map(([out, source]) => ({ out, in: source })),
        format,
        define,
      }),
    ),
    bundle({
      entryPoints: [{ out: LITE_WORKER, in: "pwa/sw/lite/lite-worker.ts" }],
      format: "iife",
      globalName: "ropewayLite",
    }),
    bundle({ entryPoints: [{ out: SHELL, in: "pwa/shell/styles/shell.css" }] }),
  ]);
  return new Map(built.flatMap((part) => [...part]));
}

/**
 * Views, the words of slots' documents, and those of each language as a script of its own, by the hash of all.
 *
 * @returns their path, with `*` in the place of the name.
 */
async function addViews(files: BuiltFiles): Promise<string> {
  const words = await catalogueFiles((isOfSlots) => isOfSlots);
  for (const [code, contents] of words)
    files.set(`${WORDS}-${code}.js`, Buffer.concat([Buffer.from("export default "), contents]));
  const names = [VIEW, WORDS, ...[...words.keys()].map((code) => `${WORDS}-${code}`)];
  const hash = contentHash(Buffer.concat(names.map((name) => files.get(`${name}.js`) ?? new Uint8Array())));
  for (const name of names) {
    files.set(`${name}-${hash}.js`, files.get(`${name}.js`) ?? new Uint8Array());
    files.delete(`${name}.js`);
  }
  return `/.ropeway/*-${hash}.js`;
}

/** The slots' service worker, which knows parts of the page script by their names. @returns its own. */
async function addSlotWorker(files: BuiltFiles): Promise<string> {
  const byQuery = (named: readonly (readonly [query: string, script: string])[]) =>
    JSON.stringify(Object.fromEntries(named.map(([query, script]) => [query, `/${nameByContent(files, script)}`])));
  const built = await bundle({
    entryPoints: [{ out: SLOT_WORKER, in: "pwa/sw/slot-worker.ts" }],
    format: "iife",
    define: {
      ...browserOptions.define,
      "self.__LATE": byQuery([
        ["?written", WRITTEN],
        ["?permissions", PAGE_PERMISSIONS],
      ]),
      "self.__PDF": byQuery([
        ["?pdf", PDF],
        ["?pdf-worker", PDF_WORKER],
      ]),
      "self.__VIEW": JSON.stringify(await addViews(files)),
    },
  });
  for (const [path, contents] of built) files.set(path, contents);
  return nameByContent(files, SLOT_WORKER);
}

/** The store, which loads the decoder by its name. @returns its own. */
async function addStore(files: BuiltFiles): Promise<string> {
  const decoder = nameByContent(files, DECODER);
  const built = await bundle({
    entryPoints: [{ out: STORE, in: "pwa/tunnel/store/store-chunk.ts" }],
    banner: EAGER,
    format: "esm",
    define: { ...browserOptions.define, "self.__DECODER": JSON.stringify(`/${decoder}`) },
    external: [`/${decoder}`],
  });
  for (const [path, contents] of built) files.set(path, contents);
  return nameByContent(files, STORE);
}

/** The tunnel, which loads parts of its own by their names. @returns its own. */
async function addTunnel(files: BuiltFiles): Promise<string> {
  const store = await addStore(files);
  const brotli = nameByContent(files, BROTLI);
  const pageSockets = nameByContent(files, PAGE_SOCKETS);
  const signIns = nameByContent(files, SIGN_INS);
  const downloads = nameByContent(files, DOWNLOADS);
  const built = await bundle({
    entryPoints: [{ out: TUNNEL, in: "pwa/tunnel/tunnel-worker.ts" }],
    banner: EAGER,
    format: "iife",
    define: {
      ...browserOptions.define,
      "self.__STORE": JSON.stringify(`/${store}`),
      "self.__BROTLI": JSON.stringify(`/${brotli}`),
      "self.__PAGE_SOCKETS": JSON.stringify(`/${pageSockets}`),
      "self.__SIGN_INS": JSON.stringify(`/${signIns}`),
      "self.__DOWNLOADS": JSON.stringify(`/${downloads}`),
    },
    external: [`/${store}`, `/${brotli}`, `/${pageSockets}`, `/${signIns}`, `/${downloads}`],
  });
  for (const [path, contents] of built) files.set(path, contents);
  return nameByContent(files, TUNNEL);
}

/** What the shell's page runs before the shell. @returns its name. */
async function addEarly(files: BuiltFiles, tunnel: string): Promise<string> {
  const built = await bundle({
    entryPoints: [{ out: EARLY, in: "pwa/shell/link/early.ts" }],
    // Without a wrapper: the page's other script is a module, which sees nothing that this one declares.
    format: "esm",
    define: { ...browserOptions.define, "self.__TUNNEL": JSON.stringify(`/${tunnel}`) },
  });
  for (const [path, contents] of built) files.set(path, contents);
  return nameByContent(files, EARLY);
}

interface NamesInShell {
  readonly listed: string;
  readonly lite: string;
  readonly findText: string;
  readonly reader: string;
  readonly tunnel: string;
}

/**
 * The shell, the sheets, the library and its questions, which it loads by their names, and those of devices, downloads and the
 * search, which the sheets load. All take from the shell what it has already, by its name: so all have the hash of all. @returns the shell's name.
 */
async function addShell(files: BuiltFiles, { listed, lite, findText, reader, tunnel }: NamesInShell): Promise<string> {
  const [sheets = "", permissions = "", library = "", devices = "", downloads = "", find = ""] = [
    SHEETS,
    PERMISSIONS,
    LIBRARY,
    DEVICES,
    DOWNLOADS_SHEET,
    FIND,
  ].map((script) => `/${script}-${UNKNOWN_HASH}.js`);
  const ofAll: BuildOptions = { format: "esm", plugins: [await ofShell()] };
  const catalogues = await catalogueFiles((isOfSlots, isOfShell) => isOfShell || !isOfSlots);
  const parts = await Promise.all([
    bundle({ entryPoints: [{ out: PERMISSIONS, in: "pwa/shell/permissions/permissions.ts" }], ...ofAll }),
    bundle({ entryPoints: [{ out: LIBRARY, in: "pwa/shell/views/library/library-chunk.tsx" }], ...ofAll }),
    bundle({ entryPoints: [{ out: DEVICES, in: "pwa/shell/views/devices/devices-chunk.tsx" }], ...ofAll }),
    bundle({ entryPoints: [{ out: DOWNLOADS_SHEET, in: "pwa/shell/views/downloads/downloads-chunk.tsx" }], ...ofAll }),
    bundle({
      entryPoints: [{ out: FIND, in: "pwa/shell/views/find/find-chunk.tsx" }],
      ...ofAll,
      define: {
        ...browserOptions.define,
        "self.__FIND_TEXT": JSON.stringify(`/${findText}`),
        "self.__READER": JSON.stringify(`/${reader}`),
      },
      external: [`/${findText}`, `/${reader}`],
    }),
    bundle({
      entryPoints: [{ out: SHEETS, in: "pwa/shell/views/sheets/sheets-chunk.tsx" }],
      ...ofAll,
      define: {
        ...browserOptions.define,
        "self.__DEVICES": JSON.stringify(devices),
        "self.__DOWNLOADS_SHEET": JSON.stringify(downloads),
        "self.__FIND": JSON.stringify(find),
        "self.__LANGUAGES": JSON.stringify([...catalogues.keys()]),
        "self.__LANGUAGE": JSON.stringify(`/${LANGUAGES}/*-${UNKNOWN_HASH}.json`),
      },
      external: [devices, downloads, find],
    }),
    bundle({
      stdin: shellEntry,
      banner: EAGER,
      entryNames: SHELL,
      format: "esm",
      define: {
        ...browserOptions.define,
        "self.__TUNNEL": JSON.stringify(`/${tunnel}`),
        "self.__SHEETS": JSON.stringify(sheets),
        "self.__LIBRARY": JSON.stringify(library),
        "self.__LISTED": JSON.stringify(`/${listed}`),
        "self.__LITE": JSON.stringify(`/${lite}`),
        "self.__PERMISSIONS": JSON.stringify(permissions),
      },
      external: [sheets, permissions, `/${listed}`, `/${lite}`],
    }),
  ]);
  return namedByAll(files, new Map(parts.flatMap((part) => [...part])), catalogues);
}

/** Gives all scripts and catalogues names with the hash of all. @returns the shell's name. */
function namedByAll(files: BuiltFiles, built: BuiltFiles, catalogues: ReadonlyMap<string, Uint8Array>): string {
  const scripts = [...built].filter(([path]) => path.endsWith(".js"));
  const hash = contentHash(Buffer.concat([...scripts.map(([, contents]) => contents), ...catalogues.values()]));
  for (const [code, contents] of catalogues) files.set(`${LANGUAGES}/${code}-${hash}.json`, contents);
  for (const [path, contents] of built) {
    const isScript = path.endsWith(".js");
    const text = Buffer.from(contents).toString().replaceAll(UNKNOWN_HASH, hash);
    files.set(isScript ? path.replace(/\.js$/, `-${hash}.js`) : path, isScript ? Buffer.from(text) : contents);
  }
  return `${SHELL}-${hash}.js`;
}

/** Gives a file a name with the hash of its content; its source map, if any, keeps its own. @returns the name. */
function nameByContent(files: BuiltFiles, file: string, ending = "js"): string {
  const contents = files.get(`${file}.${ending}`);
  if (contents === undefined) throw new Error(`Cannot name ${file}: it was not built`);
  const name = `${file}-${contentHash(contents)}.${ending}`;
  files.delete(`${file}.${ending}`);
  files.set(name, contents);
  return name;
}

/** Puts files' names with their hash into a page that names them without. */
function namesInPage(files: BuiltFiles, page: string, names: readonly string[]): void {
  let text = Buffer.from(files.get(page) ?? "").toString();
  for (const name of names) {
    const plain = `"/${withoutContentHash(name)}"`;
    if (!text.includes(plain)) throw new Error(`Cannot name ${name} in ${page}: it has no ${plain}`);
    text = text.replace(plain, `"/${name}"`);
  }
  files.set(page, Buffer.from(text));
}

async function bundle(options: BuildOptions): Promise<BuiltFiles> {
  const outdir = join(root, "dist", "app");
  const result = await build({ ...browserOptions, plugins: [virtualModules()], ...options, write: false, outdir });
  return new Map(result.outputFiles.map(({ path, contents }) => [relative(outdir, path), contents]));
}

/**
 * By the code of the language, without the texts that nobody has translated yet.
 *
 * @param isMeant says of a text whether it goes in.
 */
async function catalogueFiles(
  isMeant: (isOfSlots: boolean, isOfShell: boolean) => boolean,
): Promise<Map<string, Uint8Array>> {
  const directory = join(root, "pwa", "languages");
  const names = await catalogueNames();
  const [ofSlots, ofShell] = await textsOfSides();
  return new Map(
    await Promise.all(
      names.map(async (name) => {
        const words: Record<string, string | object> = JSON.parse(await readFile(join(directory, name), "utf8"));
        const known = Object.entries(words).filter(
          ([text, each]) =>
            (typeof each === "string" ? [each] : Object.values(each)).some(Boolean) &&
            isMeant(ofSlots.has(text), ofShell.has(text)),
        );
        return [name.slice(0, -".json".length), Buffer.from(JSON.stringify(Object.fromEntries(known)))] as const;
      }),
    ),
  );
}

async function catalogueNames(): Promise<readonly string[]> {
  return (await readdir(join(root, "pwa", "languages"))).filter((name) => name.endsWith(".json")).sort();
}

/** Texts of slots' documents, and all others. */
async function textsOfSides(): Promise<readonly [ofSlots: ReadonlySet<string>, ofShell: ReadonlySet<string>]> {
  const sources = new Map<string, string>();
  for (const folder of ["pwa", "shared", "worker"])
    for (const name of await readdir(join(root, folder), { recursive: true }))
      if (/\.tsx?$/.test(name) && !name.includes("node_modules"))
        sources.set(`${folder}/${name}`, await readFile(join(root, folder, name), "utf8"));
  const isOfSlot = (path: string) => path.startsWith("pwa/slot/");
  const side = (isWanted: (path: string) => boolean) => {
    const { plain, counted } = appTexts(new Map([...sources].filter(([path]) => isWanted(path))));
    return new Set([...plain, ...counted]);
  };
  return [side(isOfSlot), side((path) => !isOfSlot(path))];
}

async function pictureFiles(folder: string): Promise<BuiltFiles> {
  const directory = join(root, "pwa", folder);
  const names = (await readdir(directory)).filter((name) => /\.(svg|png|ico|jpg)$/.test(name)).sort();
  return new Map(
    await Promise.all(names.map(async (name) => [`${folder}/${name}`, await readFile(join(directory, name))] as const)),
  );
}
