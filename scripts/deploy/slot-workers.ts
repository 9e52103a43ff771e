/**
 * Hosts for slots where there is no wildcard: below one `me.workers.dev`, a worker each of static files alone. Requests to
 * such workers are free.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { BuiltFiles } from "../build/built-files.ts";
import type { Worker } from "./platform.ts";

/** Cloudflare's free plan has 100 workers an account, and the edge is one. */
const MOST_SLOTS = 99;

/** @param text of `--slots`. */
export function readSlotCount(text: string): number {
  const count = Number(text);
  // One for the page that is left, one for the page that comes.
  if (/^\d+$/.test(text) && count <= MOST_SLOTS && count !== 1) return count;
  throw new Error(
    `Cannot deploy: --slots is "${text}": take 2 to ${MOST_SLOTS}, or 0 for pages with their scripts off`,
  );
}

/** @param edge name of the edge's worker. */
export function slotNames(edge: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${edge}-s${twoDigits(index + 1)}`);
}

/** ROPEWAY_SLOT_HOSTS for them. @param baseHost of the edge: its name, and what all workers are below. */
export function slotHostPattern(baseHost: string, count: number): string {
  return baseHost.replace(".", `-s[01-${twoDigits(count)}].`);
}

function twoDigits(number: number): string {
  return String(number).padStart(2, "0");
}

/** @param directory where the files and a configuration for each are written. */
export async function writeSlotWorkers(
  directory: string,
  names: readonly string[],
  files: BuiltFiles,
  compatibilityDate: string,
): Promise<Worker[]> {
  const assets = join(directory, "slot");
  for (const [path, contents] of files) {
    await mkdir(dirname(join(assets, path)), { recursive: true });
    await writeFile(join(assets, path), contents);
  }
  return Promise.all(
    names.map(async (name) => {
      const config = join(directory, `${name}.json`);
      await writeFile(config, JSON.stringify(slotConfig(name, assets, compatibilityDate), null, 2));
      return { name, config };
    }),
  );
}

function slotConfig(name: string, directory: string, compatibilityDate: string): object {
  return {
    name,
    compatibility_date: compatibilityDate,
    assets: { directory, html_handling: "none", not_found_handling: "404-page" },
    workers_dev: true,
    // Each would be a host of the same site that nobody wipes.
    preview_urls: false,
    send_metrics: false,
  };
}
