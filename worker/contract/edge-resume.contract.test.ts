/** What a phone whose link is cut finds on every edge: its session where it was, or word that it is gone. */
import { mkdtemp, rm } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type EdgeOptions, type RunningEdge, startEdge } from "../../scripts/edge-process.ts";
import { ErrorCode } from "../../shared/errors.ts";
import { EdgeRequest } from "../../shared/subprotocol.ts";
import { scriptFetch } from "../../shared/testing/http/request-heads.ts";
import { noise, readAll, sha256, until } from "../testing/contract.ts";
import { EDGES, pairPhone, TestPhone } from "../testing/test-phone.ts";
import { startLocalOrigin } from "../upstream/testing/local-origin.ts";

const BODY = noise(6_000_000);

describe.each(EDGES)("a link that is cut, with an edge on %s over %s", (runtime, road) => {
  const closers: (() => unknown)[] = [];
  let edge: RunningEdge;
  let token: string;

  beforeAll(async () => {
    edge = await startEdge({ runtime, port: 0, allowPrivate: true });
    closers.push(() => edge.close());
    token = await pairPhone(edge.url, edge.accessKey);
  });
  afterAll(() => Promise.all(closers.map((close) => close())));

  async function connectedPhone(): Promise<TestPhone> {
    const phone = new TestPhone(edge.url, token, { road });
    await phone.connect();
    closers.push(() => phone.close());
    return phone;
  }

  async function originOf(listener: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
    const { origin, close } = await startLocalOrigin(listener);
    closers.push(close);
    return origin;
  }

  it.each(["both", "phone"] as const)("loses and repeats no byte of a download, noticed by: %s", async (noticedBy) => {
    let requests = 0;
    const origin = await originOf((_, response) => {
      requests++;
      response.writeHead(200, { "content-type": "image/png" }).end(BODY);
    });
    const phone = await connectedPhone();
    let [received, cuts] = [0, 0];
    const onChunk = (chunk: Uint8Array) => {
      received += chunk.length;
      if (received < (cuts + 1) * 1_000_000 || cuts === 4) return undefined;
      cuts++;
      phone.cut(noticedBy);
      return phone.connect();
    };
    const { body } = await phone.fetch(`${origin}/`, { onChunk });
    expect(sha256(body)).toBe(sha256(BODY));
    expect([requests, cuts]).toEqual([1, 4]);
    expect(phone.ended).toBeNull();
  });

  it.each(["both", "phone"] as const)("loses and repeats no byte of an upload, noticed by: %s", async (noticedBy) => {
    let requests = 0;
    const origin = await originOf((request, response) => {
      requests++;
      readAll(request).then((body) => response.end(`${body.length} ${sha256(body)}`), response.destroy);
    });
    const phone = await connectedPhone();
    let [offset, cuts] = [0, 0];
    const body = new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          const chunk = BODY.subarray(offset, offset + 40_000);
          offset += chunk.length;
          if (chunk.length === 0) return controller.close();
          controller.enqueue(chunk);
          if (offset < (cuts + 1) * 1_000_000 || cuts === 4) return;
          cuts++;
          phone.cut(noticedBy);
          await phone.connect();
        },
      },
      { highWaterMark: 0 },
    );
    const { text } = await phone.fetch(`${origin}/`, { method: "POST", body });
    expect(text).toBe(`${BODY.length} ${sha256(BODY)}`);
    expect([requests, cuts]).toEqual([1, 4]);
    expect(phone.ended).toBeNull();
  });

  it("brings an answer that came while nobody was there, and runs the request once", async () => {
    const held: ServerResponse[] = [];
    const origin = await originOf((_, response) => held.push(response));
    const phone = await connectedPhone();
    const answer = phone.fetch(`${origin}/`, { method: "POST", body: "pay" });
    await until(() => held.length === 1);
    phone.cut();
    held[0]?.end("paid");
    await phone.connect();
    expect((await answer).text).toBe("paid");
    for (let again = 0; again < 10; again++) {
      phone.cut(again % 2 === 0 ? "both" : "phone");
      await phone.connect();
    }
    expect(held.length).toBe(1);
  });

  it("keeps a cookie that came after its phone's app was killed, and tells it to the next one that asks", async () => {
    const held: ServerResponse[] = [];
    const origin = await originOf((request, response) => {
      if (request.url === "/login") held.push(response);
      else response.end();
    });
    const killed = await connectedPhone();
    killed.fetch(`${origin}/login`, { method: "POST", body: "who", ...scriptFetch(origin) }).catch(() => {});
    await until(() => held.length === 1);
    killed.cut();
    const next = await connectedPhone();
    const told = async () => {
      const asked = { ...scriptFetch(origin), headers: [["document-url", `${origin}/`]] as const };
      return (await next.fetch(EdgeRequest.SCRIPT_COOKIES, asked)).head.scriptCookies.map(({ name }) => name);
    };
    expect(await told()).toEqual([]);
    held[0]?.writeHead(200, { "set-cookie": "late=1" }).end();
    await until(async () => (await told()).includes("late"));
    // What another exchange set is told with none but documents.
    const [script, page] = [
      await next.fetch(`${origin}/script`, scriptFetch(origin)),
      await next.fetch(`${origin}/page`),
    ];
    expect([script, page].map(({ head }) => head.scriptCookies.map(({ name }) => name))).toEqual([[], ["late"]]);
  });

  it("carries on with requests that were made while the link was down", async () => {
    const origin = await originOf((request, response) => response.end(request.url));
    const phone = await connectedPhone();
    await phone.fetch(`${origin}/before`);
    phone.cut();
    const answers = ["/a", "/b", "/c"].map((path) => phone.fetch(origin + path));
    await phone.connect();
    expect((await Promise.all(answers)).map(({ text }) => text)).toEqual(["/a", "/b", "/c"]);
  });

  /** The edge's process dies, another takes its place on its port, and the phone comes back. */
  async function restart(own: RunningEdge, phone: TestPhone, options: Partial<EdgeOptions> = {}): Promise<RunningEdge> {
    process.kill(own.pid, "SIGKILL");
    await own.exited;
    await until(() => phone.closedBy !== null);
    phone.closedBy = null;
    const port = Number(new URL(own.url).port);
    const next = await startEdge({ runtime, port, allowPrivate: true, accessKey: own.accessKey, ...options });
    closers.push(() => next.close());
    await phone.connect();
    return next;
  }

  it("runs requests once that an edge had begun when it lost its memory, before the phone heard anything", async () => {
    const stateDirectory = await mkdtemp(join(tmpdir(), "ropeway-resume-"));
    closers.push(() => rm(stateDirectory, { recursive: true, force: true }));
    const own = await startEdge({ runtime, port: 0, allowPrivate: true, stateDirectory });
    let requests = 0;
    const origin = await originOf((_, response) => {
      requests++;
      if (requests > 2) response.end("new");
    });
    const phone = new TestPhone(own.url, await pairPhone(own.url, own.accessKey), { road });
    phone.isDeaf = true;
    await phone.connect();
    const post = (id: string | null) =>
      phone.fetch(origin, {
        method: "POST",
        body: "pay",
        ...(id === null ? {} : { delivery: { id, isRepeat: false, continuation: null } }),
      });
    const [unnamed, named] = [post(null), post("AAAAAAAAAAA")];
    await until(() => requests === 2);
    phone.isDeaf = false;
    await restart(own, phone, { stateDirectory });
    closers.push(() => phone.close());
    await expect(unnamed).rejects.toMatchObject({ code: ErrorCode.OUTCOME_UNKNOWN });
    await expect(named).rejects.toMatchObject({ code: ErrorCode.ALREADY_SENT });
    // What is not in the log was not sent.
    expect((await post("BBBBBBBBBBB")).text).toBe("new");
    await expect(post("BBBBBBBBBBB")).rejects.toMatchObject({ code: ErrorCode.ALREADY_SENT });
    expect([requests, phone.ended]).toEqual([3, null]);
  });

  it("tells a phone whose session the edge has lost", async () => {
    const own = await startEdge({ runtime, port: 0, allowPrivate: true });
    const ownToken = await pairPhone(own.url, own.accessKey);
    const origin = await originOf((_, response) => response.end("hello"));
    const phone = new TestPhone(own.url, ownToken, { road });
    await phone.connect();
    await phone.fetch(origin);
    const next = await restart(own, phone);
    await until(() => phone.ended !== null);
    expect(phone.ended).toMatchObject({ code: ErrorCode.LINK_LOST, initiator: "peer" });
    // The token outlives the session.
    const fresh = new TestPhone(next.url, ownToken, { road });
    await fresh.connect();
    closers.push(() => fresh.close());
    expect((await fresh.fetch(origin)).text).toBe("hello");
  });
});
