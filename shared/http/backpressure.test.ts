/** Credit from end to end: who does not read stops who sends, and whoever is gone gives back what it held. */
import { describe, expect, test } from "vitest";
import * as limits from "../limits.ts";
import { bodyOf, ConsumerLog, CountedBody, exchangeRig, responseHead } from "../testing/http/exchange-rig.ts";
import { settle } from "../testing/turns.ts";

const MIB = 1024 * 1024;
const CHUNK = 16_384;
/** What may be unread of any body. */
const SHORT = limits.firstStreamCreditBytes;

describe("a download", () => {
  test("whose consumer takes nothing stops the origin at the stream's credit", async () => {
    const body = new CountedBody(100 * MIB);
    const rig = exchangeRig(async () => ({ head: responseHead, body: body.stream }));
    const consumer = new ConsumerLog();
    const takers: (() => void)[] = [];
    consumer.pace = () => new Promise((resolve) => takers.push(resolve));
    rig.fetch({}, null, consumer);
    await settle(200);
    expect(consumer.bytes).toBe(limits.firstStreamCreditBytes);
    expect(body.read).toBeLessThanOrEqual(limits.firstStreamCreditBytes + CHUNK);
    for (const take of takers.splice(0)) take();
    await settle(200);
    const most = limits.firstStreamCreditBytes + limits.streamCreditBytes;
    expect(consumer.bytes).toBeGreaterThanOrEqual(2 * limits.firstStreamCreditBytes);
    expect(consumer.bytes).toBeLessThanOrEqual(most);
    expect(body.read).toBeLessThanOrEqual(most + CHUNK);
  });

  test("of 100 MB runs through a bounded window", async () => {
    const size = 100_000_000;
    const body = new CountedBody(size, 65_536);
    const rig = exchangeRig(async () => ({ head: responseHead, body: body.stream }));
    let taken = 0;
    let mostUnread = 0;
    let mostKept = 0;
    const consumer = new ConsumerLog();
    consumer.onBody = (chunk) => {
      taken += chunk.length;
      mostUnread = Math.max(mostUnread, body.read - taken);
      mostKept = Math.max(mostKept, rig.edge.channel.retained.bytes);
      return undefined;
    };
    rig.fetch({}, null, consumer);
    await consumer.over;
    expect(taken).toBe(size);
    expect(mostUnread).toBeLessThanOrEqual(limits.streamCreditBytes + 65_536);
    expect(mostKept).toBeLessThanOrEqual(2 * limits.streamCreditBytes);
  });

  test("that nobody reads does not hold others up", async () => {
    const rig = exchangeRig(async ({ head }) => ({
      head: responseHead,
      body: head.url.endsWith("large") ? new CountedBody(10 * MIB).stream : bodyOf("small"),
    }));
    for (let index = 0; index < 8; index += 1) {
      const stuck = new ConsumerLog();
      stuck.pace = () => new Promise(() => {});
      rig.fetch({ url: "https://a.example/large" }, null, stuck);
    }
    await settle(50);
    const { consumer } = rig.fetch({ url: "https://a.example/small" });
    await consumer.over;
    expect(consumer.text).toBe("small");
  });

  test("that is given up, in its middle or after its end, gives back all it held", async () => {
    const rig = exchangeRig(async ({ head }) => ({
      head: responseHead,
      body: new CountedBody(head.url.endsWith("long") ? 10 * MIB : SHORT).stream,
    }));
    for (let round = 0; round < 30; round += 1) {
      const stuck = new ConsumerLog();
      stuck.pace = () => new Promise(() => {});
      const { exchange } = rig.fetch({ url: `https://a.example/${round % 2 === 0 ? "long" : "short"}` }, null, stuck);
      await settle(50);
      if (round % 2 === 0) expect(stuck.bytes).toBeGreaterThanOrEqual(limits.firstStreamCreditBytes);
      else expect(stuck.bytes).toBe(SHORT);
      exchange.cancel();
      await settle(3);
    }
    expect(rig.phone.receiver.window.unread).toBe(0);
  });
});

describe("an upload", () => {
  test("streams through a bounded window at the pace of its reader", async () => {
    const size = 20 * MIB;
    const upload = new CountedBody(size);
    let taken = 0;
    let mostUnread = 0;
    const rig = exchangeRig(async ({ body }) => {
      for await (const chunk of body ?? []) {
        taken += chunk.length;
        mostUnread = Math.max(mostUnread, upload.read - taken);
      }
      return { head: responseHead, body: null };
    });
    const { consumer } = rig.fetch({ method: "POST" }, upload.stream);
    await consumer.over;
    expect(consumer.events).toEqual(["head", "end"]);
    expect(taken).toBe(size);
    expect(mostUnread).toBeLessThanOrEqual(limits.uploadStreamCreditBytes + CHUNK);
  });

  test("that nobody reads stops at its credit", async () => {
    const upload = new CountedBody(20 * MIB);
    const rig = exchangeRig(() => new Promise(() => {}));
    rig.fetch({ method: "POST" }, upload.stream);
    await settle(100);
    expect(upload.read).toBeLessThanOrEqual(limits.uploadStreamCreditBytes + CHUNK);
    expect(upload.read).toBeGreaterThanOrEqual(limits.uploadStreamCreditBytes);
  });

  test("that is answered unread is dropped, and holds no credit of those that follow", async () => {
    const rig = exchangeRig(async () => ({ head: { ...responseHead, status: 413 }, body: null }));
    for (let round = 0; round < 12; round += 1) {
      const upload = new CountedBody(2 * limits.uploadStreamCreditBytes);
      const { consumer } = rig.fetch({ method: "POST" }, upload.stream);
      await consumer.over;
      await settle(50);
      expect(consumer.head?.status).toBe(413);
      expect(upload.read).toBe(2 * limits.uploadStreamCreditBytes);
      expect(rig.edge.streams.count).toBe(0);
    }
  });

  test("that is answered while it is read goes on to its end", async () => {
    let taken = 0;
    const rig = exchangeRig(async ({ body }) => {
      void (async () => {
        for await (const chunk of body ?? []) {
          taken += chunk.length;
          await settle(1);
        }
      })();
      return { head: { ...responseHead, status: 202 }, body: null };
    });
    const upload = new CountedBody(MIB);
    const { consumer } = rig.fetch({ method: "POST" }, upload.stream);
    await consumer.over;
    await settle(200);
    expect(taken).toBe(MIB);
    expect(rig.edge.streams.count).toBe(0);
  });

  test("whose reader stopped for good holds no credit once both sides have ended", async () => {
    const rig = exchangeRig(async ({ body }) => {
      await body?.getReader().read();
      return { head: responseHead, body: null };
    });
    for (let round = 0; round < 12; round += 1) {
      const { consumer } = rig.fetch({ method: "POST" }, new CountedBody(limits.uploadStreamCreditBytes).stream);
      await consumer.over;
      await settle(20);
      expect(rig.edge.streams.count).toBe(0);
    }
  });

  test("that its reader cancels is drained, so that the phone can finish", async () => {
    const rig = exchangeRig(async ({ body }) => {
      await body?.cancel();
      await settle(100);
      return { head: responseHead, body: null };
    });
    const upload = new CountedBody(4 * MIB);
    const { consumer } = rig.fetch({ method: "POST" }, upload.stream);
    await consumer.over;
    await settle(50);
    expect(upload.read).toBe(4 * MIB);
  });
});
