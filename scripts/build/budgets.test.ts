import { describe, expect, it } from "vitest";
import { Random } from "../../shared/testing/random.ts";
import { checkBudgets } from "./budgets.ts";

const SLOT_WORKER = ".ropeway/slot-worker-0123456789abcdef0123.js";
const STORE = ".ropeway/store-0123456789abcdef0123.js";
const DECODER = ".ropeway/decoder-0123456789abcdef0123.js";
const BROTLI = ".ropeway/brotli-0123456789abcdef0123.js";
const PAGE_SOCKETS = ".ropeway/page-sockets-0123456789abcdef0123.js";
const WRITTEN = ".ropeway/written-0123456789abcdef0123.js";
const VIEW = ".ropeway/view-0123456789abcdef0123.js";
const WORDS = ".ropeway/words-0123456789abcdef0123.js";
const PDF = [".ropeway/pdf-0123456789abcdef0123.js", ".ropeway/pdf-worker-0123456789abcdef0123.js"];
const SHEETS = ".ropeway/sheets-0123456789abcdef0123.js";
const LIBRARY = ".ropeway/library-0123456789abcdef0123.js";
const DEVICES = ".ropeway/devices-0123456789abcdef0123.js";
const FIND = [".ropeway/find-0123456789abcdef0123.js", ".ropeway/find-text-0123456789abcdef0123.js"];
const READER = ".ropeway/reader-0123456789abcdef0123.js";
const PERMISSIONS = ["", "page-"].map((part) => `.ropeway/${part}permissions-0123456789abcdef0123.js`);
const LITE = [".ropeway/lite-0123456789abcdef0123.js", ".ropeway/lite-worker-0123456789abcdef0123.js"];
const SIGN_INS = ".ropeway/sign-ins-0123456789abcdef0123.js";
const DOWNLOADS = ".ropeway/downloads-0123456789abcdef0123.js";
const DOWNLOADS_SHEET = ".ropeway/downloads-sheet-0123456789abcdef0123.js";
const ofTunnel = [".ropeway/tunnel.js", STORE, DECODER, BROTLI, PAGE_SOCKETS, SIGN_INS, DOWNLOADS];
const paths = [
  "early.js",
  "shell.js",
  SHEETS,
  LIBRARY,
  DEVICES,
  DOWNLOADS_SHEET,
  ...FIND,
  READER,
  ...PERMISSIONS,
  "sw.js",
  "shell.css",
  SLOT_WORKER,
  WRITTEN,
  VIEW,
  WORDS,
  ...PDF,
  ".ropeway/sw.js",
  ...ofTunnel,
  ...LITE,
];

/** Of what cannot be packed. */
const random = new Random(7);

function filesOf(sizes: Readonly<Record<string, number>>): Map<string, Uint8Array> {
  return new Map(paths.map((path) => [path, Buffer.from(random.bytes(sizes[path] ?? 100))]));
}

describe("checkBudgets", () => {
  it("accepts what fits", () => {
    expect(checkBudgets(filesOf({})).exceeded).toEqual([]);
  });

  it("counts the scripts of shell and slot together", () => {
    const { exceeded } = checkBudgets(filesOf({ "shell.js": 60_000, [SLOT_WORKER]: 60_000 }));
    expect(exceeded).toHaveLength(1);
    expect(exceeded[0]).toMatch(/^shell and slot scripts: \d+ of \d+ bytes gzip$/);
  });

  it("does not pass over a file that was not built", () => {
    const files = filesOf({});
    files.delete(".ropeway/tunnel.js");
    expect(() => checkBudgets(files)).toThrow("Cannot check the budget of tunnel: .ropeway/tunnel.js was not built");
  });
});
