import type { Transport } from "../../shared/transport.ts";
import type { ConnectionSnapshot } from "../session/served-session.ts";
import { TunnelServer, type TunnelServerOptions } from "../session/tunnel-server.ts";

/** A server whose timers run when a test says so, and whose snapshots are kept as a runtime would. */
export function rememberingEdge(options: Pick<TunnelServerOptions, "handle" | "onActive">) {
  const clock = { time: 0 };
  const timers = new Map<() => void, number>();
  const snapshots = new Map<Transport, ConnectionSnapshot | null>();
  const create = (keptAliveAt: TunnelServerOptions["keptAliveAt"] = () => null) =>
    new TunnelServer({
      ...options,
      keptAliveAt,
      onSnapshot: (transport, snapshot) => snapshots.set(transport, snapshot && structuredClone(snapshot)),
      now: () => clock.time,
      setTimer(task, delay) {
        timers.set(task, delay);
        return () => timers.delete(task);
      },
    });
  const runTimers = () => {
    for (const task of [...timers.keys()]) {
      timers.delete(task);
      task();
    }
  };
  return { server: create(), create, clock, timers, runTimers, snapshots };
}
