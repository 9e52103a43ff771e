/**
 * `node e2e/bench/behaviours/har/record-har.ts PAGE OUT.har`: visits one of the bench's pages over HTTP/1.1, on a link with
 * no limits, and writes what the browser asked for and got, without contents. Needs root, as the bench does.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Page } from "@playwright/test";
import { dist } from "../../../../scripts/build/paths.ts";
import { Lab } from "../../../lab/lab.ts";
import { PROFILES } from "../../../lab/profiles.ts";
import { startPhoneBrowser } from "../../contestants/phone-browser.ts";
import type { Site } from "../../model.ts";
import { startCaddy } from "../../servers/caddy.ts";
import { createAuthority } from "../../servers/certificates.ts";
import { hostAddresses } from "../../servers/host-addresses.ts";
import { makeSite, SITE_NAMES } from "../../sites/make-sites.ts";

/** The recording is to carry no network. */
const LINK = { ...PROFILES.lte, delay: 0, down: 0, up: 0 };

/** Waits for so many requests to end. A network at rest does not say that a page has all it loads, on a busy machine. */
function finished(page: Page, count: number): Promise<void> {
  let ended = 0;
  return new Promise((resolve) => {
    page.on("requestfinished", () => {
      ended += 1;
      if (ended === count) resolve();
    });
  });
}

/** @throws HarnessError or Error when something of it does not start, or the page does not load. */
export async function recordHar(site: Site, file: string): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "ropeway-recording-"));
  const closing = [() => rm(directory, { recursive: true, force: true })];
  try {
    const addresses = hostAddresses([site]);
    const lab = await Lab.open({ link: LINK, congestion: "bbr", names: addresses });
    closing.push(() => lab.close());
    const authority = await createAuthority(directory);
    const caddy = await startCaddy({ lab, authority, directory, sites: [site], addresses });
    closing.push(() => caddy.close());
    const profile = join(directory, "profile");
    const flags = ["--disable-http2", "--disable-quic"];
    const browser = await startPhoneBrowser({ phone: lab.phone, authority, profile, directory, flags, har: file });
    closing.push(() => browser.close());
    await Promise.all([finished(browser.page, site.objects), browser.page.goto(site.url)]);
    // It writes the recording as it closes.
    await browser.close();
  } finally {
    for (const close of closing.reverse()) await close().catch(() => {});
  }
}

if (import.meta.main) {
  const [name, output] = process.argv.slice(2);
  const page = SITE_NAMES.find((known) => known === name);
  if (page === undefined || output === undefined) {
    console.error(`Usage: node record-har.ts PAGE OUT.har; pages are ${SITE_NAMES.join(", ")}`);
    process.exitCode = 2;
  } else {
    await recordHar(await makeSite(join(dist, "bench", "sites"), page), resolve(output));
  }
}
