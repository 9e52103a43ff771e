import type { IncomingMessage, ServerResponse } from "node:http";
import { afterAll, beforeAll, expect } from "vitest";
import { type EdgeOptions, type RunningEdge, startEdge } from "../../scripts/edge-process.ts";
import { startLocalOrigin } from "../upstream/testing/local-origin.ts";
import { pairPhone, type Road, TestPhone } from "./test-phone.ts";

export type OriginListener = (request: IncomingMessage, response: ServerResponse) => void;

/** An edge for all tests of a `describe`, with a token of it. Its phones and origins end with it. */
export function edgeOfTests(runtime: EdgeOptions["runtime"], options: Partial<EdgeOptions> = {}) {
  const log: string[] = [];
  const closers: (() => unknown)[] = [];
  let edge: RunningEdge;
  let token: string;

  beforeAll(async () => {
    edge = await startEdge({ runtime, port: 0, allowPrivate: true, ...options, log: (line) => log.push(line) });
    closers.push(() => edge.close());
    token = await pairPhone(edge.url, edge.accessKey);
  });
  afterAll(() => Promise.all(closers.map((close) => close())));

  return {
    get url(): string {
      return edge.url;
    },
    get accessKey(): string {
      return edge.accessKey;
    },
    get token(): string {
      return token;
    },
    /** What it has logged, by line. */
    log: log as readonly string[],

    async connectedPhone(road: Road): Promise<TestPhone> {
      const connected = new TestPhone(edge.url, token, { road });
      await connected.connect();
      closers.push(() => connected.close());
      return connected;
    },

    /** An origin of its own for each test. */
    async originOf(listener: OriginListener, ip?: string): Promise<string> {
      const { origin, close } = await startLocalOrigin(listener, ip === undefined ? {} : { ip });
      closers.push(close);
      return origin;
    },

    /** Neither its key nor its token is in what it has logged. */
    expectNoSecretTold(): void {
      expect(log.join("\n")).not.toContain(edge.accessKey);
      expect(log.join("\n")).not.toContain(token);
    },
  };
}
