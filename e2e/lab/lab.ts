import type { ChildProcess } from "node:child_process";
import { LinkProcess } from "./link-process.ts";
import { type LinkCounters, type LinkSettings, linkCommands } from "./link-settings.ts";
import { startNameServer } from "./name-server.ts";
import { Namespace, removeLeftovers } from "./namespace.ts";
import { missingForLab } from "./programs.ts";

export type { DirectionCounters, LinkCounters, LinkSettings } from "./link-settings.ts";
export { Namespace } from "./namespace.ts";
export { missingForLab } from "./programs.ts";

export type CongestionControl = "bbr" | "cubic";

export interface LabOptions {
  readonly link: LinkSettings;
  readonly congestion: CongestionControl;
  /** Of the link's loss. */
  readonly seed?: number;
  /** Host to address; "*.x.test" stands for all hosts below x.test. Every other name does not exist. */
  readonly names: Readonly<Record<string, string>>;
}

interface LinkBeginning {
  readonly seed: number | undefined;
  readonly traceStart: number;
}

export const PHONE_ADDRESS = "10.77.0.1";
export const EDGE_ADDRESS = "10.77.0.2";

const ORIGINS = 20;

/** Milliseconds one way between edge and origins: 5 ms a round trip. */
export const EDGE_TO_ORIGINS: LinkSettings = { delay: 2.5, down: 0, up: 0, downQueue: 0, upQueue: 0, loss: 0 };

/** The TUN devices: of the measured link, and of the hop between edge and origins. */
const LINK = "link0";
const HOP = "hop0";

/** The device's own queue never fills, so the link's is the only one, and its counters know of every drop. */
const UP = "mtu 1500 txqueuelen 20000 up";

/** @param n 1 to 20. */
export function originAddress(n: number): string {
  if (!Number.isInteger(n) || n < 1 || n > ORIGINS) {
    throw new RangeError(`Cannot give origin ${n} an address: there are 1 to ${ORIGINS}`);
  }
  return `10.77.1.${n}`;
}

/**
 * Three network namespaces in a row, with real TCP over emulated links:
 *
 * phone — the measured link — edge — 2.5 ms — origins
 *
 * What the phone and an origin send each other passes the second hop without its delay. So a direct visit pays for the
 * measured link only, and Ropeway's edge pays for being 5 ms away from origins: the comparison leans against us.
 */
export class Lab {
  readonly phone: Namespace;
  readonly edge: Namespace;
  readonly origins: Namespace;
  readonly #link: LinkProcess;
  readonly #hop: LinkProcess;
  readonly #nameServer: ChildProcess;
  #beginning: LinkBeginning = { seed: undefined, traceStart: 0 };

  private constructor(
    [phone, edge, origins]: readonly [Namespace, Namespace, Namespace],
    link: LinkProcess,
    hop: LinkProcess,
    nameServer: ChildProcess,
  ) {
    this.phone = phone;
    this.edge = edge;
    this.origins = origins;
    this.#link = link;
    this.#hop = hop;
    this.#nameServer = nameServer;
  }

  /** @throws Error that says what is missing (see `missingForLab`) or what did not start; then nothing is left. */
  static async open(options: LabOptions): Promise<Lab> {
    const missing = missingForLab();
    if (missing.length > 0) throw new Error(`Cannot open the lab: it needs ${missing.join(", ")}`);
    const commands = linkCommands(options.link, options.seed ?? 1);
    removeLeftovers();
    const namespaces: Namespace[] = [];
    try {
      const create = async (role: string): Promise<Namespace> => {
        const namespace = await Namespace.create(role, EDGE_ADDRESS);
        namespaces.push(namespace);
        return namespace;
      };
      const [phone, edge, origins] = [await create("phone"), await create("edge"), await create("origins")];
      const link = await LinkProcess.start({ namespace: phone, device: LINK }, { namespace: edge, device: LINK });
      const hop = await LinkProcess.start(
        { namespace: edge, device: HOP },
        { namespace: origins, device: HOP },
        PHONE_ADDRESS,
      );
      await addAddresses(phone, edge, origins);
      for (const command of linkCommands(EDGE_TO_ORIGINS)) await hop.command(command);
      const nameServer = await startNameServer(edge, EDGE_ADDRESS, options.names);
      const lab = new Lab([phone, edge, origins], link, hop, nameServer);
      await lab.#setCongestion(options.congestion);
      for (const command of commands) await link.command(command);
      return lab;
    } catch (error) {
      for (const namespace of namespaces) namespace.remove();
      throw error;
    }
  }

  /**
   * Changes the link under running servers. What is under way on it is forgotten and traces begin anew. Another
   * congestion control is for new connections.
   *
   * @param settings.seed starts the loss anew, so that several runs meet the same.
   * @param settings.traceStart milliseconds of the traces that a rewind passes over, none by default.
   */
  async configure(settings: {
    readonly link?: LinkSettings;
    readonly congestion?: CongestionControl;
    readonly seed?: number;
    readonly traceStart?: number;
    /** Milliseconds one way between edge and origins; as they were by default. */
    readonly toOrigins?: number;
  }): Promise<void> {
    const { toOrigins: delay } = settings;
    if (delay !== undefined)
      for (const command of linkCommands({ ...EDGE_TO_ORIGINS, delay })) await this.#hop.command(command);
    if (settings.congestion !== undefined) await this.#setCongestion(settings.congestion);
    if (settings.link === undefined) return;
    for (const command of linkCommands(settings.link, settings.seed)) await this.#link.command(command);
    this.#beginning = { seed: settings.seed, traceStart: settings.traceStart ?? 0 };
  }

  /** Losses and traces as they began with `configure`, whatever passed since: what comes now meets the same as others did. */
  async rewind(): Promise<void> {
    const { seed = -1, traceStart } = this.#beginning;
    await this.#link.command(`rewind ${traceStart} ${seed}`);
  }

  /** Since the lab was opened, on the measured link. */
  async counters(): Promise<LinkCounters> {
    return (await this.#link.command("counters")) as LinkCounters;
  }

  /** While on, everything that enters or would arrive is dropped, both ways. */
  async setOutage(on: boolean): Promise<void> {
    await this.#link.command(`outage ${on ? "on" : "off"}`);
  }

  /** Ends everything that runs in the namespaces, and removes them. */
  async close(): Promise<void> {
    this.#nameServer.kill();
    await Promise.all([this.#link.close(), this.#hop.close()]);
    await Promise.all([this.phone, this.edge, this.origins].map((namespace) => namespace.close()));
  }

  async #setCongestion(control: CongestionControl): Promise<void> {
    const metric = `congctl ${control}`;
    await this.phone.ip([`route replace default dev ${LINK} ${metric}`, "tcp_metrics flush"]);
    await this.edge.ip([
      `route replace ${PHONE_ADDRESS}/32 dev ${LINK} src ${EDGE_ADDRESS} ${metric}`,
      `route replace 10.77.1.0/24 dev ${HOP} src ${EDGE_ADDRESS} ${metric}`,
      "tcp_metrics flush",
    ]);
    await this.origins.ip([`route replace default dev ${HOP} ${metric}`, "tcp_metrics flush"]);
  }
}

/** Routes follow with the congestion control, which is theirs. */
async function addAddresses(phone: Namespace, edge: Namespace, origins: Namespace): Promise<void> {
  await phone.ip([`address add ${PHONE_ADDRESS}/32 dev ${LINK}`, `link set ${LINK} ${UP}`]);
  await edge.ip([
    `address add ${EDGE_ADDRESS}/32 dev ${LINK}`,
    `link set ${LINK} ${UP}`,
    `address add ${EDGE_ADDRESS}/32 dev ${HOP}`,
    `link set ${HOP} ${UP}`,
  ]);
  await edge.run(["sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward"]);
  const addresses = Array.from({ length: ORIGINS }, (_, index) => `address add ${originAddress(index + 1)}/32 dev lo`);
  await origins.ip([...addresses, `link set ${HOP} ${UP}`]);
}
