import type { SetTimer } from "../../clock.ts";
import type { RopewayError } from "../../errors.ts";
import type { Defer } from "../../mux/pipe/channel.ts";
import { Session, type SessionHandler, snapshotOf } from "../../mux/session/session.ts";
import { MemoryLink } from "./memory-link.ts";

export interface LinkedSessions {
  readonly phone: Session;
  edge: Session;
  readonly link: MemoryLink;
  /** Why each side ended, when it has. */
  readonly ended: { phone: RopewayError | null; edge: RopewayError | null };
  /** Stores the idle edge's state, forgets the edge, and goes on from the stored state on the same socket. */
  hibernateEdge(): void;
}

export interface LinkedSessionsOptions {
  readonly phone?: Partial<SessionHandler>;
  readonly edge?: Partial<SessionHandler>;
  /** With a defer of its own, messages wait for `link.deliver`; without, everything flows by itself. */
  readonly defer?: Defer;
  /** The phone's. */
  readonly setTimer?: SetTimer;
}

export const TEST_SESSION_ID = Uint8Array.from({ length: 16 }, (_, index) => index);

/** A phone's and an edge's session, connected. */
export function linkSessions(options: LinkedSessionsOptions = {}): LinkedSessions {
  const ended: LinkedSessions["ended"] = { phone: null, edge: null };
  const handlerOf = (side: "phone" | "edge"): SessionHandler => ({
    ...options[side],
    onEnd(error) {
      ended[side] = error;
      options[side]?.onEnd?.(error);
    },
  });
  // A clock that stands: what a test sees does not depend on the machine's speed.
  const common = { sessionId: TEST_SESSION_ID, now: () => 0, ...(options.defer ? { defer: options.defer } : {}) };
  const timer = options.setTimer ? { setTimer: options.setTimer } : {};
  const phone = new Session({ ...common, ...timer, role: "phone", handler: handlerOf("phone") });
  const edge = new Session({ ...common, role: "edge", handler: handlerOf("edge") });
  const schedule = options.defer ? {} : { schedule: queueMicrotask };
  const link = new MemoryLink({ phone: phone.channel, edge: edge.channel, ...schedule });
  const linked: LinkedSessions = {
    phone,
    edge,
    link,
    ended,
    hibernateEdge() {
      linked.edge.channel.flush();
      const snapshot = structuredClone(snapshotOf(linked.edge));
      linked.edge = new Session({ ...common, role: "edge", handler: handlerOf("edge"), snapshot });
      link.adopt(linked.edge.channel);
    },
  };
  link.connect();
  return linked;
}
