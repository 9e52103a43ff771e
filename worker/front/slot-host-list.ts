/** ROPEWAY_SLOT_HOSTS: hosts for slots where there is no wildcard. */
import { isPublicSuffix, ownerOf } from "../upstream/site.ts";
import type { EdgeOptions } from "./environment.ts";
import type { DeploymentHosts } from "./hosts.ts";

/** The app's policy names each of them, and phones get that with the app: some 40 bytes a host. */
const MOST_HOSTS = 100;

/** One for the page that is left, one for the page that comes. */
const FEWEST_HOSTS = 2;

/** `s[01-24].example` */
const RANGE = /^(?<before>[^[\]]*)\[(?<first>\d+)-(?<last>\d+)\](?<after>[^[\]]*)$/;

/**
 * @param text hosts without ports, between commas or spaces; one with a range in it stands for each number of that, with
 *   as many digits as the first has.
 * @param baseHost ROPEWAY_HOST.
 * @returns none where there is no list.
 * @throws Error that says the mend.
 */
export function readSlotHosts(text: string | undefined, baseHost: string | undefined): readonly string[] {
  const entries = (text ?? "").split(/[\s,]+/).filter((entry) => entry !== "");
  if (entries.length === 0) return [];
  if (!baseHost) throw refusal("is set without ROPEWAY_HOST: set that too, to the host that the app is opened at");
  const base = baseHost.toLowerCase();
  if (isPublicSuffix(base))
    throw refusal(
      `cannot be one site with ${base}, which is on the public suffix list: set ROPEWAY_HOST to a host below`,
    );
  const hosts = entries.flatMap(expanded);
  for (const [index, host] of hosts.entries()) {
    if (host === base) throw refusal(`names ${host}, which is the app's own: take it out`);
    if (hosts.indexOf(host) !== index) throw refusal(`names ${host} twice: take one out`);
    if (ownerOf(host) !== ownerOf(base))
      throw refusal(`names ${host}, which is another site than ${base}: take hosts below ${ownerOf(base)}`);
  }
  if (hosts.length < FEWEST_HOSTS) throw refusal(`names ${hosts.length} host: name ${FEWEST_HOSTS} or more, better 24`);
  if (hosts.length > MOST_HOSTS) throw refusal(`names ${hosts.length} hosts: name ${MOST_HOSTS} at most`);
  return hosts;
}

let latest: { readonly text: string | undefined; readonly hosts: DeploymentHosts } | null = null;

/**
 * As an edge is set up; read once.
 *
 * @throws Error as `readSlotHosts`.
 */
export function deploymentHosts({ ROPEWAY_HOST: base, ROPEWAY_SLOT_HOSTS: text }: EdgeOptions): DeploymentHosts {
  if (latest !== null && latest.text === text && latest.hosts.base === base) return latest.hosts;
  latest = { text, hosts: { base, listed: readSlotHosts(text, base) } };
  return latest.hosts;
}

/** @throws Error where it cannot be a host. */
function expanded(entry: string): string[] {
  const { before = "", first = "", last = "", after = "" } = RANGE.exec(entry)?.groups ?? {};
  const [from, to] = [Number(first), Number(last)];
  if (first === "") return [hostName(entry)];
  if (to < from) throw refusal(`has ${entry}, a range that ends before it begins: turn it round`);
  if (to - from >= MOST_HOSTS) throw refusal(`has ${entry}: name ${MOST_HOSTS} hosts at most`);
  return Array.from({ length: to - from + 1 }, (_, index) =>
    hostName(`${before}${String(from + index).padStart(first.length, "0")}${after}`),
  );
}

function hostName(text: string): string {
  const url = URL.parse(`https://${text}`);
  const isName = url !== null && /^[\w.-]+$/.test(url.hostname) && !/^[\d.]+$/.test(url.hostname);
  if (isName && url.hostname === text.toLowerCase()) return url.hostname;
  const mend = isName ? `write ${url.hostname}` : "write names such as s1.ropeway.example or s[1-8].ropeway.example";
  throw refusal(`has ${text}, which is no host name: ${mend}`);
}

function refusal(why: string): Error {
  return new Error(`Cannot start: ROPEWAY_SLOT_HOSTS ${why}`);
}
