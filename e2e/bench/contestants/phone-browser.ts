import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { type BrowserContext, chromium, type Page } from "@playwright/test";
import { findChromium } from "../../fixtures/chromium.ts";
import type { Namespace } from "../../lab/lab.ts";
import { HarnessError } from "../failure.ts";
import type { Authority } from "../servers/certificates.ts";
import { processMemory, processTree, processTreeCpu } from "./process-cpu.ts";

/** Chromium on the phone, started anew, with one blank tab. */
export interface PhoneBrowser {
  readonly context: BrowserContext;
  readonly page: Page;
  /** Of its first process. */
  readonly pid: number;
  /** CPU seconds of all its processes so far. */
  cpu(): number;
  /** Bytes of all its processes now: of what they share each has its part. */
  memory(): number;
  /** Writes what it keeps into its profile, and ends. */
  close(): Promise<void>;
}

export interface PhoneBrowserOptions {
  readonly phone: Namespace;
  readonly authority: Authority;
  /** Directory of the profile; made when it does not exist. */
  readonly profile: string;
  /** Directory of the run, for the program that starts the browser. */
  readonly directory: string;
  readonly flags: readonly string[];
}

/**
 * One device pixel per CSS pixel: nothing but the processor draws here, and at a phone's true density that would take
 * longer than what is measured.
 */
const SCREEN = {
  viewport: { width: 412, height: 915 },
  deviceScaleFactor: 1,
  hasTouch: true,
  isMobile: true,
  userAgent:
    "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36",
};

/** Beside Playwright's own. No sandbox, as the lab runs as root; the others stop traffic that no page asked for. */
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-domain-reliability",
  "--disable-sync",
  "--no-first-run",
  "--no-pings",
  // Accounts, extensions and updates have names of their own; they are not even asked for.
  "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE *.test",
  "--window-size=412,915",
];

/** Milliseconds. */
const START_TIMEOUT = 30_000;
/** A browser that has just started is busy with itself for a while; a person's has been open for long. */
const START_PAUSE = 1_000;

/** @throws HarnessError when it does not start. */
export async function startPhoneBrowser(options: PhoneBrowserOptions): Promise<PhoneBrowser> {
  const { phone, authority, profile } = options;
  await mkdir(profile, { recursive: true });
  const launcherDirectory = await mkdtemp(join(options.directory, "browser-"));
  const launcher = join(launcherDirectory, "chromium");
  const pidFile = join(launcherDirectory, "pid");
  const command = phone
    .command([findChromium() ?? chromium.executablePath()])
    .map(shellQuote)
    .join(" ");
  // The process stays the same through each exec.
  await writeFile(launcher, `#!/bin/sh\necho $$ > ${shellQuote(pidFile)}\nexec ${command} "$@"\n`, { mode: 0o700 });
  const removeLauncher = (): Promise<void> => rm(launcherDirectory, { recursive: true, force: true });
  try {
    const context = await chromium.launchPersistentContext(profile, {
      ...SCREEN,
      executablePath: launcher,
      args: [...FLAGS, `--ignore-certificate-errors-spki-list=${authority.keyHash}`, ...options.flags],
      env: { PATH: process.env.PATH ?? "", HOME: profile, LANG: "en_US.UTF-8" },
      locale: "en-US",
      timeout: START_TIMEOUT,
    });
    const pid = Number(await readFile(pidFile, "utf8"));
    const page = context.pages()[0] ?? (await context.newPage());
    await wait(START_PAUSE);
    return {
      context,
      page,
      pid,
      cpu: () => processTreeCpu(pid),
      memory: () => processTree(pid).reduce((sum, each) => sum + processMemory(each), 0),
      async close() {
        await context.close();
        await removeLauncher();
      },
    };
  } catch (error) {
    await removeLauncher();
    const message = error instanceof Error ? error.message : String(error);
    const complaint = /\[err\] (.*)/.exec(message)?.[1] ?? message.split("\n")[0];
    throw new HarnessError(`Cannot start the browser: ${complaint}`);
  }
}

function shellQuote(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
