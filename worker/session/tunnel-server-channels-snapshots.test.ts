/** Hibernation of sessions of several channels: PROTOCOL.md section 4.5. */
import { describe, expect, it } from "vitest";
import { ErrorCode } from "../../shared/errors.ts";
import { CLOSE_CODE_BASE } from "../../shared/subprotocol.ts";
import { settle } from "../../shared/testing/turns.ts";
import { A, connected, hasSnapshots, hello, setUp, useAll, usedChannels } from "../testing/channelled-edge.ts";

const LOST = CLOSE_CODE_BASE + ErrorCode.LINK_LOST;

describe("snapshots of several sockets", () => {
  it("are there when the session is idle, and gone when it is not, all together", async () => {
    const gate = Promise.withResolvers<void>();
    const edge = setUp(async () => {
      await gate.promise;
      return hello();
    });
    const phone = await connected(edge, 3);
    expect(hasSnapshots(edge, phone)).toEqual([true, true, true]);
    const response = phone.fetch(A);
    await settle();
    expect([hasSnapshots(edge, phone), edge.state.isActive]).toEqual([[false, false, false], true]);
    gate.resolve();
    await response;
    await settle();
    expect([hasSnapshots(edge, phone), edge.state.isActive]).toEqual([[true, true, true], false]);
  });

  it.each([[[0, 1, 2, 3]], [[3, 2, 1, 0]], [[2, 0, 3, 1]]])(
    "let all channels go on in a new life, whatever the order of the sockets: %s",
    async (order) => {
      const edge = setUp();
      const phone = await connected(edge, 4);
      for (let life = 0; life < 3; life += 1) {
        expect(await useAll(phone)).toEqual(Array(8).fill("hello"));
        phone.restore(edge.create(), edge.snapshots, order);
      }
      expect(await useAll(phone)).toEqual(Array(8).fill("hello"));
      expect([usedChannels(phone), phone.ended]).toEqual([4, null]);
      expect([...phone.wires.values()].every(({ closed }) => closed === null)).toBe(true);
    },
  );

  it("let a channel be resumed on another socket after that", async () => {
    const edge = setUp();
    const phone = await connected(edge, 3);
    await useAll(phone);
    const server = edge.create();
    phone.restore(server, edge.snapshots);
    phone.cut(1);
    phone.connect(server, 1);
    expect(await useAll(phone)).toEqual(Array(6).fill("hello"));
    expect([usedChannels(phone), phone.ended]).toEqual([3, null]);
  });

  it("end the session if a channel comes back of whose socket there is none", async () => {
    const edge = setUp();
    const phone = await connected(edge, 3);
    await useAll(phone);
    const server = edge.create();
    phone.restore(server, edge.snapshots, [0, 2]);
    expect(server.sessionCount).toBe(1);
    phone.wires.delete(1);
    phone.connect(server, 1);
    await settle();
    expect([phone.ended?.code, server.sessionCount]).toEqual([ErrorCode.LINK_LOST, 0]);
  });

  it("are of no use without the first channel's: those sockets are closed", async () => {
    const edge = setUp();
    const phone = await connected(edge, 3);
    await useAll(phone);
    const server = edge.create();
    phone.restore(server, edge.snapshots, [1, 2]);
    expect([1, 2].map((index) => phone.wires.get(index)?.closed?.code)).toEqual([LOST, LOST]);
    expect(server.sessionCount).toBe(0);
  });

  it("keep the sessions of a phone's windows apart", async () => {
    const edge = setUp();
    const [one, other] = [await connected(edge, 2), await connected(edge, 3)];
    await useAll(one);
    await useAll(other);
    const server = edge.create();
    const sockets = [...other.wires.values(), ...one.wires.values()].reverse();
    const pairs = sockets.map(({ transport }) => [transport, edge.snapshots.get(transport) ?? null] as const);
    for (const [position, connection] of server.restore(pairs).entries()) {
      const wire = sockets[position];
      if (wire !== undefined) wire.connection = connection;
    }
    expect(await useAll(one)).toEqual(Array(4).fill("hello"));
    expect(await useAll(other)).toEqual(Array(6).fill("hello"));
    expect([server.sessionCount, one.ended, other.ended]).toEqual([2, null, null]);
  });
});
