/** The hosts that sites get: below a wildcard, from a list, or none. */
import { HEALTH_PATH, PAIR_PATH, RESERVED_PATH, TUNNEL_PATH } from "../../shared/subprotocol.ts";
import { ask, isHtml } from "./ask.ts";
import { certificateOf } from "./certificate.ts";
import { type Check, expectThat, type Findings, SmokeFault, type SmokeSettings } from "./check.ts";

const ONE_HOST = "pages show with their scripts off; hosts for sites turn them on (docs/deploy.md)";
const NAVIGATION = { "sec-fetch-dest": "iframe", "sec-fetch-mode": "navigate" };

export const siteChecks: readonly Check[] = [
  { name: "hosts of sites", needs: ["health"], run: checkSiteHosts },
  { name: "boot page", needs: ["hosts of sites"], run: checkBootPage },
  { name: "closed to sites", needs: ["hosts of sites"], run: checkClosedToSites },
];

async function checkSiteHosts(_: SmokeSettings, { origin, slotHost, slotOrigins }: Findings): Promise<string> {
  if (slotHost === null && slotOrigins.length === 0) return `none: ${ONE_HOST}`;
  if (slotHost !== null) return checkWildcard(origin, slotHost);
  await Promise.all(slotOrigins.map((each) => checkListed(origin, each)));
  return `${slotOrigins.length}, from ${new URL(slotOrigins[0] ?? "").host} on`;
}

async function checkWildcard(origin: string, slotHost: string): Promise<string> {
  expectThat(
    slotHost === new URL(origin).host,
    `The edge believes that it was asked for at ${slotHost}, not at ${new URL(origin).host}`,
    "Let what is in front of the edge pass the Host field on as the browser sent it",
  );
  const url = new URL(belowWildcard(origin, slotHost));
  const mend = `Get a certificate for *.${new URL(origin).hostname} too`;
  if (url.protocol === "https:") await certificateOf(url, "the certificate is not for the hosts of sites", mend);
  await ask(new URL(HEALTH_PATH, url)).catch((error: NodeJS.ErrnoException) => {
    throw new SmokeFault(
      `${url.hostname} leads nowhere: ${error.message}`,
      `Add a DNS record for *.${new URL(origin).hostname} that leads where ${new URL(origin).hostname} does`,
    );
  });
  return `*.${slotHost}`;
}

async function checkListed(origin: string, slotOrigin: string): Promise<void> {
  const { host } = new URL(slotOrigin);
  const mend = "Run npm run deploy again, or take the host out of ROPEWAY_SLOT_HOSTS";
  const answer = await ask(new URL(`${RESERVED_PATH}boot`, slotOrigin)).catch((error: NodeJS.ErrnoException) => {
    throw new SmokeFault(`${host} leads nowhere: ${error.message}`, mend);
  });
  expectThat(
    answer.status === 200 && isHtml(answer),
    `${host} is no host for sites: it answers ${answer.status}`,
    mend,
  );
  expectThat(answer.text.includes(`data-shell="${origin}"`), `${host} is a host of another edge than ${origin}`, mend);
}

async function checkBootPage(_: SmokeSettings, found: Findings): Promise<string> {
  const site = siteOrigin(found);
  if (site === null) return "not needed";
  const start = new URL("/a/page?of=a-site", site);
  let answer = await ask(start, { headers: NAVIGATION });
  const { location } = answer.headers;
  if (location !== undefined) answer = await ask(new URL(location, start), { headers: NAVIGATION });
  // Static files answer so what they do not have; the page leads on.
  const leadsOn = found.slotHost === null && answer.status === 404 && answer.text.includes("lost.js");
  expectThat(
    isHtml(answer) && (leadsOn || (answer.status === 200 && answer.text.includes("boot.js"))),
    `${start.host} does not start a site's host: it answers ${answer.status}`,
    `Let ${found.slotHost === null ? start.host : `*.${found.slotHost}`} lead to the edge itself, with the Host field as the browser sent it`,
  );
  const policy = String(answer.headers["content-security-policy"] ?? "");
  expectThat(
    policy.includes("frame-ancestors"),
    "The boot page comes without its content-security-policy",
    "Let what is in front of the edge pass its response headers on as they are",
  );
  return "there";
}

async function checkClosedToSites(_: SmokeSettings, found: Findings): Promise<string> {
  const site = siteOrigin(found);
  if (site === null) return "not needed";
  for (const path of [TUNNEL_PATH, PAIR_PATH]) {
    const method = path === PAIR_PATH ? "POST" : "GET";
    const { status } = await ask(new URL(path, site), { method });
    expectThat(
      status === 404 || status === 405,
      `A site's host answers ${status} at ${path}, where pages of the web have no business`,
      "Let what is in front of the edge pass the Host field on as the browser sent it",
    );
  }
  return "no pairing and no tunnel there";
}

/** That of any site; null where they have none. */
function siteOrigin({ origin, slotHost, slotOrigins }: Findings): string | null {
  return slotHost === null ? (slotOrigins[0] ?? null) : belowWildcard(origin, slotHost);
}

function belowWildcard(origin: string, slotHost: string): string {
  const label = Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => (byte % 36).toString(36)).join("");
  return `${new URL(origin).protocol}//${label}.${slotHost}`;
}
