import type { ChildProcess } from "node:child_process";
import { isIPv4 } from "node:net";
import type { Namespace } from "./namespace.ts";
import { requireProgram } from "./programs.ts";

/** Seconds that answers may be kept, so that a page asks once for each host, as it would outside. */
const TIME_TO_LIVE = 300;

/**
 * Starts dnsmasq. It answers everything by itself and at once: names it does not know do not exist, and types other
 * than A have no data.
 *
 * @param names host to address; "*.x.test" stands for all hosts below x.test.
 * @returns once it listens.
 * @throws Error with what dnsmasq complained of.
 */
export async function startNameServer(
  namespace: Namespace,
  address: string,
  names: Readonly<Record<string, string>>,
): Promise<ChildProcess> {
  for (const [name, target] of Object.entries(names)) {
    if (!isIPv4(target)) throw new Error(`Cannot start the name server: ${name} has no IPv4 address: ${target}`);
  }
  const child = namespace.spawn([requireProgram("dnsmasq"), ...nameServerArguments(address, names)], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let log = "";
  await new Promise<void>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", () => reject(new Error(`Cannot start the name server: dnsmasq ended: ${log.trim()}`)));
    child.stderr?.on("data", (data) => {
      log += String(data);
      if (log.includes("started, version")) resolve();
    });
  });
  return child;
}

function nameServerArguments(address: string, names: Readonly<Record<string, string>>): string[] {
  return [
    "--keep-in-foreground",
    "--conf-file=/dev/null",
    "--pid-file=",
    "--user=root",
    "--group=root",
    "--log-facility=-",
    "--no-resolv",
    "--no-hosts",
    "--bind-interfaces",
    `--listen-address=${address}`,
    `--local-ttl=${TIME_TO_LIVE}`,
    "--local=/#/",
    ...Object.entries(names).flatMap(([name, target]) => {
      if (!name.startsWith("*.")) return `--host-record=${name},${target}`;
      // Without the second, names below it would not exist for the types that they have no data of.
      return [`--address=/${name.slice(2)}/${target}`, `--local=/${name.slice(2)}/`];
    }),
  ];
}
