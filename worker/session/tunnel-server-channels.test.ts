/** Sessions of several channels: PROTOCOL.md section 4.5. */
import { describe, expect, it } from "vitest";
import { ErrorCode } from "../../shared/errors.ts";
import * as limits from "../../shared/limits.ts";
import { CLOSED_NORMALLY } from "../../shared/subprotocol.ts";
import { settle } from "../../shared/testing/turns.ts";
import { A, connected, hasSnapshots, setUp, useAll, usedChannels } from "../testing/channelled-edge.ts";

describe("a channel whose socket is lost", () => {
  it("keeps the runtime awake until it is there again", async () => {
    const edge = setUp();
    const phone = await connected(edge, 3);
    await useAll(phone);
    phone.cut(1);
    await settle();
    expect([edge.state.isActive, hasSnapshots(edge, phone)]).toEqual([true, [false, false]]);
    phone.connect(edge.server, 1);
    await settle();
    expect([edge.state.isActive, hasSnapshots(edge, phone)]).toEqual([false, [true, true, true]]);
    expect(edge.timers.size).toBe(0);
    expect(await useAll(phone)).toEqual(Array(6).fill("hello"));
  });

  it("is waited for no longer than sessions are, which goes on without it", async () => {
    const edge = setUp();
    const phone = await connected(edge, 3);
    phone.cut(2);
    expect([...edge.timers.values()]).toEqual([limits.sessionLinger]);
    edge.runTimers();
    await settle();
    expect([edge.state.isActive, edge.server.sessionCount, edge.timers.size]).toEqual([false, 1, 0]);
    expect(hasSnapshots(edge, phone)).toEqual([true, true]);
    expect(await useAll(phone)).toEqual(Array(4).fill("hello"));
  });

  it("ends the session if it is the first, and does not come back", async () => {
    const edge = setUp();
    const phone = await connected(edge, 3);
    phone.cut(0);
    await settle();
    expect([edge.state.isActive, edge.server.sessionCount]).toEqual([true, 1]);
    edge.runTimers();
    await settle();
    expect([edge.state.isActive, edge.server.sessionCount, phone.ended?.code]).toEqual([false, 0, ErrorCode.LINK_LOST]);
  });

  it("lets the others go on, the first too", async () => {
    const edge = setUp();
    const phone = await connected(edge, 3);
    phone.cut(0);
    expect(await useAll(phone)).toEqual(Array(4).fill("hello"));
    phone.connect(edge.server, 0);
    expect(await useAll(phone)).toEqual(Array(6).fill("hello"));
  });
});

describe("a session that lost all its sockets", () => {
  it("is kept for a while from the last", async () => {
    const edge = setUp();
    const phone = await connected(edge, 2);
    phone.cut(0);
    phone.cut(1);
    await settle();
    expect([edge.server.sessionCount, edge.state.isActive, [...edge.timers.values()]]).toEqual([
      1,
      false,
      [limits.sessionLinger],
    ]);
    edge.runTimers();
    expect(edge.server.sessionCount).toBe(0);
  });

  it("does not sleep before all have come back, the first last", async () => {
    const edge = setUp();
    const phone = await connected(edge, 3);
    await useAll(phone);
    for (const index of [0, 1, 2]) phone.cut(index);
    for (const index of [2, 1]) phone.connect(edge.server, index);
    await settle();
    expect([edge.state.isActive, hasSnapshots(edge, phone)]).toEqual([true, [false, false]]);
    phone.connect(edge.server, 0);
    await settle();
    expect([edge.state.isActive, edge.timers.size]).toEqual([false, 0]);
    expect(hasSnapshots(edge, phone)).toEqual([true, true, true]);
    expect(await useAll(phone)).toEqual(Array(6).fill("hello"));
  });
});

describe("a channel that the phone has ended", () => {
  it("does not keep the runtime awake, and begins anew, also in another life", async () => {
    const edge = setUp();
    const phone = await connected(edge, 3);
    await useAll(phone);
    await phone.retire(2);
    await settle();
    expect([edge.state.isActive, edge.timers.size, hasSnapshots(edge, phone)]).toEqual([false, 0, [true, true]]);
    phone.connect(edge.server, 2);
    expect(await useAll(phone)).toEqual(Array(6).fill("hello"));
    await phone.retire(1);
    await settle();
    const server = edge.create();
    phone.restore(server, edge.snapshots);
    phone.connect(server, 1);
    expect(await useAll(phone)).toEqual(Array(6).fill("hello"));
    expect([usedChannels(phone), phone.ended]).toEqual([3, null]);
  });

  it("does not keep the runtime awake for what the phone has, but never said so", async () => {
    const edge = setUp();
    const phone = await connected(edge, 2);
    await useAll(phone);
    const wire = phone.wires.get(1);
    if (wire === undefined) throw new Error("the channel has no socket");
    const { connection } = wire;
    // The request gets through, and what the phone says after that does not.
    let left = 1;
    wire.connection = { ...connection, receive: (message) => (left-- > 0 ? connection.receive(message) : undefined) };
    await Promise.all([0, 1].map((name) => phone.fetch(`${A}/${name}`)));
    await settle();
    expect([left < 1, edge.state.isActive]).toEqual([true, true]);
    await phone.retire(1);
    await settle();
    expect([edge.state.isActive, edge.timers.size, hasSnapshots(edge, phone)]).toEqual([false, 0, [true]]);
  });

  it("is closed by the edge, and not used any more", async () => {
    const edge = setUp();
    const phone = await connected(edge, 2);
    await useAll(phone);
    const wire = phone.wires.get(1);
    await phone.retire(1);
    expect(wire?.closed?.code).toBe(CLOSED_NORMALLY);
    expect(await useAll(phone)).toEqual(Array(2).fill("hello"));
  });

  it("is waited for if nobody knows whether the phone heard that", async () => {
    const edge = setUp();
    const phone = await connected(edge, 2);
    await useAll(phone);
    await phone.retire(1, false);
    await settle();
    expect([edge.state.isActive, edge.timers.size]).toEqual([true, 1]);
    phone.connect(edge.server, 1);
    expect(await useAll(phone)).toEqual(Array(4).fill("hello"));
    expect([edge.state.isActive, edge.timers.size, phone.ended]).toEqual([false, 0, null]);
  });

  it("may be resumed by a phone that confirmed the end and did not learn that it had come", async () => {
    const edge = setUp();
    const phone = await connected(edge, 2);
    await useAll(phone);
    const wire = phone.wires.get(1);
    wire?.connection.finish();
    wire?.connection.closed(true);
    await settle();
    expect([edge.state.isActive, edge.timers.size]).toEqual([false, 0]);
    phone.cut(1);
    phone.connect(edge.server, 1);
    expect(await useAll(phone)).toEqual(Array(4).fill("hello"));
    expect(phone.ended).toBeNull();
  });

  it("may be resumed by a phone that did not hear of the end", async () => {
    const edge = setUp();
    const phone = await connected(edge, 2);
    await useAll(phone);
    phone.wires.get(1)?.connection.finish();
    phone.cut(1);
    phone.connect(edge.server, 1);
    expect(await useAll(phone)).toEqual(Array(4).fill("hello"));
    expect([edge.state.isActive, edge.timers.size, phone.ended]).toEqual([false, 0, null]);
  });
});
