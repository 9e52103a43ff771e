/**
 * Applications as their packages have them, each in a process of its own, used once directly and once through the app: the
 * same text, and the same requests and messages at the application.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, request as requestOf, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, connect, createServer as createPlainServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { FrameLocator, Page } from "@playwright/test";
import { test as base, expect } from "../fixtures/browser.ts";
import type { NetworkRecord } from "../fixtures/network-record.ts";

export { expect } from "../fixtures/browser.ts";

/** How an application is started. */
export interface Program {
  /** Below this folder. */
  readonly script: string;
  /** A program that runs the script, below this folder; Node otherwise. */
  readonly runner?: string;
  readonly arguments?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** Files that are in its directory before it starts, by path. */
  readonly files?: Readonly<Record<string, string>>;
  /** Folders of packages that its directory gets a copy of, by path. */
  readonly copies?: Readonly<Record<string, string>>;
}

/** An application that runs, behind a watch that notes what comes to it. */
export interface Application {
  /** Where a browser finds it: `http://127.x.y.z:port`. */
  readonly origin: string;
  /** Its own, with all that it keeps; gone after the visit. */
  readonly directory: string;
  readonly requests: readonly SeenRequest[];
  /** Messages of pages to it, on all its sockets. */
  readonly messages: readonly string[];
}

export interface SeenRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  /** Names and values in turn. */
  readonly fields: readonly string[];
  /** As UTF-8. */
  body: string;
  readonly upgrade: boolean;
}

/** A place for a program: where it has to listen, and how others reach it. */
export interface Place {
  /** On 127.0.0.1. */
  readonly port: number;
  readonly origin: string;
  readonly directory: string;
}

/** One use of an application by a person. */
export interface Visit {
  readonly page: Page;
  /** The page shown, for locators. */
  readonly shown: Page | FrameLocator;
  /** Opens an address, and waits for its page. */
  goto(url: string): Promise<void>;
  /** Does something that opens a window. @returns the page in that. */
  opened(action: () => Promise<void>): Promise<Page | FrameLocator>;
  /** Starts an application of this visit's own. */
  start(program: (place: Place) => Program): Promise<Application>;
  /** Where an application of this visit will be that is started later. */
  reserve(): Promise<Reserved>;
}

export interface Reserved {
  readonly origin: string;
  start(program: (place: Place) => Program): Promise<Application>;
}

/** Milliseconds; a process that is left over ends by itself after them. */
const PROCESS_LIFE = 600_000;
const START_TIME = 180_000;

interface Fixtures {
  /** Does the same directly and through the app, and expects the same to come of it. */
  bothWays: (use: (visit: Visit) => Promise<unknown>) => Promise<void>;
}

export const test = base.extend<Fixtures>({
  bothWays: async ({ app, direct, network }, use, { workerIndex }) => {
    const ends: (() => Promise<void>)[] = [];
    let watches: Watch[] = [];
    let names = new Map<string, string>();
    const visitOf = (open: Pick<Visit, "page" | "shown" | "goto" | "opened">): Visit => {
      names = new Map();
      watches = [];
      const reserve = async (): Promise<Reserved> => {
        const reserved = await reserveOrigin(workerIndex, ends, watches);
        names.set(new URL(reserved.origin).host, `application-${names.size + 1}`);
        return reserved;
      };
      return { ...open, reserve, start: async (program) => (await reserve()).start(program) };
    };
    const ended = async (): Promise<void> => {
      for (const end of ends.splice(0).reverse()) await end();
    };
    await use(async (visit) => {
      const { page } = direct;
      const goto = async (url: string): Promise<void> => void (await page.goto(url));
      const opened = async (action: () => Promise<void>) => {
        const [popup] = await Promise.all([page.waitForEvent("popup"), action()]);
        return popup;
      };
      const wanted = withNames(await visit(visitOf({ page, shown: page, goto, opened })), names);
      await ended();
      const inApp = async (action: () => Promise<void>) => {
        await action();
        await expect(app.page.getByText(/^Window of/)).toBeVisible();
        return app.frame();
      };
      const through = visitOf({ page: app.page, shown: app.frame(), goto: (url) => app.goto(url), opened: inApp });
      expect(withNames(await visit(through), names)).toEqual(wanted);
      expect(watches.flatMap((watch) => telling(watch, slotsOf(network, new URL(app.base).hostname)))).toEqual([]);
    });
    await ended();
  },
});

/** Labels of the hosts that the app's pages were on. */
function slotsOf({ requests }: NetworkRecord, base: string): string[] {
  const hosts = requests.map(({ url }) => new URL(url).hostname).filter((host) => host.endsWith(`.${base}`));
  expect(hosts).not.toEqual([]);
  return [...new Set(hosts.map((host) => host.slice(0, -base.length - 1)))];
}

/** What came to an application that names a slot, or the app. */
function telling({ requests, messages }: Watch, slots: readonly string[]): string[] {
  expect(requests).not.toEqual([]);
  const said = requests.map(({ method, path, fields, body }) => [method, path, ...fields, body].join("\n"));
  return [...said, ...messages].filter((text) => [...slots, "ropeway"].some((name) => text.includes(name)));
}

/** The same with a name in place of each address, which is another at each visit. */
function withNames(found: unknown, names: ReadonlyMap<string, string>): unknown {
  let text = JSON.stringify(found);
  for (const [host, name] of names) text = text.replaceAll(host, name).replaceAll(encodeURIComponent(host), name);
  return JSON.parse(text);
}

/** Addresses that a worker's applications have had: none has two, so that nothing is left of one's site at another. */
let addresses = 0;

async function reserveOrigin(worker: number, ends: (() => Promise<void>)[], watches: Watch[]): Promise<Reserved> {
  const host = ++addresses;
  const port = await freePort();
  const watch = await startWatch(`127.252.${worker % 250}.${host}`, port);
  ends.push(watch.close);
  watches.push(watch);
  const start: Reserved["start"] = async (program) => {
    const directory = await mkdtemp(join(tmpdir(), "application-"));
    ends.push(() => rm(directory, { recursive: true, force: true, maxRetries: 5 }));
    const child = await startProcess(program({ port, origin: watch.origin, directory }), directory);
    ends.push(() => stopped(child.process));
    await listening(port, child);
    return { origin: watch.origin, directory, requests: watch.requests, messages: watch.messages };
  };
  return { origin: watch.origin, start };
}

interface Child {
  readonly process: ChildProcess;
  /** All that it has said. */
  said: string;
}

async function startProcess(program: Program, directory: string): Promise<Child> {
  const folder = import.meta.dirname;
  for (const [path, text] of Object.entries(program.files ?? {})) {
    await mkdir(dirname(join(directory, path)), { recursive: true });
    await writeFile(join(directory, path), text);
  }
  for (const [path, from] of Object.entries(program.copies ?? {}))
    await cp(join(folder, from), join(directory, path), { recursive: true });
  const runner = program.runner === undefined ? process.execPath : join(folder, program.runner);
  const process_ = spawn(runner, [join(folder, program.script), ...(program.arguments ?? [])], {
    cwd: directory,
    // What it starts itself ends with it.
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: process.env.PATH, LANG: "C.UTF-8", HOME: directory, ...program.environment },
  });
  const child: Child = { process: process_, said: "" };
  for (const stream of [process_.stdout, process_.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => (child.said += text));
  const life = setTimeout(() => killGroup(process_), PROCESS_LIFE);
  process_.once("exit", () => clearTimeout(life));
  return child;
}

function killGroup({ pid, exitCode, signalCode }: ChildProcess): void {
  if (pid !== undefined && exitCode === null && signalCode === null) process.kill(-pid, "SIGKILL");
}

async function stopped(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = new Promise((resolve) => child.once("exit", resolve));
  killGroup(child);
  await exited;
}

async function listening(port: number, child: Child): Promise<void> {
  const end = Date.now() + START_TIME;
  while (!(await takesConnections(port))) {
    if (child.process.exitCode !== null || Date.now() > end)
      throw new Error(`Cannot start the application: it does not listen; it said\n${child.said}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

function takesConnections(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => resolve(true));
    socket.once("connect", () => socket.destroy()).once("error", () => resolve(false));
  });
}

export async function freePort(): Promise<number> {
  const server = createPlainServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

interface Watch {
  readonly origin: string;
  readonly requests: SeenRequest[];
  readonly messages: string[];
  readonly close: () => Promise<void>;
}

/** Passes on what comes to this address, and notes it. Socket messages are seen as no extension is let through. */
async function startWatch(host: string, port: number): Promise<Watch> {
  const requests: SeenRequest[] = [];
  const messages: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => passOn(request, response, port, requests));
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).once("close", () => sockets.delete(socket));
  });
  server.on("upgrade", (request: IncomingMessage, socket: Socket, head: Buffer) => {
    const { url: path = "", rawHeaders: fields } = request;
    requests.push({ method: "GET", path, fields, body: "", upgrade: true });
    const upstream = connect(port, "127.0.0.1");
    upstream.on("error", () => socket.destroy()).once("close", () => socket.destroy());
    socket.once("close", () => upstream.destroy());
    upstream.write(upgradeHead(request));
    if (head.length > 0) upstream.write(head);
    const read = messageReader((message) => messages.push(message));
    read(head);
    socket.on("data", read).pipe(upstream).pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const origin = `http://${host}:${(server.address() as AddressInfo).port}`;
  return { origin, requests, messages, close: () => closed(server, sockets) };
}

function closed(server: Server, sockets: ReadonlySet<Socket>): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    for (const socket of sockets) socket.destroy();
  });
}

function passOn(request: IncomingMessage, response: ServerResponse, port: number, requests: SeenRequest[]): void {
  const { method = "", url: path = "", rawHeaders: headers } = request;
  const seen: SeenRequest = { method, path, fields: headers, body: "", upgrade: false };
  requests.push(seen);
  const body: Buffer[] = [];
  request.on("data", (bytes: Buffer) => body.push(bytes));
  request.on("end", () => {
    seen.body = Buffer.concat(body).toString();
  });
  const upstream = requestOf({ host: "127.0.0.1", port, method, path, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.statusMessage, answer.rawHeaders);
    answer.on("error", () => response.destroy()).pipe(response);
  });
  upstream.on("error", () => response.destroy());
  response.once("close", () => upstream.destroy());
  request.pipe(upstream);
}

function upgradeHead({ url = "", rawHeaders }: IncomingMessage): string {
  const lines = [`GET ${url} HTTP/1.1`];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? "";
    if (name.toLowerCase() !== "sec-websocket-extensions") lines.push(`${name}: ${rawHeaders[index + 1]}`);
  }
  return `${lines.join("\r\n")}\r\n\r\n`;
}

/** Reads a browser's side of a WebSocket, whose frames have masks. */
function messageReader(onMessage: (message: string) => void): (bytes: Buffer) => void {
  let rest = Buffer.alloc(0);
  let message: Buffer[] = [];
  return (bytes) => {
    rest = Buffer.concat([rest, bytes]);
    for (let frame = readFrame(rest); frame !== undefined; frame = readFrame(rest)) {
      rest = rest.subarray(frame.length);
      if (frame.opcode >= 8) continue;
      message.push(frame.payload);
      if (!frame.final) continue;
      onMessage(Buffer.concat(message).toString());
      message = [];
    }
  };
}

interface SocketFrame {
  readonly length: number;
  readonly opcode: number;
  readonly final: boolean;
  readonly payload: Buffer;
}

function readFrame(bytes: Buffer): SocketFrame | undefined {
  if (bytes.length < 6) return undefined;
  const [first = 0, second = 0] = bytes;
  const short = second & 127;
  const start = short === 126 ? 4 : short === 127 ? 10 : 2;
  if (bytes.length < start + 4) return undefined;
  const size = short === 126 ? bytes.readUInt16BE(2) : short === 127 ? Number(bytes.readBigUInt64BE(2)) : short;
  const length = start + 4 + size;
  if (bytes.length < length) return undefined;
  const mask = bytes.subarray(start, start + 4);
  const payload = Buffer.from(bytes.subarray(start + 4, length).map((byte, index) => byte ^ (mask[index & 3] ?? 0)));
  return { length, opcode: first & 15, final: first >= 128, payload };
}

/** What a use of an application did to it. */
export interface Effects {
  /** Requests that change something, in order. */
  readonly writes: readonly string[];
  /** Paths that were read, each once. */
  readonly reads: readonly string[];
  readonly upgrades: readonly string[];
  readonly messages: readonly string[];
}

/** @param plain takes out of paths, bodies and messages what is another each time; "" leaves that one out. */
export function effectsOf(application: Application, plain: (text: string) => string = (text) => text): Effects {
  const clean = (text: string): string => plain(text).replaceAll(/----WebKitFormBoundary\w+/g, "<boundary>");
  const isRead = ({ method, upgrade }: SeenRequest): boolean => /^(GET|HEAD)$/.test(method) && !upgrade;
  const pathsOf = (requests: readonly SeenRequest[]): string[] =>
    [...new Set(requests.map(({ path }) => clean(path)))]
      .filter((path) => path !== "" && path !== "/favicon.ico")
      .sort();
  return {
    writes: application.requests
      .filter((request) => !isRead(request) && !request.upgrade)
      .map(({ method, path, body }) => clean(`${method} ${path} ${body}`))
      .filter((text) => text !== ""),
    reads: pathsOf(application.requests.filter(isRead)),
    upgrades: pathsOf(application.requests.filter(({ upgrade }) => upgrade)),
    messages: application.messages.map(clean).filter((text) => text !== ""),
  };
}
