/**
 * `npm run test:wpt -- CHECKOUT`: runs tests of web-platform-tests in Chromium, directly and through the app, and prints what
 * passes directly and is lost in the app, by directory. None of them is part of this project; of the checkout only its own
 * list of tests (`MANIFEST.json`) is brought up to date.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { appendFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { parseArgs, promisify } from "node:util";
import { type Browser, type BrowserContext, chromium, type Frame, type Page } from "@playwright/test";
import { COMMANDS, readArguments } from "../../scripts/command-line.mjs";
import { startEdge } from "../../scripts/edge-process.ts";
import { freePort } from "../../scripts/local-edge/free-port.ts";
import { seededRandom } from "../demo/random.ts";
import { AppPage } from "../fixtures/app-page.ts";
import { CHROMIUM_ARGS, findHeadlessChromium } from "../fixtures/chromium.ts";
import { testCertificate } from "../fixtures/test-certificate.ts";

/** A name below localhost: browser and edge both find it on this machine. */
const HOST = "wpt.localhost";
const OTHER_HOST = `not-${HOST}`;
/** Names below each of the two that the tests use; the server makes up nothing else. */
const LABELS = ["", "www.", "www1.", "www2.", "xn--n8j6ds53lwwkrqhv28a.", "xn--lve-6lad."];
/** Milliseconds until a page has its harness, on a machine that has much else to do. */
const START_TIME = 40_000;
/** Milliseconds from then: a little more than the harness itself takes. */
const [TEST_TIME, LONG_TEST_TIME] = [12_000, 62_000];
/** Tests that one profile of a browser sees. */
const TESTS_PER_PROFILE = 50;

/** Directories, and how many files of each are wanted where not all are. */
const DIRECTORIES: Readonly<Record<string, number>> = {
  websockets: Number.POSITIVE_INFINITY,
  cookies: Number.POSITIVE_INFINITY,
  "fetch/api": Number.POSITIVE_INFINITY,
  xhr: Number.POSITIVE_INFINITY,
  eventsource: Number.POSITIVE_INFINITY,
  "html/browsers/browsing-the-web": 60,
  "html/semantics/embedded-content/the-iframe-element": Number.POSITIVE_INFINITY,
  "html/semantics/forms/form-submission-0": Number.POSITIVE_INFINITY,
  webmessaging: Number.POSITIVE_INFINITY,
  "fetch/metadata": Number.POSITIVE_INFINITY,
  "content-security-policy": 150,
  "FileAPI/url": Number.POSITIVE_INFINITY,
  workers: Number.POSITIVE_INFINITY,
  "html/semantics/scripting-1/the-script-element/module": Number.POSITIVE_INFINITY,
  url: Number.POSITIVE_INFINITY,
  "referrer-policy": 100,
};

const { values, positionals } = readArguments("test:wpt", () =>
  parseArgs({ options: COMMANDS["test:wpt"].options, allowPositionals: true }),
);

interface PlatformTest {
  readonly directory: string;
  /** With a slash in front. */
  readonly path: string;
  readonly isLong: boolean;
}

interface Subtest {
  readonly name: string;
  readonly status: number;
  readonly message: string | null;
}

/** Of the harness's statuses. */
const PASSED = 0;

/** Runs in every document before its scripts: once there is a harness, hands all that it says to `wptReport`. */
function reportResults(): void {
  type Add = (callback: (result: never) => void) => void;
  const { pathname, search } = location;
  const tests: Subtest[] = [];
  const report = (isWhole: boolean): void =>
    (window as unknown as { wptReport(json: string): void }).wptReport(
      JSON.stringify({ path: pathname + search, isWhole, tests }),
    );
  const note = ({ name, status, message }: Subtest): void => {
    tests.push({ name, status, message: message && String(message).slice(0, 300) });
    if (tests.length % 20 === 0 || tests.length < 20) report(false);
  };
  for (const [name, listener] of [
    ["add_result_callback", note],
    ["add_completion_callback", () => report(true)],
  ] as const) {
    let own: Add | undefined;
    Object.defineProperty(window, name, {
      configurable: true,
      get: () => own,
      set(add: Add) {
        own = add;
        // Behind the harness's script, the end of which makes what this needs.
        queueMicrotask(() => add(listener));
        report(false);
      },
    });
  }
}

/** One way to visit pages. */
interface Visitor {
  open(page: Page): Promise<(url: string) => Promise<void>>;
  /** Whether a frame is that of the page that was asked for. */
  shows(frame: Frame, page: Page): boolean;
}

const directly: Visitor = {
  open: async (page) => async (url) => {
    await page.goto(url, { waitUntil: "commit" });
  },
  shows: (frame, page) => frame === page.mainFrame(),
};

const throughApp = (edge: { readonly url: string; readonly accessKey: string }): Visitor => ({
  async open(page) {
    const app = new AppPage(page, edge.url);
    // The browser that visits directly blocks none either.
    await page.addInitScript(
      allowWindows,
      [HOST, OTHER_HOST].flatMap((host) => LABELS.map((label) => label + host)),
    );
    await app.open(edge.accessKey);
    await app.sparesReady();
    return (url) => app.ask(url);
  },
  shows: (frame, page) => frame.parentFrame() === page.mainFrame(),
});

/** Runs in every document before its scripts: the person has let these sites open windows, to the app's knowledge. */
function allowWindows(sites: readonly string[]): void {
  if (window !== window.top) return;
  const stored = JSON.parse(localStorage.getItem("ropeway.settings") ?? "{}");
  localStorage.setItem(
    "ropeway.settings",
    JSON.stringify({ ...stored, windowOpeners: sites.map((site) => site.replace(/^www\./, "")) }),
  );
}

interface Outcome {
  readonly subtests: readonly Subtest[];
  /** Whether it has opened further windows. */
  readonly opensWindows: boolean;
}

/** A profile of the browser, and another when that has seen enough. */
class Lane {
  readonly #browser: Browser;
  readonly #visitor: Visitor;
  #context: BrowserContext | null = null;
  #page!: Page;
  #go!: (url: string) => Promise<void>;
  #used = 0;
  #opensWindows = false;
  #onReport: (frame: Frame, json: string) => void = () => {};

  constructor(browser: Browser, visitor: Visitor) {
    this.#browser = browser;
    this.#visitor = visitor;
  }

  /** What has ended in time counts, also of a test that has not. */
  async run(base: string, { path, isLong }: PlatformTest): Promise<Outcome> {
    let subtests: readonly Subtest[] = [];
    this.#opensWindows = false;
    try {
      if (this.#context === null) await this.#open();
      const started = Promise.withResolvers<boolean>();
      const ended = Promise.withResolvers<boolean>();
      const [wanted] = path.split("#");
      this.#onReport = (frame, json) => {
        if (!this.#visitor.shows(frame, this.#page)) return;
        const report = JSON.parse(json) as { path: string; isWhole: boolean; tests: readonly Subtest[] };
        if (report.path !== wanted) return;
        subtests = report.tests;
        started.resolve(true);
        if (report.isWhole) ended.resolve(true);
      };
      await this.#go(base + path);
      const isOver =
        (await within(START_TIME, started.promise)) &&
        (await within(isLong ? LONG_TEST_TIME : TEST_TIME, ended.promise));
      this.#onReport = () => {};
      if (!isOver || ++this.#used >= TESTS_PER_PROFILE) await this.close();
      else for (const page of this.#context?.pages() ?? []) if (page !== this.#page) await page.close();
    } catch {
      await this.close();
    }
    return { subtests, opensWindows: this.#opensWindows };
  }

  async close(): Promise<void> {
    const context = this.#context;
    this.#context = null;
    this.#used = 0;
    await context?.close().catch(() => {});
  }

  async #open(): Promise<void> {
    this.#context = await this.#browser.newContext({ ignoreHTTPSErrors: true, viewport: { width: 800, height: 660 } });
    await this.#context.exposeBinding("wptReport", ({ frame }, json: string) => this.#onReport(frame, json));
    await this.#context.addInitScript(reportResults);
    this.#page = await this.#context.newPage();
    this.#context.on("page", () => {
      this.#opensWindows = true;
    });
    this.#page.on("dialog", (dialog) => void dialog.accept().catch(() => {}));
    this.#go = await this.#visitor.open(this.#page);
  }
}

const within = (time: number, promise: Promise<boolean>): Promise<boolean> =>
  Promise.race([promise, sleep(time, false, { ref: false })]);

interface PlatformServer {
  /** Origins, in clear and by TLS. */
  readonly clear: string;
  readonly secure: string;
  close(): void;
}

/** The suite's own server. */
async function startServer(files: string, directory: string): Promise<PlatformServer> {
  const ports = await Promise.all(Array.from({ length: 6 }, () => freePort("127.0.0.1")));
  const [http, http2, https, https2, ws, wss] = ports;
  const authority = testCertificate("authority.test");
  const names = [HOST, OTHER_HOST].flatMap((host) => LABELS.map((label) => label + host));
  const { key, cert } = testCertificate(names, authority);
  const write = async (name: string, text: string): Promise<string> => {
    await writeFile(join(directory, name), text);
    return join(directory, name);
  };
  // The edge runs in a process of its own, and what leads it to names below localhost in this one.
  process.env.NODE_EXTRA_CA_CERTS = await write("authority.pem", authority.cert);
  setDefaultCACertificates([...getCACertificates("default"), authority.cert]);
  const config = {
    browser_host: HOST,
    server_host: "127.0.0.1",
    alternate_hosts: { alt: OTHER_HOST },
    ports: { http: [http, http2], https: [https, https2], ws: [ws], wss: [wss] },
    check_subdomains: false,
    log_level: "warning",
    ssl: {
      type: "pregenerated",
      encrypt_after_connect: false,
      pregenerated: { host_key_path: await write("host.key", key), host_cert_path: await write("host.pem", cert) },
    },
  };
  const serving = ["./wpt", "serve", "--no-h2", "--config", await write("config.json", JSON.stringify(config))];
  const child: ChildProcess = spawn("python3", serving, { cwd: files, stdio: "ignore", detached: true });
  const close = (): void => {
    // It has processes of its own, one for each port.
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, "SIGTERM");
  };
  process.once("exit", close);
  for (const port of [http, https, ws, wss]) await listening(port ?? 0, child);
  return { clear: `http://${HOST}:${http}`, secure: `https://${HOST}:${https}`, close };
}

async function listening(port: number, child: ChildProcess): Promise<void> {
  for (;;) {
    if (child.exitCode !== null) throw new Error("Cannot run the tests: their server has ended");
    const isOpen = await new Promise((done) => {
      const socket = connect(port, "127.0.0.1", () => done(true)).once("error", () => done(false));
      socket.once("connect", () => socket.destroy());
    });
    if (isOpen) return;
    await sleep(200);
  }
}

type ManifestTest = readonly [url: string | null, { readonly timeout?: string }];
type ManifestNode = { readonly [name: string]: ManifestNode } | readonly [hash: string, ...ManifestTest[]];

/** Those that need no service worker and no HTTP/2, which the server here has not. */
async function listTests(files: string): Promise<PlatformTest[]> {
  await promisify(execFile)("python3", ["./wpt", "manifest", "--no-download"], { cwd: files });
  const { items } = JSON.parse(await readFile(join(files, "MANIFEST.json"), "utf8")) as {
    items: { testharness: ManifestNode };
  };
  const wanted = positionals.length > 1 ? positionals.slice(1) : Object.keys(DIRECTORIES);
  return wanted.flatMap((directory) => {
    const parts = directory.split("/");
    const inner = parts.reduce<ManifestNode>(
      (node, part) => (node as Readonly<Record<string, ManifestNode>>)[part] ?? {},
      items.testharness,
    );
    const byFile = new Map(
      [...testsBelow(inner, parts)]
        .map(([file, tests]) => [file, tests.filter(({ path }) => !/serviceworker|\.h2\./.test(path))] as const)
        .filter(([file, tests]) => tests.length > 0 && file.includes(values.match ?? "")),
    );
    const names = [...byFile.keys()].sort();
    const most = Math.min(DIRECTORIES[directory] ?? names.length, Number(values.sample ?? names.length));
    const random = seededRandom(1);
    while (names.length > most) names.splice(Math.floor(random() * names.length), 1);
    return names.flatMap((name) => (byFile.get(name) ?? []).map((test) => ({ ...test, directory })));
  });
}

function testsBelow(node: ManifestNode, path: readonly string[]): Map<string, Omit<PlatformTest, "directory">[]> {
  const file = path.join("/");
  if (Array.isArray(node)) {
    const tests = node.slice(1) as ManifestTest[];
    return new Map([
      [file, tests.map(([url, { timeout }]) => ({ path: `/${url ?? file}`, isLong: timeout === "long" }))],
    ]);
  }
  return new Map(
    Object.entries(node).flatMap(([name, child]) => [...testsBelow(child as ManifestNode, [...path, name])]),
  );
}

/** Names as they are for a person: the app's hosts, and ports, differ from run to run. */
const plain = (text: string): string =>
  text.replace(/\b(s[a-z0-9]{10}\.ropeway|(not-)?wpt)\.localhost(:\d+)?/g, "HOST");

const CAUSES = ["windows", "synchronous XHR", "other"] as const;

type Counts = { tests: number; direct: number } & Record<(typeof CAUSES)[number], number>;

interface Lost {
  readonly path: string;
  readonly name: string;
  readonly cause: (typeof CAUSES)[number];
  readonly message: string;
}

/** What passes directly, and is not to be had in the app. */
function compare({ path }: PlatformTest, direct: Outcome, app: Outcome): { passed: number; lost: Lost[] } {
  const kept = new Map(app.subtests.map(({ name, status, message }) => [plain(name), { status, message }]));
  const passed = direct.subtests.filter(({ status }) => status === PASSED).map(({ name }) => plain(name));
  const lost = passed
    .filter((name) => kept.get(name)?.status !== PASSED)
    .map((name): Lost => {
      const message = plain(kept.get(name)?.message ?? "no result");
      const isSynchronous = /XMLHttpRequest/.test(message) && /NetworkError|Failed to load|synchronous/.test(message);
      return {
        path,
        name,
        cause: direct.opensWindows ? "windows" : isSynchronous ? "synchronous XHR" : "other",
        message,
      };
    });
  return { passed: passed.length, lost };
}

function table(rows: ReadonlyMap<string, Counts>): string {
  const total: Counts = { tests: 0, direct: 0, windows: 0, "synchronous XHR": 0, other: 0 };
  for (const row of rows.values()) for (const key of Object.keys(total) as (keyof Counts)[]) total[key] += row[key];
  const lines = [...rows, ["all", total] as const].map(([name, row]) => {
    const lost = CAUSES.reduce((sum, cause) => sum + row[cause], 0);
    const share = ((100 * (row.direct - lost)) / Math.max(1, row.direct)).toFixed(1);
    return `| ${[name, row.tests, row.direct, lost, ...CAUSES.map((cause) => row[cause]), `${share} %`].join(" | ")} |`;
  });
  const heads = [
    "directory",
    "tests",
    "pass directly",
    "lost in the app",
    ...CAUSES.map((cause) => `of these ${cause}`),
    "kept",
  ];
  return [`| ${heads.join(" | ")} |`, `|${" --- |".repeat(heads.length)}`, ...lines].join("\n");
}

async function main(files: string): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "ropeway-wpt-"));
  const server = await startServer(files, directory);
  const edge = await startEdge({
    runtime: values.deno ? "deno" : "workerd",
    port: 0,
    allowPrivate: true,
    stateDirectory: join(directory, "state"),
  });
  const executablePath = findHeadlessChromium();
  const browser = await chromium.launch({
    ...(executablePath !== undefined && { executablePath }),
    args: CHROMIUM_ARGS,
  });
  const rows = new Map<string, Counts>();
  const queue = await listTests(files);
  for (const test of queue)
    rows.set(test.directory, { tests: 0, direct: 0, windows: 0, "synchronous XHR": 0, other: 0 });
  const end = Date.now() + Number(values.minutes ?? Number.POSITIVE_INFINITY) * 60_000;
  const work = async (): Promise<void> => {
    const lanes = [new Lane(browser, directly), new Lane(browser, throughApp(edge))] as const;
    for (let test = queue.shift(); test !== undefined && Date.now() < end; test = queue.shift()) {
      const base = /\.https[.-]/.test(test.path) ? server.secure : server.clear;
      const direct = await lanes[0].run(base, test);
      const app = await lanes[1].run(base, test);
      const { passed, lost } = compare(test, direct, app);
      const row = rows.get(test.directory) as Counts;
      row.tests += 1;
      row.direct += passed;
      for (const { cause } of lost) row[cause] += 1;
      const said = lost.map((each) => `${JSON.stringify(each)}\n`).join("");
      if (values.lost !== undefined) await appendFile(values.lost, said);
    }
    for (const lane of lanes) await lane.close();
  };
  try {
    await Promise.all(Array.from({ length: Number(values.lanes) }, work));
    console.log(table(rows));
  } finally {
    await browser.close();
    await edge.close();
    server.close();
    await rm(directory, { recursive: true, force: true });
  }
}

const [checkout] = positionals;
if (checkout === undefined) throw new Error("Cannot run the tests: say where a checkout of web-platform-tests is");
await main(resolve(checkout));
