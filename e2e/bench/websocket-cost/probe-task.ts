/** What the processes of experiment B say to each other. */
import type { Carrier } from "./carrier.ts";

export const HANDSHAKES = ["tcp", "tls", "websocket", "websocketTls"] as const;

export type Handshake = (typeof HANDSHAKES)[number];

/** Where the server listens. */
export type ProbePorts = Readonly<Record<Handshake | Carrier, number>>;

export type ProbeTask =
  | { readonly measure: "handshake"; readonly handshake: Handshake; readonly count: number }
  | { readonly measure: "echo"; readonly carrier: Carrier; readonly payload: number; readonly count: number }
  | { readonly measure: "throughput"; readonly carrier: Carrier; readonly payload: number; readonly count: number };

/** A line to the client. */
export interface ProbeQuestion {
  readonly address: string;
  readonly ports: ProbePorts;
  readonly task: ProbeTask;
}

/** A line from the client: milliseconds (median of the count) or, for throughput, Mbit/s. */
export type ProbeAnswer = { readonly value: number } | { readonly error: string };
