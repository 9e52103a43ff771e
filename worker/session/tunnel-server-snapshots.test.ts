import { serialize } from "node:v8";
import { describe, expect, it } from "vitest";
import { ErrorCode } from "../../shared/errors.ts";
import { CLOSE_CODE_BASE } from "../../shared/subprotocol.ts";
import { CountedBody, responseHead } from "../../shared/testing/http/exchange-rig.ts";
import { messageOf, ScriptedTransport } from "../../shared/testing/mux/scripted-transport.ts";
import { settle } from "../../shared/testing/turns.ts";
import { streamOf } from "../testing/phone-session.ts";
import { hello, setUp, snapshotOf } from "../testing/server-rig.ts";
import { WiredPhone } from "../testing/wired-phone.ts";
import { ATTACHMENT_BYTES, type ConnectionSnapshot } from "./served-session.ts";

describe("snapshots", () => {
  it("is there once the session is idle, and lets it go on in a new life", async () => {
    const edge = setUp();
    const phone = new WiredPhone("Phone/7");
    phone.connect(edge.server);
    await phone.fetch("https://a.example/one");
    for (let life = 0; life < 3; life++) {
      await settle();
      const snapshot = snapshotOf(edge, phone);
      expect(snapshot?.constants.userAgent).toBe("Phone/7");
      phone.restore(edge.create(), snapshot);
      // Indexed by HPACK in the former life.
      expect((await phone.fetch("https://a.example/one")).text).toBe("hello");
      expect((await phone.fetch(`https://a.example/${life}`, { method: "POST", body: "x" })).text).toBe("hello");
    }
    expect(phone.ended).toBeNull();
  });

  it("is gone at once when an exchange begins, so that no half-run one is ever restored", async () => {
    const gate = Promise.withResolvers<void>();
    let whileHandling: ConnectionSnapshot | null | undefined;
    const edge = setUp(async () => {
      await Promise.resolve();
      whileHandling = snapshotOf(edge, phone);
      await gate.promise;
      return hello();
    });
    const phone = new WiredPhone();
    phone.connect(edge.server);
    await settle();
    expect(snapshotOf(edge, phone)).not.toBeNull();
    const response = phone.fetch("https://a.example/");
    await settle();
    expect(whileHandling).toBeNull();
    gate.resolve();
    await response;
    await settle();
    expect(snapshotOf(edge, phone)).not.toBeNull();
  });

  it("counts what is sent after the last exchange has ended", async () => {
    // An upload that is dropped: its credit goes back after the answer has ended.
    const edge = setUp(async () => ({ head: responseHead, body: null }));
    const phone = new WiredPhone();
    phone.connect(edge.server);
    for (let round = 0; round < 4; round++) {
      await phone.fetch("https://a.example/", { method: "POST", body: streamOf(new Uint8Array(200_000)) });
      await settle();
      phone.restore(edge.create(), snapshotOf(edge, phone));
    }
    phone.cut("phone");
    expect(phone.ended).toBeNull();
  });

  it("goes on in step after a life with uploads and downloads of many windows", async () => {
    const edge = setUp(async ({ body }) => {
      for await (const _ of body ?? []);
      return { head: responseHead, body: new CountedBody(3_000_000).stream };
    });
    const phone = new WiredPhone();
    phone.connect(edge.server);
    for (let round = 0; round < 3; round++) {
      const body = new CountedBody(1_500_000);
      const response = await phone.fetch("https://a.example/", { method: "POST", body: body.stream });
      expect(response.body.length).toBe(3_000_000);
      await settle();
      const snapshot = snapshotOf(edge, phone);
      expect(snapshot?.session.channel).toMatchObject({ sent: expect.any(Number), received: expect.any(Number) });
      expect(snapshot?.session.channel.sent).toBeGreaterThanOrEqual(phone.session.channel.arrived.received);
      phone.restore(edge.create(), snapshot);
    }
  });

  it("lets a restored session be resumed on another socket", async () => {
    const edge = setUp();
    const phone = new WiredPhone();
    phone.connect(edge.server);
    await phone.fetch("https://a.example/");
    await settle();
    const server = edge.create();
    phone.restore(server, snapshotOf(edge, phone));
    phone.cut();
    expect(server.sessionCount).toBe(1);
    phone.connect(server);
    expect((await phone.fetch("https://a.example/")).text).toBe("hello");
  });

  it("is taken back from a socket that was replaced", async () => {
    const edge = setUp();
    const phone = new WiredPhone();
    const first = phone.connect(edge.server);
    await phone.fetch("https://a.example/");
    await settle();
    phone.cut("phone");
    phone.connect(edge.server);
    await settle();
    expect(edge.snapshots.get(first.transport)).toBeNull();
    expect(snapshotOf(edge, phone)).not.toBeNull();
  });

  it.each([
    ["many small fields", Array.from({ length: 120 }, (_, index): [string, string] => [`a${index.toString(36)}`, ""])],
    ["few large fields", Array.from({ length: 4 }, (_, index): [string, string] => [`b${index}`, "v".repeat(900)])],
    ["fields beyond ASCII", Array.from({ length: 4 }, (_, index): [string, string] => [`c${index}`, "ü".repeat(450)])],
  ])("fits what a hibernated socket may carry, with tables full of %s", async (_, fields) => {
    const edge = setUp(async () => ({ head: { ...responseHead, headers: fields }, body: null }));
    const phone = new WiredPhone("界".repeat(2000));
    phone.connect(edge.server);
    phone.session.sendSessionHead([
      ["user-agent", "界".repeat(2000)],
      ["accept-language", "界".repeat(2000)],
    ]);
    await phone.fetch("https://a.example/", { headers: fields });
    await settle();
    expect(serialize(snapshotOf(edge, phone)).length).toBeGreaterThan(4000);
    expect(serialize(snapshotOf(edge, phone)).length).toBeLessThan(ATTACHMENT_BYTES);
  });

  it("closes a socket that comes back without one", () => {
    const { server } = setUp();
    const transport = new ScriptedTransport();
    const [connection] = server.restore([[transport, null]]);
    expect(transport.closed?.code).toBe(CLOSE_CODE_BASE + ErrorCode.LINK_LOST);
    connection?.receive(
      messageOf({ type: "hello", sessionId: new Uint8Array(16), received: 0, next: 0, link: 0, resume: false }),
    );
    connection?.closed();
    expect(server.sessionCount).toBe(0);
  });
});
