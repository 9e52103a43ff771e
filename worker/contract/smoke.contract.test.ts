/** What `npm run smoke` finds: nothing at an edge as it should be, and each fault of what stands in front of it. */
import { setDefaultCACertificates } from "node:tls";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ProxyFault, startFaultyProxy } from "../../e2e/fixtures/faulty-proxy.ts";
import { testCertificate } from "../../e2e/fixtures/test-certificate.ts";
import { type RunningEdge, startEdge } from "../../scripts/edge-process.ts";
import { newAccessKey } from "../../scripts/local-edge/access-key.ts";
import { CHECK_NAMES, type CheckName, type SmokeSettings } from "../../scripts/smoke/check.ts";
import { type Outcome, runChecks } from "../../scripts/smoke/run-checks.ts";
import { VERSION } from "../../shared/version.ts";
import { startLocalOrigin } from "../upstream/testing/local-origin.ts";

const BASE = "ropeway.localhost";
const HERE = testCertificate("localhost");
const BASE_CERTIFICATE = testCertificate(BASE);
const accessKey = newAccessKey();
const edges: RunningEdge[] = [];
const closers: (() => unknown)[] = [];
let page: string;

beforeAll(async () => {
  setDefaultCACertificates([HERE.cert, BASE_CERTIFICATE.cert]);
  const origin = await startLocalOrigin(({ url }, response) => {
    response.setHeader("content-type", url === "/" ? "text/html" : "image/png");
    response.end(url === "/" ? '<!doctype html><img src="/a.png"><img src="/b.png">' : "GIF89a");
  });
  closers.push(origin.close);
  page = `${origin.origin}/`;
  for (const runtime of ["workerd", "deno"] as const) {
    const edge = await startEdge({ runtime, port: 0, allowPrivate: true, accessKey });
    closers.push(() => edge.close());
    edges.push(edge);
  }
});
afterAll(() => Promise.all(closers.map((close) => close())));

/** @returns each outcome, and what is said to stay on the edge. */
async function smoke(origin: string, settings: Partial<SmokeSettings> = {}): Promise<[Outcome[], string]> {
  const outcomes: Outcome[] = [];
  const patience = { restTime: 1_000, streamPatience: 2_000 };
  const left = await runChecks({ origin, accessKey, page, ...patience, ...settings }, (each) => outcomes.push(each));
  expect(outcomes.map(({ name }) => name)).toEqual(CHECK_NAMES);
  return [outcomes, left];
}

const failed = (outcomes: readonly Outcome[]) => outcomes.filter((outcome) => outcome.type === "failed");

const portOf = (edge: RunningEdge | undefined): number => Number(new URL(edge?.url ?? "").port);

async function smokeThrough(fault: ProxyFault, settings: Partial<SmokeSettings> = {}): Promise<Outcome[]> {
  const proxy = await startFaultyProxy(portOf(edges[0]), fault);
  closers.push(() => proxy.close());
  const scheme = fault.certificates === undefined ? "http" : "https";
  return (await smoke(`${scheme}://${BASE}:${proxy.port}`, settings))[0];
}

describe("a smoke test", () => {
  it.each(["workerd", "deno"])("finds no fault at an edge on %s, and leaves nothing there", async (runtime) => {
    const [outcomes, left] = await smoke(edges[runtime === "deno" ? 1 : 0]?.url ?? "");
    expect(outcomes.filter(({ type }) => type !== "passed")).toEqual([]);
    expect(left).toBe("nothing");
  });

  it("finds no fault through a proxy that does all right", async () => {
    expect(failed(await smokeThrough({}))).toEqual([]);
  });

  it.each(["workerd", "deno"] as const)(
    "finds no fault at one host on %s, and says what that means",
    async (runtime) => {
      const edge = await startEdge({ runtime, port: 0, allowPrivate: true, accessKey, host: "" });
      closers.push(() => edge.close());
      const [outcomes] = await smoke(edge.url);
      expect(failed(outcomes)).toEqual([]);
      const hosts = outcomes.find(({ name }) => name === "hosts of sites");
      expect(hosts).toMatchObject({ detail: expect.stringContaining("scripts off") });
    },
  );

  it.each(["workerd", "deno"] as const)("finds no fault at a list of hosts on %s", async (runtime) => {
    const slotHosts = "s[1-3].ropeway.localhost";
    const edge = await startEdge({ runtime, port: 0, allowPrivate: true, accessKey, slotHosts });
    closers.push(() => edge.close());
    const [outcomes] = await smoke(edge.url);
    expect(failed(outcomes)).toEqual([]);
    expect(outcomes.find(({ name }) => name === "hosts of sites")).toMatchObject({
      detail: expect.stringMatching(/^3, from s1\./),
    });
  });

  it("says that nobody answers", async () => {
    const [outcomes] = await smoke("http://127.0.0.1:9");
    expect(failed(outcomes)).toMatchObject([
      { name: "address", mend: expect.stringContaining("whether the edge runs") },
    ]);
    expect(outcomes.filter(({ type }) => type === "not tried")).toHaveLength(19);
  });
});

interface FaultCase {
  readonly fault: ProxyFault;
  readonly settings?: Partial<SmokeSettings>;
  /** Where it shows. */
  readonly at: CheckName;
  /** What the person reads. */
  readonly says: RegExp;
}

const FAULTS: Readonly<Record<string, FaultCase>> = {
  "a certificate that nobody trusts": {
    fault: { certificates: [["", testCertificate(BASE)]] },
    at: "certificate",
    says: /No browser trusts .* public authority/,
  },
  "a certificate of another name": {
    fault: { certificates: [["", HERE]] },
    at: "certificate",
    says: /for other names: localhost/,
  },
  "a certificate without the wildcard": {
    fault: {
      certificates: [
        ["localhost", HERE],
        [BASE, BASE_CERTIFICATE],
      ],
    },
    at: "hosts of sites",
    says: /not for the hosts of sites.*certificate for \*\.ropeway\.localhost/,
  },
  "no upgrade": { fault: { refusesUpgrade: true }, at: "websocket", says: /answered by 400.*Upgrade and Connection/ },
  "no subprotocol": {
    fault: { withoutFields: ["sec-websocket-protocol"] },
    at: "websocket",
    says: /does not name its protocol/,
  },
  "a stripped policy": {
    fault: { withoutFields: ["content-security-policy"] },
    at: "headers",
    says: /without content-security-policy/,
  },
  "a stripped scope": {
    fault: { withoutFields: ["service-worker-allowed"] },
    at: "service workers",
    says: /service-worker-allowed/,
  },
  "cached answers": { fault: { caches: true }, at: "own answers", says: /cache in front .* keeps answers/ },
  "answers held back": { fault: { buffers: true }, at: "fetch road", says: /holds answers back.*buffering/ },
  "another version": {
    fault: { replaceInJson: [VERSION, "0.0.9"] },
    at: "health",
    says: /The edge is version 0\.0\.9 .*Deploy again/,
  },
  "another Host": { fault: { requestFields: { host: BASE } }, at: "hosts of sites", says: /asked for at .*Host field/ },
  "short header fields only": { fault: { headerLimit: 2_048 }, at: "first message", says: /long handshake.*4 KiB/ },
  "idle sockets ended": { fault: { idleTime: 300 }, at: "rest", says: /ended afterwards.*idle WebSockets/ },
  "another access key": { fault: {}, settings: { accessKey: newAccessKey() }, at: "pairing", says: /No phone can be/ },
};

describe("a smoke test finds", () => {
  it.concurrent.each(Object.entries(FAULTS))("%s", async (_, { fault, settings, at, says }) => {
    const faults = failed(await smokeThrough(fault, settings));
    const found = faults.find(({ name }) => name === at);
    expect(`${found?.what} ${found?.mend}`).toMatch(says);
  });

  it("an edge that does not know the phones of its neighbour", async () => {
    const outcomes = await smokeThrough({ otherEdge: portOf(edges[1]) });
    expect(failed(outcomes)).toMatchObject([{ name: "resume", mend: expect.stringContaining("the same edge") }]);
  });
});
