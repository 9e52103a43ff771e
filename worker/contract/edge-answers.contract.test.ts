/**
 * Whatever an origin sends: all processes of a local edge go on, and so do other phones. ROPEWAY_FUZZ_SEED and
 * ROPEWAY_FUZZ_ANSWERS say which answers come and how many.
 */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it, onTestFailed } from "vitest";
import type { EdgeOptions } from "../../scripts/edge-process.ts";
import { type Child, startChild } from "../../scripts/local-edge/child.ts";
import { freePort } from "../../scripts/local-edge/free-port.ts";
import { ErrorCode, errorCodeName } from "../../shared/errors.ts";
import { HEALTH_PATH } from "../../shared/subprotocol.ts";
import { scriptFetch } from "../../shared/testing/http/request-heads.ts";
import { Random, runSeed } from "../../shared/testing/random.ts";
import { askEdge } from "../testing/contract.ts";
import type { TestRequest } from "../testing/phone-session.ts";
import { pairPhone, TestPhone } from "../testing/test-phone.ts";
import { type LocalOrigin, startLocalOrigin } from "../upstream/testing/local-origin.ts";
import { describeAnswer, type RawAnswer, type RawOrigin, rawAnswer, startRawOrigin } from "./raw-answers.ts";

const SERVE = fileURLToPath(new URL("../../scripts/serve.ts", import.meta.url));
const SEED = runSeed();
const ANSWERS = Number(process.env.ROPEWAY_FUZZ_ANSWERS ?? 240);
/** At once. */
const BATCH = 20;
/** Milliseconds that an answer whose connection stays open is waited for. */
const HELD_TIME = 200;

describe.each(["workerd", "deno"] as const)("an origin of an edge on %s", (runtime) => {
  let edge: WholeEdge;
  let raw: RawOrigin;
  let well: LocalOrigin;
  let phone: TestPhone;
  let bystander: TestPhone;

  beforeAll(async () => {
    raw = await startRawOrigin();
    well = await startLocalOrigin((_, response) => response.end("well"), { ip: "127.0.0.2" });
    edge = await startWholeEdge(runtime);
    [phone, bystander] = await Promise.all([connectedPhone(edge), connectedPhone(edge)]);
  });
  afterAll(async () => {
    for (const one of [phone, bystander]) one?.close();
    await Promise.all([edge?.close(), raw?.close(), well?.close()]);
  });

  async function attack(answers: readonly RawAnswer[]): Promise<string[]> {
    raw.answers = answers;
    return Promise.all(
      answers.map(async (answer, index) => {
        const url = `http://${index % 2 === 0 ? "127.0.0.1" : "app.localhost"}:${raw.port}`;
        const exchange = await phone.start(`${url}/${index}`, requestFor(answer, url));
        const outcome = exchange.response.then(
          ({ head }) => String(head.status),
          (error: { code: number; scope: string }) => `${errorCodeName(error.code)} of ${error.scope}`,
        );
        if (answer.ending !== "hold") return outcome;
        return Promise.race([outcome, sleep(HELD_TIME, "cancelled").finally(() => exchange.cancel())]);
      }),
    );
  }

  async function expectWell(): Promise<void> {
    expect((await askEdge(edge.url, HEALTH_PATH)).status).toBe(200);
    expect((await bystander.fetch(`${well.origin}/${crypto.randomUUID()}`)).text).toBe("well");
    expect([phone.ended, bystander.ended]).toEqual([null, null]);
    expect(await edge.missing()).toEqual([]);
    expect(edge.log.filter((line) => /uncaught|unhandled|panic|fatal|core dumped|out of memory/i.test(line))).toEqual(
      [],
    );
  }

  it.each([
    [
      "a name in UTF-8, after a length",
      "200 OK\r\nContent-Length: 2\r\nContent-Disposition: x; filename=\xe2\x98\x83\r\n\r\nok",
    ],
    [
      "a name in UTF-8, before a length",
      "200 OK\r\nContent-Disposition: x; filename=\xe2\x98\x83\r\nContent-Length: 2\r\n\r\nok",
    ],
    ["a status of 0", "000 Nothing\r\nContent-Length: 2\r\n\r\nok"],
    ["another protocol that nobody asked for", "101 Switching\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n"],
    ["early hints without end", "103 Early\r\n\r\nHTTP/1.1 ".repeat(20_000)],
  ])("sends %s, and nobody else notices", async (_, text) => {
    const pieces = [Buffer.from(`HTTP/1.1 ${text}`, "latin1")];
    await attack([0, 1].map(() => ({ method: "GET", pieces, ending: "end" })));
    await expectWell();
  });

  it(`sends ${ANSWERS} answers that nobody would, seed ${SEED}, and nobody else notices`, {
    timeout: 60_000 + ANSWERS * 200,
  }, async () => {
    const random = new Random(SEED);
    console.log(`answers to an edge on ${runtime}: ${ANSWERS}, ROPEWAY_FUZZ_SEED=${SEED}`);
    const outcomes: Record<string, number> = {};
    let [sent, batch]: [number, RawAnswer[]] = [0, []];
    onTestFailed(() => {
      console.log(`The last ${batch.length} of ${sent} answers:\n${batch.map(describeAnswer).join("\n")}`);
    });
    while (sent < ANSWERS) {
      batch = Array.from({ length: BATCH }, () => rawAnswer(random));
      sent += batch.length;
      for (const outcome of await attack(batch)) outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
      await expectWell();
    }
    console.log(`answers to an edge on ${runtime}: ${JSON.stringify(outcomes)}`);
    // The answer is at fault, not phone or edge; and some are good enough for what comes behind the head.
    const atFault = [ErrorCode.PROTOCOL_ERROR, ErrorCode.INTERNAL_ERROR].map(
      (code) => `${errorCodeName(code)} of stream`,
    );
    expect(
      Object.keys(outcomes).filter((outcome) => atFault.includes(outcome) || /of (?!stream)/.test(outcome)),
    ).toEqual([]);
    expect(outcomes["200"]).toBeGreaterThan(ANSWERS / 10);
  });
});

function requestFor({ method }: RawAnswer, origin: string): TestRequest {
  if (method === "GET") return {};
  return { ...scriptFetch(origin), method, ...(method === "POST" ? { body: "x".repeat(1000) } : {}) };
}

async function connectedPhone({ url, accessKey }: WholeEdge): Promise<TestPhone> {
  const phone = new TestPhone(url, await pairPhone(url, accessKey));
  await phone.connect();
  return phone;
}

interface WholeEdge {
  readonly url: string;
  readonly accessKey: string;
  readonly log: readonly string[];
  /** Processes that were there when it began, and are not any more. */
  missing(): Promise<number[]>;
  close(): Promise<void>;
}

/** As `npm start` runs it: not only the runtime, but also what stands around it. */
async function startWholeEdge(runtime: EdgeOptions["runtime"]): Promise<WholeEdge> {
  const state = await mkdtemp(join(tmpdir(), "ropeway-answers-"));
  const accessKey = "kept-to-itself-in-32-characters.";
  const [port, demoPort] = await Promise.all([freePort("127.0.0.1"), freePort("127.0.0.1")]);
  const { PATH, HOME, DENO_DIR } = process.env;
  const env = {
    PATH,
    HOME,
    DENO_DIR,
    ROPEWAY_ACCESS_KEY: accessKey,
    ROPEWAY_ALLOW_PRIVATE: "1",
    ROPEWAY_DEMO_PORT: String(demoPort),
    ROPEWAY_PORT: String(port),
    ROPEWAY_STATE: state,
  };
  const log: string[] = [];
  const ready = Promise.withResolvers<void>();
  const args = [SERVE, ...(runtime === "deno" ? ["--deno"] : [])];
  const child = await startChild(process.execPath, args, { env, stdio: ["ignore", "pipe", "pipe"] }, (line) => {
    log.push(line);
    if (line.startsWith("Ropeway is ready: ")) ready.resolve();
  });
  void child.exited.then((why) => ready.reject(new Error(why)));
  await ready.promise;
  const processes = await family(child.pid);
  return {
    // Few resolvers know the name that it prints.
    url: `http://localhost:${port}`,
    accessKey,
    log,
    async missing() {
      const left = new Set(await family(child.pid));
      return processes.filter((pid) => !left.has(pid));
    },
    close: () => end(child, state),
  };
}

async function end(child: Child, state: string): Promise<void> {
  // Not `stop`, which kills a process that has not yet ended its own.
  child.process.kill("SIGTERM");
  await child.exited;
  await rm(state, { recursive: true, force: true });
}

/** A process, if it runs, with all that it started. */
async function family(pid: number): Promise<number[]> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8").catch(() => null);
  if (children === null) return [];
  const families = await Promise.all(
    children
      .split(" ")
      .filter(Boolean)
      .map((child) => family(Number(child))),
  );
  return [pid, ...families.flat()];
}
