/** What a session outlives: hibernation of its edge, cuts of its link, a phone that is away. */
import { describe, expect, test } from "vitest";
import { limits } from "../limits.ts";
import { OK, request, sessionRig } from "../testing/session-rig.ts";

describe("hibernation of an idle edge", () => {
  test("keeps header tables, stream numbers and credit", () => {
    const linked = sessionRig();
    for (let round = 0; round < 10; round += 1) {
      const { phone, edge } = request(linked, false);
      void phone.stream.write(new Uint8Array(200_000));
      phone.stream.end();
      edge.stream.sendHead([...OK, ["x-round", String(round % 3)]], false);
      void edge.stream.write(new Uint8Array(300_000));
      edge.stream.end();
      linked.flow();
      phone.stream.consumed(phone.bytes);
      linked.flow();
      expect(edge.bytes).toBe(200_000);
      expect(phone.bytes).toBe(300_000);
      linked.hibernateEdge();
    }
    expect(linked.ended).toEqual({ phone: null, edge: null });
  });

  test("gives credit back for what had arrived and went with its memory", () => {
    const linked = sessionRig({ consume: false });
    for (let round = 0; round < 20; round += 1) {
      const { phone, edge } = request(linked, false);
      void phone.stream.write(new Uint8Array(limits.uploadStreamCreditBytes));
      phone.stream.end();
      edge.stream.sendHead(OK, true);
      linked.flow();
      expect(edge.bytes).toBe(limits.uploadStreamCreditBytes);
      linked.hibernateEdge();
    }
  });
});

test("a cut in the middle of everything costs nothing but time", () => {
  const linked = sessionRig();
  const logs = Array.from({ length: 20 }, () => request(linked, false));
  for (const [index, { phone, edge }] of logs.entries()) {
    void phone.stream.write(new Uint8Array(20_000));
    phone.stream.end();
    edge.stream.sendHead([...OK, ["x-index", String(index)]], false);
    edge.stream.write(new Uint8Array(150_000)).catch(() => {});
    edge.stream.end();
    linked.phone.channel.flush();
    linked.edge.channel.flush();
    for (let messages = 0; messages < index % 7; messages += 1) linked.link.deliver(index % 2 === 0 ? "up" : "down");
    if (index % 3 === 0) linked.link.connect();
  }
  linked.link.connect();
  linked.flow();
  for (const [index, { phone, edge }] of logs.entries()) {
    expect(phone.fields).toEqual([...OK, ["x-index", String(index)]]);
    expect([phone.bytes, edge.bytes]).toEqual([150_000, 20_000]);
    expect(phone.events.at(-1)).toBe("end");
  }
  expect([linked.phone.openStreams, linked.edge.openStreams]).toEqual([0, 0]);
});

test("a phone that is away does not cost the session, however small the origin's chunks are", () => {
  const linked = sessionRig();
  const { phone, edge } = request(linked);
  edge.stream.sendHead(OK, false);
  linked.flow();
  linked.link.cut();
  for (let chunk = 0; chunk < 100_000; chunk += 1) edge.stream.write(new Uint8Array(8)).catch(() => {});
  edge.stream.end();
  expect(linked.edge.channel.unacknowledged.bytes).toBeLessThan(limits.retainedBytes);
  linked.link.connect();
  linked.flow();
  expect(phone.bytes).toBe(800_000);
  expect(phone.events.at(-1)).toBe("end");
});
