import { describe, expect, it } from "vitest";
import { PROBE_TIMEOUT_MIN } from "./socket-keeper.ts";
import { EARLY, firstSocketRig } from "./testing/first-socket-rig.ts";

describe("a link that is silent and awaited", () => {
  /** @param handshake milliseconds that one takes. */
  function stalled(handshake = 2_000) {
    const all = firstSocketRig({ opening: [EARLY] });
    all.start();
    all.platform.pass(handshake);
    all.platform.socket.open();
    all.state.isAwaiting = true;
    all.first.awaiting();
    while (all.platform.sockets.length < 2) all.platform.pass(10);
    expect(all.kind()).toBe("stalled");
    const [old, spare] = all.platform.sockets;
    if (old === undefined || spare === undefined) throw new Error("there is no spare socket");
    return { ...all, old, spare };
  }

  it("gives way to another that is open before it goes on", () => {
    const { platform, old, spare, events, transports, kind, opening } = stalled();
    expect([opening(), transports.length]).toEqual([null, 1]);
    platform.pass(700);
    spare.open();
    expect([events, kind(), old.readyState]).toEqual([["close 1006 of 0"], "open", WebSocket.CLOSED]);
    expect(spare.sent).toEqual([EARLY]);
    spare.receive(new ArrayBuffer(2));
    expect([events.at(-1), transports.length, platform.sockets.length]).toEqual(["message 2 on 1", 2, 2]);
  });

  it("stays when it goes on by itself, and no other is opened for a while", () => {
    const { platform, old, spare, events, transports, kind } = stalled();
    old.receive(new ArrayBuffer(1));
    expect([kind(), spare.readyState, transports.length]).toEqual(["open", WebSocket.CLOSED, 1]);
    expect(events).toEqual(["message 1 on 0"]);
    platform.pass(4 * PROBE_TIMEOUT_MIN);
    // Given up as if there had been none.
    expect(events.at(-1)).toBe("close 1006 of 0");
    expect([kind(), platform.sockets.length]).toEqual(["connecting", 3]);
  });

  it("is given up for one that is not open yet, which then has the time of any", () => {
    const { platform, first, spare, events, transports, kind } = stalled();
    platform.pass(PROBE_TIMEOUT_MIN / 2);
    expect([events, kind(), transports.length]).toEqual([["close 1006 of 0"], "connecting", 2]);
    transports[1]?.send(Uint8Array.of(1));
    expect([platform.sockets.length, spare.sent]).toEqual([2, []]);
    spare.open();
    expect([spare.sent, first.isOpen]).toEqual([[EARLY, Uint8Array.of(1)], true]);
    spare.lose();
    platform.pass(0);
    expect([events.at(-1), platform.sockets.length]).toEqual(["close 1006 of 1", 3]);
  });

  it("is given up for a new one if the other should have been open by then", () => {
    const { platform, spare, events, opening, kind } = stalled(300);
    while (kind() === "stalled") platform.pass(10);
    expect([events, platform.sockets.length, kind()]).toEqual([["close 1006 of 0"], 3, "connecting"]);
    expect([spare.readyState, opening()]).toEqual([WebSocket.CLOSED, EARLY]);
  });

  it("leaves nothing behind when the other fails or takes too long, or the link is opened elsewhere", () => {
    const failing = stalled();
    failing.spare.lose();
    failing.platform.pass(PROBE_TIMEOUT_MIN / 2);
    expect([failing.events, failing.platform.sockets.length]).toEqual([["close 1006 of 0"], 3]);

    const endless = stalled();
    endless.platform.pass(6_500);
    expect(endless.events).toEqual(["close 1006 of 0", "close 1006 of 1"]);
    expect([endless.spare.readyState, endless.platform.sockets.length]).toEqual([WebSocket.CLOSED, 3]);

    const elsewhere = stalled();
    elsewhere.start();
    expect([elsewhere.old.readyState, elsewhere.spare.readyState]).toEqual([WebSocket.CLOSED, WebSocket.CLOSED]);
    expect([elsewhere.platform.sockets.length, elsewhere.transports.length]).toEqual([3, 2]);
  });

  it("begins another at once when the network changes: the first one's packets left from the old address", () => {
    const { platform, first, spare, state } = stalled();
    platform.pass(500);
    first.hint("network");
    expect([spare.readyState, platform.sockets.length, state.spares]).toEqual([WebSocket.CLOSED, 3, 2]);
    first.hint("network");
    expect(platform.sockets).toHaveLength(3);
  });

  it("has one as soon as a request waits, if none did when it stalled", () => {
    const { platform, first, open, state, kind } = firstSocketRig();
    open();
    first.hint("visible");
    platform.pass(PROBE_TIMEOUT_MIN / 2);
    expect([kind(), platform.sockets.length, first.isDialling]).toEqual(["stalled", 1, false]);
    state.isAwaiting = true;
    first.awaiting();
    expect([platform.sockets.length, first.isDialling]).toEqual([2, true]);
  });

  it("does not blame frames in the handshake for the failure of one that had none", async () => {
    const { platform, spare, kind, opening, fail } = stalled();
    platform.pass(PROBE_TIMEOUT_MIN / 2);
    expect([kind(), platform.socket]).toEqual(["connecting", spare]);
    await fail();
    platform.pass(1_000);
    expect([platform.sockets.length, opening()]).toEqual([3, EARLY]);
  });

  it("has none while the device is offline", () => {
    const { platform, first, open, state, kind } = firstSocketRig();
    open();
    first.setOnline(false);
    state.isAwaiting = true;
    first.awaiting();
    platform.pass(PROBE_TIMEOUT_MIN - 1);
    expect([kind(), platform.sockets.length]).toEqual(["stalled", 1]);
  });
});
