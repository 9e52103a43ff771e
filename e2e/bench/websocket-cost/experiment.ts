/** Experiment B: what a WebSocket costs against TCP (Skvorc, Horvat, Srbljic), and Ropeway's streams against both. */
import { spawn } from "node:child_process";
import { EDGE_ADDRESS, type Lab } from "../../lab/lab.ts";
import { delayOnly } from "../../lab/profiles.ts";
import type { PlannedCell, PlannedExperiment } from "../execute.ts";
import type { BenchMode } from "../options.ts";
import { CARRIERS, type Carrier } from "./carriers.ts";
import { countMessageBytes } from "./message-bytes.ts";
import { HANDSHAKES, type Handshake, Prober, type Spawn } from "./prober.ts";

interface CostGrid {
  /** Bytes. */
  readonly payloads: readonly number[];
  /** Milliseconds one way. */
  readonly delays: readonly number[];
  /** Milliseconds that one measurement may take, roughly. */
  readonly effort: number;
}

const GRIDS: Readonly<Record<BenchMode, CostGrid>> = {
  smoke: { payloads: [1, 1_000], delays: [5], effort: 10 },
  full: { payloads: [1, 125, 1_000, 10_000, 65_536, 1_000_000], delays: [50], effort: 200 },
};

/** Connections opened for one figure: the first ones of a process are slower. */
const LOOPBACK_HANDSHAKES = 40;
const LINK_HANDSHAKES = 3;

const CARRIER_NAMES: Readonly<Record<Carrier, string>> = {
  tcp: "raw TCP",
  websocket: "raw WebSocket",
  ropeway: "ropeway stream",
};

const HANDSHAKE_NAMES: Readonly<Record<Handshake, string>> = {
  tcp: "TCP",
  tls: "TCP and TLS 1.3",
  websocket: "WebSocket",
  websocketTls: "WebSocket over TLS 1.3",
};

/** Round trips before each may carry data. */
const HANDSHAKE_ROUND_TRIPS: Readonly<Record<Handshake, number>> = { tcp: 1, tls: 2, websocket: 2, websocketTls: 3 };

/** What the experiment needs of the lab: the client runs on the phone, the server at the edge. */
export type CostLab = Pick<Lab, "phone" | "edge" | "configure">;

/** Processes start with the first run; nothing has to be closed. */
export function websocketCostExperiment(lab: CostLab, mode: BenchMode): PlannedExperiment {
  const { payloads, delays, effort } = GRIDS[mode];
  const spawnHere: Spawn = ([program = "", ...rest], options) => spawn(program, rest, options);
  const loopback = new Prober({ server: spawnHere, client: spawnHere, address: "127.0.0.1" });
  const link = new Prober({
    server: (argv, options) => lab.edge.spawn(argv, options),
    client: (argv, options) => lab.phone.spawn(argv, options),
    address: EDGE_ADDRESS,
  });
  return {
    id: "B",
    title: "What a WebSocket costs",
    metrics: [
      { name: "echoTime", label: "echo", unit: "ms", better: "lower" },
      { name: "down", label: "throughput, from the server", unit: "Mbit/s", better: "higher" },
      { name: "up", label: "throughput, from the client", unit: "Mbit/s", better: "higher" },
      { name: "overheadDown", label: "framing, from the server", unit: "B", better: "lower" },
      { name: "overheadUp", label: "framing, from the client", unit: "B", better: "lower" },
      { name: "handshake", label: "opening", unit: "ms", better: "lower" },
      { name: "handshakeUp", label: "opening, from the client", unit: "B", better: "lower" },
      { name: "handshakeDown", label: "opening, from the server", unit: "B", better: "lower" },
    ],
    headline: "echoTime",
    cells: [
      ...payloads.map((payload) => payloadCell(loopback, payload, effort)),
      handshakeCell(loopback, {
        id: "opening on loopback",
        delay: 0,
        count: LOOPBACK_HANDSHAKES,
        prepare: async () => {},
      }),
      ...delays.map((delay) =>
        handshakeCell(link, {
          id: `opening at delay=${delay}`,
          delay,
          count: LINK_HANDSHAKES,
          prepare: () => lab.configure({ link: delayOnly(delay), congestion: "bbr" }),
        }),
      ),
    ],
  };
}

function payloadCell(prober: Prober, payload: number, effort: number): PlannedCell {
  // Rates of a small machine, so that a measurement takes about the effort; more bodies where they are small.
  const echoes = Math.max(5, Math.ceil(effort / (0.1 + payload / 100_000)));
  const bodies = Math.max(8, Math.ceil(effort / (0.005 + payload / 200_000)));
  return {
    id: `payload=${payload}`,
    at: { payload },
    floor: { overheadDown: 0, overheadUp: 0 },
    needsQuiet: true,
    prepare: async () => {},
    series: CARRIERS.map((carrier) => ({
      contestant: CARRIER_NAMES[carrier],
      estimate: 0.1 + (3 * effort) / 1000,
      async run() {
        const [bytes] = await countMessageBytes(carrier, [payload]);
        const overheadUp = (bytes?.up ?? Number.NaN) - payload;
        const overheadDown = (bytes?.down ?? Number.NaN) - payload;
        const echoTime = await prober.measure({ measure: "echo", carrier, payload, count: echoes });
        const down = await prober.measure({ measure: "down", carrier, payload, count: bodies });
        const up = await prober.measure({ measure: "up", carrier, payload, count: bodies });
        return { values: { echoTime, down, up, overheadUp, overheadDown } };
      },
    })),
  };
}

function handshakeCell(
  prober: Prober,
  cell: { id: string; delay: number; count: number; prepare: () => Promise<void> },
): PlannedCell {
  const { id, delay, count, prepare } = cell;
  const roundTrip = 2 * delay;
  return {
    id,
    at: { delay },
    floor: { handshake: roundTrip },
    needsQuiet: true,
    prepare,
    series: HANDSHAKES.map((handshake) => ({
      contestant: HANDSHAKE_NAMES[handshake],
      estimate: 0.1 + (1.5 * count * roundTrip * HANDSHAKE_ROUND_TRIPS[handshake]) / 1000,
      async run() {
        const time = await prober.measure({ measure: "handshake", handshake, count });
        if (delay > 0) return { values: { handshake: time } };
        const [handshakeUp, handshakeDown] = [await bytes("up"), await bytes("down")];
        return { values: { handshake: time, handshakeUp, handshakeDown } };

        function bytes(direction: "up" | "down"): Promise<number> {
          return prober.measure({ measure: "handshakeBytes", handshake, direction });
        }
      },
    })),
  };
}
