import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { join } from "node:path";
import type { TestCertificate } from "../../fixtures/test-certificate.ts";
import type { Lab } from "../../lab/lab.ts";
import { HarnessError } from "../failure.ts";
import type { Site } from "../model.ts";
import { ADMIN_HOST, caddyConfig, hostsOf, type ProxiedHost } from "./caddy-config.ts";
import type { Authority } from "./certificates.ts";
import { startServer } from "./server-process.ts";

/** The origins: Caddy with TLS 1.3 over HTTP/1.1, 2 and 3, on port 443 of the origins' addresses. */
export interface Caddy {
  /** @throws Error if it is not one of the hosts. */
  addressOf(host: string): string;
  /** Serves other directories for the same hosts, such as a site's next version. */
  setSites(sites: readonly Site[]): Promise<void>;
  /**
   * Sends this date with every answer; null sends the true one. What a browser gets under a clock that is a day behind
   * is a day old in its cache at once.
   */
  setClock(date: Date | null): Promise<void>;
  /** Whether a connection ends with its answer. */
  setShort(isShort: boolean): Promise<void>;
  close(): Promise<void>;
}

export interface CaddyOptions {
  readonly lab: Pick<Lab, "origins">;
  readonly authority: Authority;
  readonly sites: readonly Site[];
  readonly proxied?: readonly ProxiedHost[];
  /** By host, as the name server of the lab has them: `hostAddresses`. */
  readonly addresses: Readonly<Record<string, string>>;
  /** Directory of the run. */
  readonly directory: string;
}

/** @throws HarnessError with what Caddy complained of. */
export async function startCaddy(options: CaddyOptions): Promise<Caddy> {
  const { lab, authority, addresses, proxied = [] } = options;
  // The path of a Unix socket has room for some hundred characters only.
  const directory = await mkdtemp(join(options.directory, "caddy-"));
  await mkdir(join(directory, "home"));
  const socket = join(directory, "admin.sock");
  const certificates = new Map<string, TestCertificate>();
  let sites = options.sites;
  let clock: Date | null = null;
  let isShort = false;

  const configuration = async (): Promise<string> => {
    const hosts = [...hostsOf(sites), ...proxied].map(({ name }) => name);
    for (const host of hosts) {
      addressOf(addresses, host);
      // One each: a certificate for several would let browsers join connections of hosts that have nothing in common.
      if (!certificates.has(host)) certificates.set(host, await authority.issue([host]));
    }
    const listening = [...new Set(Object.values(addresses))];
    return JSON.stringify(
      caddyConfig({
        ...{ sites, proxied, socket, clock, isShort },
        ...{ addresses: listening, certificates: [...certificates.values()] },
      }),
    );
  };

  const file = join(directory, "caddy.json");
  await writeFile(file, await configuration());
  const home = join(directory, "home");
  const server = await startServer({
    name: "Caddy",
    child: lab.origins.spawn(["caddy", "run", "--config", file], {
      env: { PATH: process.env.PATH, HOME: home, XDG_CONFIG_HOME: home, XDG_DATA_HOME: home },
      stdio: ["ignore", "ignore", "pipe"],
    }),
    readyLine: /serving initial configuration/,
  });
  const reload = async (): Promise<void> => loadConfiguration(socket, await configuration());

  return {
    addressOf: (host) => addressOf(addresses, host),
    setSites(changed) {
      sites = changed;
      return reload();
    },
    setClock(date) {
      clock = date;
      return reload();
    },
    setShort(wanted) {
      if (wanted === isShort) return Promise.resolve();
      isShort = wanted;
      return reload();
    },
    close: () => server.close(),
  };
}

function addressOf(addresses: Readonly<Record<string, string>>, host: string): string {
  const address = addresses[host];
  if (address === undefined) throw new HarnessError(`Cannot serve ${host}: it has no address`);
  return address;
}

/** @throws HarnessError with Caddy's complaint. */
export function loadConfiguration(socketPath: string, configuration: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (reason: string): void => reject(new HarnessError(`Cannot reconfigure Caddy: ${reason}`));
    const sent = request({
      // With each configuration Caddy starts its administration anew, and closes the connections of the one before.
      agent: false,
      socketPath,
      path: "/load",
      method: "POST",
      headers: { host: ADMIN_HOST, "content-type": "application/json" },
    });
    sent.once("error", (error) => fail(error.message));
    sent.once("response", (response) => {
      let answer = "";
      response.setEncoding("utf8").on("data", (text: string) => {
        answer += text;
      });
      response.once("end", () => (response.statusCode === 200 ? resolve() : fail(`${response.statusCode} ${answer}`)));
    });
    sent.end(configuration);
  });
}
