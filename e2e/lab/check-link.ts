/** The instrument checked: what the emulated link does against what it was asked to do. `node e2e/lab/check-link.ts` */
import { createInterface } from "node:readline";
import { setTimeout as wait } from "node:timers/promises";
import { type CheckSetting, checkSettings } from "./check-settings.ts";
import { EDGE_ADDRESS, Lab, type LinkSettings, type Namespace, PHONE_ADDRESS } from "./lab.ts";
import { type Arrivals, PING_BYTES, probeCommand } from "./probe.ts";
import { burstInflation, burstShare, shareInterval } from "./proportion.ts";

export interface LinkCheck {
  readonly setting: string;
  readonly asked: LinkFigures;
  readonly measured: LinkFigures;
  /** Percent; 95 % of confidence. */
  readonly lossInterval: readonly [low: number, high: number];
  /** Every figure is within its tolerance. */
  readonly ok: boolean;
}

export interface LinkFigures {
  /** Milliseconds, without the time that the packet's own bytes take; null where that depends on a trace. */
  readonly roundTrip: number | null;
  /** Kilobits per second that arrive, IP headers included: the rate less the loss. */
  readonly down: number;
  readonly up: number;
  /** Percent of both directions' packets. */
  readonly loss: number;
}

/** Milliseconds of the round trip, and the share of a rate. */
const TOLERANCE = { roundTrip: 2, rate: 0.03 };

/** Normal quantile by which 30 intervals hold jointly in 95 % of all checks (Bonferroni). */
const Z_JOINT = 3.14;

const PINGS = 41;

/** Milliseconds for which the link is kept full, and by how much more than it carries. */
const FLOOD_TIME = 2_000;
const FLOOD_FACTOR = 1.3;

/** Packets each way whose loss is counted: fewer where they would take longer, sent so that no queue grows. */
const LOSS_PACKETS = 4_000;
const LOSS_TIME = 2_500;
const LOSS_BYTES = 64;
const LOSS_KBIT = 1_000;
const LOSS_FACTOR = 0.7;
/** A trace fades far below its mean. */
const LOSS_FACTOR_OF_TRACE = 0.3;

/** Milliseconds for what is still under way, beyond what the link itself takes. */
const REST = 150;

/**
 * Checks 30 settings, one after another, in about four minutes.
 *
 * @param onProgress called after each.
 * @throws Error if the lab cannot be opened.
 */
export async function checkLink(
  onProgress: (check: LinkCheck, done: number, total: number) => void,
): Promise<LinkCheck[]> {
  const settings = checkSettings();
  const link: LinkSettings = { delay: 0, down: 0, up: 0, downQueue: 0, upQueue: 0, loss: 0 };
  const lab = await Lab.open({ link, congestion: "bbr", names: {} });
  try {
    const checks: LinkCheck[] = [];
    for (const setting of settings) {
      const check = await checkSetting(lab, setting, checks.length + 1);
      checks.push(check);
      onProgress(check, checks.length, settings.length);
    }
    return checks;
  } finally {
    await lab.close();
  }
}

/** Measures round trip, rates and loss one after another, since each would disturb the others. */
export async function checkSetting(lab: Lab, { name, link, period }: CheckSetting, seed: number): Promise<LinkCheck> {
  const lossShare = link.burst ? burstShare(link.burst, link.loss) : link.loss / 100;
  await lab.configure({ link, seed });
  const roundTrip = link.trace ? null : await measureRoundTrip(lab, link);
  await lab.configure({ link, seed });
  const [down, up] = await measureRates(lab, link, period);
  await lab.configure({ link, seed });
  const { sent, lost } = await measureLoss(lab, link);

  const effective = link.burst ? burstInflation(link.burst, link.loss) : 1;
  const interval = (z?: number): readonly [number, number] => {
    const [low, high] = shareInterval(lost / effective, sent / effective, z);
    return [100 * low, 100 * high];
  };
  const [low, high] = interval(Z_JOINT);
  const asked: LinkFigures = {
    roundTrip: roundTrip === null ? null : 2 * link.delay,
    down: link.down * (1 - lossShare),
    up: link.up * (1 - lossShare),
    loss: 100 * lossShare,
  };
  return {
    setting: name,
    asked,
    measured: { roundTrip, down, up, loss: (100 * lost) / sent },
    lossInterval: interval(),
    ok:
      Math.abs((roundTrip ?? 0) - (asked.roundTrip ?? 0)) <= TOLERANCE.roundTrip &&
      Math.abs(down / asked.down - 1) <= TOLERANCE.rate &&
      Math.abs(up / asked.up - 1) <= TOLERANCE.rate &&
      low <= asked.loss &&
      asked.loss <= high,
  };
}

/** A Markdown table, a row for each setting. */
export function linkCheckTable(checks: readonly LinkCheck[]): string {
  const number = (value: number, digits: number): string =>
    value.toLocaleString("en", { maximumFractionDigits: digits });
  const rate = (value: number): string => number(value, value < 100 ? 2 : value < 1_000 ? 1 : 0);
  const rows = checks.map(({ setting, asked, measured, lossInterval: [low, high], ok }) => [
    setting,
    asked.roundTrip === null ? "" : number(asked.roundTrip, 1),
    measured.roundTrip === null ? "" : number(measured.roundTrip, 1),
    rate(asked.down),
    rate(measured.down),
    rate(asked.up),
    rate(measured.up),
    number(asked.loss, 2),
    `${number(measured.loss, 2)} (${number(low, 2)} to ${number(high, 2)})`,
    ok ? "yes" : "**no**",
  ]);
  const head = ["link", "RTT asked, ms", "measured", "down asked, kbit/s", "measured", "up asked, kbit/s", "measured"];
  head.push("loss asked, %", "measured (95 %)", "within");
  const lines = [head, head.map(() => "---"), ...rows];
  return `${lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n")}\n`;
}

/** The median, as a probe's own delays only ever add. */
async function measureRoundTrip({ phone, edge }: Lab, link: LinkSettings): Promise<number> {
  const serialisation = (PING_BYTES * 8) / link.down + (PING_BYTES * 8) / link.up;
  const echo = await listen(edge, "echo");
  const gap = Math.max(20, 2 * serialisation);
  const patience = 2 * link.delay + serialisation + 2 * REST;
  const times = (await probe(phone, "ping", EDGE_ADDRESS, echo.port, [PINGS, gap, patience])) as number[];
  await echo.stop();
  return (times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? Number.NaN) - serialisation;
}

/** Fills both directions at once. */
async function measureRates({ phone, edge }: Lab, link: LinkSettings, period?: number): Promise<[number, number]> {
  // Full packets, unless too few of them would come for a mean of what is lost, or fit in the queue.
  const packets = link.loss > 0 || link.burst ? 500 : 10;
  const flood = (from: Namespace, to: string, port: number, kbit: number, queue: number): Promise<unknown> => {
    const bytes = Math.round(Math.min(1_500, (kbit * FLOOD_TIME) / 8 / packets, (queue * 1_000) / 4));
    const time = period === undefined ? FLOOD_TIME : period + FLOOD_TIME / 2;
    return probe(from, "flood", to, port, [bytes, FLOOD_FACTOR * kbit, time]);
  };
  const [atPhone, atEdge] = [await listen(phone, "sink"), await listen(edge, "sink")];
  await Promise.all([
    flood(edge, PHONE_ADDRESS, atPhone.port, link.down, link.downQueue),
    flood(phone, EDGE_ADDRESS, atEdge.port, link.up, link.upQueue),
  ]);
  await wait(Math.max((link.downQueue * 8_000) / link.down, (link.upQueue * 8_000) / link.up) + link.delay + REST);
  return [
    arrivalRate((await atPhone.stop()) as Arrivals, period),
    arrivalRate((await atEdge.stop()) as Arrivals, period),
  ];
}

/** @returns packets, both directions together. */
async function measureLoss({ phone, edge }: Lab, link: LinkSettings): Promise<{ sent: number; lost: number }> {
  const factor = link.trace ? LOSS_FACTOR_OF_TRACE : LOSS_FACTOR;
  const send = async (from: Namespace, to: string, port: number, rate: number): Promise<number> => {
    const kbit = Math.min(LOSS_KBIT, factor * rate);
    const count = Math.min(LOSS_PACKETS, Math.floor((kbit * LOSS_TIME) / 8 / LOSS_BYTES));
    await probe(from, "send", to, port, [LOSS_BYTES, kbit, count]);
    return count;
  };
  const [atPhone, atEdge] = [await listen(phone, "sink"), await listen(edge, "sink")];
  const [down, up] = await Promise.all([
    send(edge, PHONE_ADDRESS, atPhone.port, link.down),
    send(phone, EDGE_ADDRESS, atEdge.port, link.up),
  ]);
  await wait(link.delay + 2 * REST);
  const arrived = [...((await atPhone.stop()) as Arrivals), ...((await atEdge.stop()) as Arrivals)].length;
  return { sent: down + up, lost: down + up - arrived };
}

/**
 * Kilobits per second from the first arrival on, over one period or up to the last arrival.
 *
 * The first one's bytes took their time before it arrived, so they do not count. Without a period the first tenth does
 * not either: a receiver that is late at its start would make the rest look faster.
 */
export function arrivalRate(arrivals: Arrivals, period?: number): number {
  const counted = period === undefined ? arrivals.slice(Math.floor(arrivals.length / 10)) : arrivals;
  const first = counted[0]?.[0] ?? 0;
  const end = period === undefined ? (counted.at(-1)?.[0] ?? 0) : first + period;
  const bytes = counted.slice(1).reduce((sum, [time, size]) => (time <= end ? sum + size : sum), 0);
  return (bytes * 8) / (end - first);
}

interface Listener {
  readonly port: number;
  /** @returns what it has to report, if anything. */
  stop(): Promise<unknown>;
}

async function listen(namespace: Namespace, mode: "echo" | "sink"): Promise<Listener> {
  const child = namespace.spawn(probeCommand(mode), { stdio: ["pipe", "pipe", "inherit"] });
  if (!child.stdin || !child.stdout) throw new Error("Cannot measure the link: a probe has no pipes");
  const { stdin } = child;
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const next = async (): Promise<unknown> => {
    const { value } = await lines.next();
    return value === undefined ? undefined : JSON.parse(value);
  };
  const port = await next();
  if (typeof port !== "number") throw new Error(`Cannot measure the link: the ${mode} probe did not start`);
  return {
    port,
    stop: () => {
      stdin.end();
      return next();
    },
  };
}

async function probe(
  namespace: Namespace,
  mode: "ping" | "flood" | "send",
  address: string,
  port: number,
  numbers: readonly number[],
): Promise<unknown> {
  const output = await namespace.run(probeCommand(mode, address, port, ...numbers));
  return output === "" ? undefined : JSON.parse(output);
}

if (import.meta.main) {
  const checks = await checkLink(({ setting, ok }, done, total) => {
    process.stderr.write(`${done} of ${total}: ${setting}: ${ok ? "as asked" : "NOT as asked"}\n`);
  });
  process.stdout.write(linkCheckTable(checks));
  if (!checks.every(({ ok }) => ok)) process.exitCode = 1;
}
