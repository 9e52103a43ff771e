import { describe, expect, it } from "vitest";
import { END_OF_LINK } from "../../../shared/subprotocol.ts";
import { settle } from "../../../shared/testing/turns.ts";
import type { Transport } from "../../../shared/transport.ts";
import { FakePlatform } from "../testing/fake-platform.ts";
import { SocketContext, type SocketEnd, SocketKeeper } from "./socket-keeper.ts";

const OFFER = { url: "ws://edge/", token: "token", opening: null };
const TIME = 5_000;

function rig() {
  const platform = new FakePlatform();
  const ends: SocketEnd[] = [];
  const transports: Transport[] = [];
  const keeper = new SocketKeeper(
    {
      onOpen: (transport) => transports.push(transport),
      onMessage() {},
      onStall() {},
      onEnd: (end) => ends.push(end),
    },
    new SocketContext(platform, { isAwaiting: () => false, uploadDelay: () => 0 }),
  );
  const dial = () => keeper.dial((listener) => platform.dial(OFFER, listener), TIME);
  const open = () => {
    dial();
    platform.socket.open();
  };
  return { platform, keeper, ends, transports, dial, open };
}

describe("SocketKeeper", () => {
  it("goes from idle over dialling and open to retiring, and is idle when the edge has closed", () => {
    const { platform, keeper, ends, dial } = rig();
    const kinds = [keeper.kind];
    dial();
    kinds.push(keeper.kind);
    platform.socket.open();
    kinds.push(keeper.kind);
    keeper.retire(TIME);
    kinds.push(keeper.kind);
    expect(platform.socket.sent).toEqual([END_OF_LINK]);
    platform.socket.lose(1000, true);
    expect([...kinds, keeper.kind]).toEqual(["idle", "dialling", "open", "retiring", "idle"]);
    expect(ends).toMatchObject([{ from: "retiring", why: "retired", code: 1000 }]);
  });

  it("says from where a socket was lost, and whether anything came on it", () => {
    const { platform, ends, dial, open } = rig();
    dial();
    platform.socket.lose();
    open();
    platform.socket.lose(4011);
    open();
    platform.socket.receive(Uint8Array.of(0x80, 1));
    platform.socket.lose();
    expect(ends).toMatchObject([
      { from: "dialling", why: "lost", code: 1006, wasHeard: false },
      { from: "open", why: "lost", code: 4011, wasHeard: false },
      { from: "open", why: "lost", code: 1006, wasHeard: true },
    ]);
  });

  it("gives up a handshake, and an end, that takes too long", () => {
    const { platform, keeper, ends, dial, open } = rig();
    dial();
    platform.pass(TIME - 1);
    expect(keeper.kind).toBe("dialling");
    platform.pass(1);
    open();
    keeper.retire(TIME);
    platform.pass(TIME);
    expect(ends).toMatchObject([
      { from: "dialling", why: "silent" },
      { from: "retiring", why: "silent" },
    ]);
    expect(platform.sockets.map(({ readyState }) => readyState)).toEqual([WebSocket.CLOSED, WebSocket.CLOSED]);
  });

  it("tells of a transport that was closed after the call, and nothing of a socket that was dropped", async () => {
    const { platform, keeper, ends, transports, open } = rig();
    open();
    transports[0]?.close(4007, "over");
    expect([platform.socket.closedWith, ends]).toEqual([4007, []]);
    await settle(1);
    expect(ends).toMatchObject([{ from: "open", why: "closed", code: 4007 }]);
    open();
    keeper.drop();
    await settle(1);
    expect([keeper.kind, ends.length]).toEqual(["idle", 1]);
  });

  it("waits, and is idle when its task runs; dialling or dropping ends the wait", () => {
    const { platform, keeper, dial } = rig();
    const ran: string[] = [];
    keeper.wait(100, () => ran.push(keeper.kind));
    expect(keeper.kind).toBe("waiting");
    platform.pass(100);
    keeper.wait(100, () => ran.push("after a drop"));
    keeper.drop();
    keeper.wait(100, () => ran.push("after dialling"));
    dial();
    platform.pass(100);
    expect([ran, keeper.kind]).toEqual([["idle"], "dialling"]);
  });

  it("stays idle where no socket is of use", () => {
    const { keeper } = rig();
    keeper.dial(() => null, TIME);
    expect(keeper.kind).toBe("idle");
  });

  it("refuses what its state does not allow", () => {
    const { keeper, dial, open } = rig();
    expect(() => keeper.retire(TIME)).toThrow("Cannot retire");
    open();
    expect(dial).toThrow("Cannot dial");
    expect(() => keeper.wait(100, () => {})).toThrow("Cannot wait");
    keeper.retire(TIME);
    expect(() => keeper.retire(TIME)).toThrow("Cannot retire");
    expect(dial).toThrow("Cannot dial");
  });
});
