/** Bodies that the phone has, by name: what every edge sends in their place, and what nobody learns by it. */
import { createHash, randomUUID } from "node:crypto";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type RunningEdge, startEdge } from "../../scripts/edge-process.ts";
import type { RequestHead } from "../../shared/http/heads.ts";
import { bodyName, STORED_BODY } from "../../shared/http/phone-fields.ts";
import { noise } from "../testing/contract.ts";
import { pairPhone, TestPhone } from "../testing/test-phone.ts";
import { startLocalOrigin } from "../upstream/testing/local-origin.ts";

const picture = Buffer.concat([Buffer.from("GIF89a"), noise(50_000)]);
const nameOf = (body: Buffer) => bodyName(createHash("sha256").update(body).digest("hex"), body.length);

describe.each(["workerd", "deno"] as const)("an edge on %s", (runtime) => {
  const closers: (() => unknown)[] = [];
  let edge: RunningEdge;
  let phone: TestPhone;
  let site: string;
  let other: string;
  let heard: IncomingHttpHeaders[] = [];
  let serial = 0;

  function answer({ url = "", headers }: IncomingMessage, response: ServerResponse): void {
    heard.push(headers);
    const send = (body: Buffer, fields: Record<string, string> = {}) =>
      response.writeHead(200, { "content-type": "image/gif", etag: `"${serial++}"`, ...fields }).end(body);
    switch (url) {
      case "/same":
        return void send(picture);
      case "/coded":
        return void send(gzipSync(picture), { "content-encoding": "gzip" });
      case "/changed":
        return void send(Buffer.concat([picture.subarray(0, -1), Buffer.from("x")]));
      case "/kept":
        return void (headers["if-none-match"] === '"kept"'
          ? response.writeHead(304, { etag: '"kept"' }).end()
          : send(picture, { etag: '"kept"' }));
      case "/app.1.js":
      case "/app.2.js":
      case "/app.3.js":
        return void send(picture, {
          "content-type": "text/javascript; charset=utf-8",
          etag: `"${randomUUID()}"`,
          "cache-control": "public, max-age=31536000, immutable",
          "last-modified": new Date().toUTCString(),
          vary: "Accept-Encoding",
        });
      case "/away":
        return void response.writeHead(302, { location: `${other}/same` }).end();
      default:
        return void response.writeHead(404).end();
    }
  }

  beforeAll(async () => {
    edge = await startEdge({ runtime, port: 0, allowPrivate: true, log: () => {} });
    const own = await startLocalOrigin(answer);
    const foreign = await startLocalOrigin(answer, { ip: "127.0.0.7" });
    [site, other] = [own.origin, foreign.origin];
    phone = new TestPhone(edge.url, await pairPhone(edge.url, edge.accessKey));
    await phone.connect();
    closers.push(
      () => phone.close(),
      () => edge.close(),
      own.close,
      foreign.close,
    );
  });
  afterAll(() => Promise.all(closers.map((close) => close())));
  beforeEach(() => {
    heard = [];
  });

  const ask = (url: string, change: Partial<RequestHead> = {}) =>
    phone.fetch(url, {
      origin: site,
      topLevelOrigin: site,
      mode: "no-cors",
      credentials: "include",
      destination: "image",
      stored: nameOf(picture),
      ...change,
    });

  it("sends a name for the body that came again, whatever its origin says and codes", async () => {
    for (const path of ["/same", "/coded"]) {
      const { head, body } = await ask(site + path);
      expect([head.status, head.isReference, body.length]).toEqual([200, true, 0]);
      expect(head.headers.find(([name]) => name === "etag")?.[1]).toBe(`"${serial - 1}"`);
    }
    expect(JSON.stringify(heard)).not.toContain(STORED_BODY);
  });

  it("spends under 100 bytes on a body that came under another URL, its head and all, with a validator that says nothing", async () => {
    const script = { destination: "script" } as const;
    const spent: number[] = [];
    for (const path of ["/app.1.js", "/app.2.js", "/app.3.js"]) {
      const before = phone.session.channels.traffic.bytesDown;
      const stored = path === "/app.1.js" ? { stored: undefined as never } : {};
      const { head, body } = await ask(site + path, { ...script, ...stored });
      expect([head.isReference, body.length]).toEqual(spent.length > 0 ? [true, 0] : [undefined, picture.length]);
      spent.push(phone.session.channels.traffic.bytesDown - before);
    }
    expect(Math.max(...spent.slice(1))).toBeLessThan(100);
  });

  it("sends another body as it is, and to who has named none", async () => {
    const changed = await ask(`${site}/changed`);
    expect([changed.head.isReference, changed.body.length]).toEqual([undefined, picture.length]);
    const whole = await phone.fetch(`${site}/same`, { origin: site, topLevelOrigin: site });
    expect([whole.head.isReference, picture.equals(whole.body)]).toEqual([undefined, true]);
  });

  it("tells another phone nothing of what this one has, nor by which validator it asked", async () => {
    expect((await ask(`${site}/same`)).head.isReference).toBe(true);
    const second = new TestPhone(edge.url, await pairPhone(edge.url, edge.accessKey));
    await second.connect();
    heard = [];
    const { head, body } = await second.fetch(`${site}/same`, { origin: site, topLevelOrigin: site });
    expect([head.status, head.isReference, picture.equals(body)]).toEqual([200, undefined, true]);
    expect(heard.map((fields) => [fields["if-none-match"], fields["if-modified-since"]])).toEqual([
      [undefined, undefined],
    ]);
    await second.close();
  });

  it("asks another origin by the validator that the phone's store was told, and no phone without one", async () => {
    const notesOf = async (change: Partial<RequestHead>) =>
      (await ask(`${other}/kept`, change)).head.headers.filter(([name]) => name.startsWith("ropeway-"));
    const nothing = { stored: undefined as never };
    expect(await notesOf(nothing)).toEqual([]);
    phone.session.sendSessionHead([[STORED_BODY, "1"]]);
    expect(await notesOf(nothing)).toEqual([["ropeway-etag", '"kept"']]);
    const { head, body } = await ask(`${other}/kept`, { stored: { ...nameOf(picture), validator: '"kept"' } });
    expect([head.status, head.isReference, body.length]).toEqual([304, undefined, 0]);
    expect(heard.map((fields) => fields["if-none-match"])).toEqual([undefined, undefined, '"kept"']);
  });

  it("tells nobody by a redirect whether another origin has what was guessed", async () => {
    for (const destination of ["image", "script", ""] as const) {
      const { head, body } = await ask(`${site}/away`, { destination });
      expect(head.isReference).toBeUndefined();
      if (destination === "image") expect(picture.equals(body)).toBe(true);
    }
  });
});
