import type { RopewayError } from "../../errors.ts";
import * as limits from "../../limits.ts";
import type { Attachment } from "../../mux/pipe/channel.ts";
import { resumeChannel } from "../../mux/session/channel-set.ts";
import { Session } from "../../mux/session/session.ts";
import type { MuxStream } from "../../mux/stream/stream.ts";
import type { Transport } from "../../transport.ts";
import { DEFAULT_PRIORITY, type Priority } from "../../wire/frame.ts";
import { TEST_SESSION_ID } from "../mux/linked-sessions.ts";
import { GET, OK } from "../mux/session-rig.ts";
import { helloOf } from "../mux/session-sockets.ts";
import { Random } from "../random.ts";
import { Turns } from "../turns.ts";
import { Bottleneck, type BottleneckSettings } from "./simulated-bottleneck.ts";
import { type CongestionName, congestionControl } from "./simulated-congestion.ts";
import { TcpFlow } from "./simulated-tcp.ts";
import { VirtualTime } from "./virtual-time.ts";

export interface SimulationSettings {
  readonly down: BottleneckSettings;
  /** By default as fast as needed, with the same delay. */
  readonly up?: BottleneckSettings;
  readonly congestion?: CongestionName;
  /** Bytes of the edge's TCP window at first; a fresh one by default. */
  readonly congestionWindow?: number;
  readonly seed?: number;
  /** Connected from the start, and all of them used; 1 by default. */
  readonly channels?: number;
  /** "fixed": all that there is from the start, whatever is measured. */
  readonly credit?: "measured" | "fixed";
  /** The edge's side of a stream; by default it answers with as many bytes as the head asks for. */
  readonly serve?: (stream: MuxStream) => void;
}

/** One response as the phone sees it. Times in ms. */
export interface SimulatedResponse {
  readonly stream: MuxStream;
  readonly askedAt: number;
  headAt: number | null;
  endAt: number | null;
  bytes: number;
}

/** A phone's and an edge's session over TCP on a slow link, in virtual time. The edge answers at once. */
export class SimulatedSessions {
  readonly time = new VirtualTime();
  readonly down: Bottleneck;
  readonly up: Bottleneck;
  readonly phone: Session;
  readonly edge: Session;
  /** Body bytes that reached the phone. */
  delivered = 0;
  /** Bytes of messages that reached the phone. */
  received = 0;
  ended: RopewayError | null = null;
  #settings: SimulationSettings;
  #turns = new Turns();
  /** Towards the phone. */
  readonly flows: TcpFlow[] = [];

  constructor(settings: SimulationSettings) {
    this.#settings = settings;
    const random = new Random(settings.seed ?? 1);
    this.down = new Bottleneck(this.time, random, settings.down);
    this.up = new Bottleneck(this.time, random, settings.up ?? { rate: 1e9, delay: settings.down.delay });
    const common = { sessionId: TEST_SESSION_ID, now: this.time.now, defer: this.#turns.defer };
    const onEnd = (error: RopewayError): void => {
      this.ended = error;
    };
    const fixed = settings.credit === "fixed" ? { credit: limits.sessionCreditBytes } : {};
    const channels = settings.channels === undefined ? {} : { channels: settings.channels };
    this.phone = new Session({ ...common, experiment: { ...fixed, ...channels }, role: "phone", handler: { onEnd } });
    this.edge = new Session({ ...common, role: "edge", handler: { onEnd, onStream: settings.serve ?? answer } });
    for (let index = 0; index < (settings.channels ?? 1); index += 1) this.connect(index);
  }

  /** Asks for a body of `bytes`. */
  request(bytes: number, priority: Priority = DEFAULT_PRIORITY): SimulatedResponse {
    const stream = this.phone.streams.openNow(priority);
    const response: SimulatedResponse = { stream, askedAt: this.time.now(), headAt: null, endAt: null, bytes: 0 };
    stream.handler = {
      onHead: () => {
        response.headAt = this.time.now();
      },
      onData: (chunk) => {
        response.bytes += chunk.length;
        this.delivered += chunk.length;
        stream.consumed(chunk.length);
      },
      onEnd: () => {
        response.endAt = this.time.now();
      },
      onReset() {},
    };
    stream.sendHead([...GET, ["content-length", String(bytes)]], true);
    this.#turns.run();
    return response;
  }

  /** Runs something that sends, and then what it deferred. */
  act(action: () => void): void {
    action();
    this.#turns.run();
  }

  /** Milliseconds that a byte handed over now would take beyond the link's own delay. */
  get queueTime(): number {
    return (this.flows.reduce((sum, { backlog }) => sum + backlog, 0) + this.down.queued) / this.down.rate;
  }

  /** A connection for a channel, its handshakes done. */
  connect(index: number): void {
    const { congestion = "cubic", congestionWindow } = this.#settings;
    const transport = (flow: TcpFlow): Transport => ({
      send: (message) => {
        flow.send(message.slice());
        return true;
      },
      close() {},
    });
    const down = new TcpFlow({
      time: this.time,
      bottleneck: this.down,
      backDelay: this.up.delay,
      congestion: congestionControl(congestion, congestionWindow),
      deliver: (message) => {
        this.received += message.length;
        this.act(() => phoneEnd?.receive(message));
      },
    });
    let phoneEnd: Attachment | null = null;
    let edgeEnd: Attachment | null = null;
    const up = new TcpFlow({
      time: this.time,
      bottleneck: this.up,
      backDelay: this.down.delay,
      congestion: congestionControl("cubic"),
      deliver: (message) => {
        edgeEnd ??= resumeChannel(this.edge.channels, edge, helloOf(message));
        this.act(() => edgeEnd?.receive(message));
      },
    });
    const phone = transport(up);
    const edge = transport(down);
    this.flows.push(down);
    this.act(() => {
      phoneEnd = this.phone.channels.attach(index, phone);
    });
  }
}

function answer(stream: MuxStream): void {
  stream.handler = {
    onHead: (fields) => {
      const bytes = Number(fields.find(([name]) => name === "content-length")?.[1]);
      stream.sendHead(OK, false);
      stream.write(new Uint8Array(bytes)).catch(() => {});
      stream.end();
    },
    onData() {},
    onEnd() {},
    onReset() {},
  };
}
