/** Finds a Chromium for the tests, or gets one. Plain JavaScript, like bootstrap.mjs. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fail, root, run } from "./bootstrap.mjs";
import { installPackages } from "./debian-packages.mjs";

const NAMES = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome"];
const FILES = [
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
  "/snap/bin/chromium",
];

/** Debian's, and the same browser without windows, which takes a third less of a processor; it has the same version. */
const PACKAGE = "chromium";
const HEADLESS_PACKAGE = "chromium-headless-shell";

/**
 * Gets the browser without windows, for most tests, where the browser is Debian's. Others are whole for all tests.
 *
 * @param {string} browser as `ensureBrowser` found it.
 */
export async function ensureHeadlessBrowser(browser) {
  if (browser === `/usr/bin/${PACKAGE}` && !existsSync(`/usr/bin/${HEADLESS_PACKAGE}`))
    await installPackages([HEADLESS_PACKAGE]);
}

/**
 * In this order: CHROME_PATH, an installed one, Playwright's own, Debian's package as root.
 *
 * @returns {Promise<string>} path of a browser that starts. Ends the process with advice when there is none.
 */
export async function ensureBrowser() {
  const given = process.env.CHROME_PATH;
  if (given) return starts(given) ? given : fail(`Cannot test: CHROME_PATH does not start: ${given}`);

  const found = installed() ?? (await playwrightPath());
  if (found !== undefined) return found;

  console.error("Getting a browser (once) …");
  if ((await run("playwright", ["install", "chromium"], { stdio: ["ignore", 2, 2] })) === 0) {
    const downloaded = await playwrightPath();
    if (downloaded !== undefined) return downloaded;
  }
  await installPackages([PACKAGE, HEADLESS_PACKAGE]);
  const packaged = installed();
  if (packaged !== undefined) return packaged;
  return fail("Cannot test: there is no browser; install Chromium, or set CHROME_PATH to the path of one");
}

function installed() {
  const directories = (process.env.PATH ?? "").split(":");
  const candidates = [...directories.flatMap((directory) => NAMES.map((name) => join(directory, name))), ...FILES];
  return candidates.find((path) => existsSync(path) && starts(path));
}

async function playwrightPath() {
  const { chromium } = await import(join(root, "node_modules", "playwright-core", "index.mjs"));
  const path = chromium.executablePath();
  return existsSync(path) && starts(path) ? path : undefined;
}

/** @param {string} path */
function starts(path) {
  return spawnSync(path, ["--version"], { stdio: "ignore", timeout: 30_000 }).status === 0;
}
