/** Requests that ride in the handshake, on every edge. */
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { createConnection } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import * as limits from "../../shared/limits.ts";
import { OPENING_PREFIX, offeredProtocols, SUBPROTOCOL, TUNNEL_PATH } from "../../shared/subprotocol.ts";
import { PendingTransport } from "../../shared/transport.ts";
import { askEdge, readAll, until } from "../testing/contract.ts";
import { edgeOfTests } from "../testing/edge-of-tests.ts";
import { PhoneSession } from "../testing/phone-session.ts";
import { pairPhone, TestPhone } from "../testing/test-phone.ts";

describe.each(["workerd", "deno"] as const)("a handshake with requests in it, with an edge on %s", (runtime) => {
  const edge = edgeOfTests(runtime);

  const handshake = (protocols: readonly string[]) => ({
    connection: "Upgrade",
    upgrade: "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==",
    "sec-websocket-protocol": protocols.join(", "),
  });

  it("lets go of sessions whose phones went before the answer", async () => {
    let waiting = 0;
    // What it leaves is in no other test's way.
    const device = await pairPhone(edge.url, edge.accessKey);
    const origin = await edge.originOf(() => waiting++);
    for (let count = 0; count < limits.sessionsPerPhone; count++) {
      const fields = handshake(offeredProtocols(device, await new PhoneSession().openingFor(origin)));
      const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
      const { hostname, port } = new URL(edge.url);
      const socket = createConnection(Number(port), hostname);
      socket.on("error", () => {});
      // All of it arrives at once, as on a link that stood still.
      socket.end(`GET ${TUNNEL_PATH} HTTP/1.1\r\nhost: ${hostname}:${port}\r\n${lines.join("")}\r\n`);
    }
    await until(() => waiting === limits.sessionsPerPhone);
    const answers = await edge.originOf((_, response) => response.end("hello"));
    await until(async () => {
      const phone = new TestPhone(edge.url, device);
      onTestFinished(() => phone.close());
      await phone.connect();
      // One that is turned away hears nothing.
      const hears = phone.fetch(answers).then(({ text }) => text === "hello");
      return Promise.race([hears, sleep(500, false)]);
    });
  });

  it("acts on them, and selects the version alone", async () => {
    let requests = 0;
    const origin = await edge.originOf((_, response) => {
      requests++;
      response.end("hello");
    });
    const opening = await new PhoneSession().openingFor(`${origin}/`);
    const { status, headers } = await askEdge(edge.url, TUNNEL_PATH, {
      headers: handshake(offeredProtocols(edge.token, opening)),
    });
    expect([status, headers["sec-websocket-protocol"]]).toEqual([101, SUBPROTOCOL]);
    await until(() => requests === 1);
  });

  it("has the answer come on the socket, whatever part of the requests fits", async () => {
    const origin = await edge.originOf((request, response) => response.end(`${request.url}`.slice(0, 8)));
    for (const openingLimit of [0, 30, 200, 1_000, limits.openingBytes]) {
      const phone = new TestPhone(edge.url, edge.token, { openingLimit });
      const paths = Array.from({ length: 40 }, (_, index) => `/${index}-${"x".repeat(200)}`);
      const answers = paths.map((path) => phone.fetch(origin + path));
      await new Promise((resolve) => setTimeout(resolve, 0));
      await phone.connect();
      onTestFinished(() => phone.close());
      expect((await Promise.all(answers)).map(({ text }) => text)).toEqual(paths.map((path) => path.slice(0, 8)));
    }
  });

  it("runs a request once whose handshake was lost after the edge had it", async () => {
    const held: ServerResponse[] = [];
    const origin = await edge.originOf((request, response) => {
      readAll(request).then(() => held.push(response), response.destroy);
    });
    const phone = new TestPhone(edge.url, edge.token);
    const answer = phone.fetch(`${origin}/`, { method: "POST", body: "pay" });
    await new Promise((resolve) => setTimeout(resolve, 0));
    const transport = new PendingTransport();
    phone.session.channel.attach(transport);
    phone.session.channel.flush();
    const protocols = offeredProtocols(edge.token, transport.takeOpening(limits.openingBytes));
    const { port, host } = new URL(edge.url);
    const socket = createConnection({ host: "127.0.0.1", port: Number(port) });
    const fields = Object.entries(handshake(protocols)).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`GET ${TUNNEL_PATH} HTTP/1.1\r\nhost: ${host}\r\n${fields.join("")}\r\n`);
    await until(() => held.length === 1);
    socket.resetAndDestroy();
    await once(socket, "close");
    phone.session.channel.detach(transport);

    await phone.connect();
    onTestFinished(() => phone.close());
    held[0]?.end("paid");
    expect((await answer).text).toBe("paid");
    expect([held.length, phone.ended]).toEqual([1, null]);
  });

  it.each(["a+b/", "A".repeat(8_000)])("refuses what is no opening", async (opening) => {
    const protocols = [...offeredProtocols(edge.token, null), OPENING_PREFIX + opening];
    const { status } = await askEdge(edge.url, TUNNEL_PATH, { headers: handshake(protocols) });
    expect(status).toBe(400);
  });

  it("acts on nothing of a phone that is not paired", async () => {
    let requests = 0;
    const origin = await edge.originOf((_, response) => {
      requests++;
      response.end();
    });
    const opening = await new PhoneSession().openingFor(`${origin}/`);
    const { status } = await askEdge(edge.url, TUNNEL_PATH, {
      headers: handshake(offeredProtocols(`${edge.token}x`, opening)),
    });
    expect([status, requests]).toEqual([401, 0]);
  });

  it("logs nothing of it", () => {
    expect(edge.log.join("\n")).not.toContain(OPENING_PREFIX);
  });
});
