import { parseOffer } from "../../../../shared/subprotocol.ts";
import { messageOf } from "../../../../shared/testing/mux/scripted-transport.ts";
import { settle } from "../../../../shared/testing/turns.ts";
import type { Transport } from "../../../../shared/transport.ts";
import type { LinkPhase } from "../../../messages/tunnel-messages.ts";
import { FakePlatform } from "../../testing/fake-platform.ts";
import { FirstSocket } from "../first-socket.ts";
import { SocketContext } from "../socket-keeper.ts";

export const EARLY = messageOf({ type: "ack", received: 7 });

/** A first socket on a fake platform, which writes down what it tells its owner. */
export function firstSocketRig({ opening = [] }: { opening?: readonly Uint8Array[] } = {}) {
  const platform = new FakePlatform();
  const phases: LinkPhase[] = [];
  const events: string[] = [];
  const transports: Transport[] = [];
  const state = { isAwaiting: false, uploadDelay: 0, spares: 0 };
  const context = new SocketContext(platform, {
    isAwaiting: () => state.isAwaiting,
    uploadDelay: () => state.uploadDelay,
  });
  const first = new FirstSocket(
    {
      onDialling: (transport) => {
        transports.push(transport);
        for (const message of opening) transport.send(message);
      },
      onMessage: (transport, message) => events.push(`message ${message.length} on ${transports.indexOf(transport)}`),
      onClose: (transport, code) => events.push(`close ${code} of ${transports.indexOf(transport)}`),
      onOpened() {},
      onPhase: (phase) => phases.push(phase),
      onSpare: () => {
        state.spares += 1;
      },
      onRefused: () => events.push("refused"),
    },
    platform,
    context,
  );
  return {
    platform,
    first,
    context,
    events,
    transports,
    phases,
    state,
    kind: () => phases.at(-1)?.kind,
    start: () => first.start("ws://edge/", "token"),
    open: () => {
      first.start("ws://edge/", "token");
      platform.socket.open();
    },
    /** An attempt that fails before the socket opens; what the edge is asked then is answered. */
    async fail() {
      platform.socket.lose();
      await settle(2);
    },
    retryDelay() {
      const phase = phases.at(-1);
      return phase?.kind === "waiting" ? phase.retryAt - platform.time : null;
    },
    /** What the socket was opened with, beyond version and token. */
    opening: () => parseOffer(platform.socket.protocols.join(",")).opening,
  };
}
