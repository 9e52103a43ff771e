/**
 * Files that sites send to be kept: written on the phone as they come, so that they go on where they were after an outage,
 * and after the app was closed. Loaded with the first of them.
 *
 * Bytes are in the origin's private file system, by handles that write in place: those of workers, in Chromium, Firefox and
 * Safari alike. `createWritable` writes to a copy until its stream is closed, and the copy is lost with the app; chunks in
 * IndexedDB are written twice and read as one file no more. The record of each file is in a database, written after its bytes.
 */
import type { Clock } from "../../../shared/clock.ts";
import { ErrorCode, later, RopewayError } from "../../../shared/errors.ts";
import type { ClientExchange, ResponseConsumer } from "../../../shared/http/exchange.ts";
import { headerValue } from "../../../shared/http/head-fields.ts";
import type { HeaderList, RequestHead, ResponseHead } from "../../../shared/http/heads.ts";
import { decodeByteString } from "../../../shared/web/origin.ts";
import { DOWNLOADS_DIRECTORY, type Download, type DownloadQuestion } from "../../messages/tunnel-messages.ts";
import { committed, databaseOpener } from "../../platform/platform.ts";
import type { Ask } from "../exchange/exchange.ts";
import type { OfferedFile } from "../port/slot-port.ts";
import type { HeldResponse } from "./held-responses.ts";

/** The phone's record of a file. */
export interface DownloadRecord extends Omit<Download, "mayGoOn" | "isShown"> {
  /** By which it is asked for; null where that would send a form again. */
  readonly request: RequestHead | null;
  /** With which `bytes` have come; null before the first answer. */
  readonly response: ResponseHead | null;
}

/** A file that is open for writing, by nobody else. */
export interface FileSink {
  readonly size: number;
  /** @throws where there is no room. */
  write(chunk: Uint8Array, at: number): void;
  truncate(): void;
  flush(): void;
  close(): void;
}

/** The files and their records, on the phone. */
export interface DownloadFiles {
  records(): Promise<readonly DownloadRecord[]>;
  record(id: string): Promise<DownloadRecord | undefined>;
  put(record: DownloadRecord): Promise<void>;
  open(id: string): Promise<FileSink>;
  /** @throws where it is gone. */
  read(id: string): Promise<Blob>;
  /** The file and its record. */
  remove(id: string): Promise<void>;
  /** Bytes that the browser lets the app have still; null where it does not tell. */
  room(): Promise<number | null>;
}

export interface DownloadsHost {
  /** Asks the edge. */
  readonly ask: Ask;
  readonly isAway: () => boolean;
  /** A file has begun, or is over. */
  readonly tell: (download: Download) => void;
  readonly files: DownloadFiles;
  /** A file is one window's at a time. */
  readonly locks: Pick<LockManager, "request">;
  /** To the other windows, by a file's id: the window that writes that file pauses. */
  readonly channel: Pick<BroadcastChannel, "postMessage" | "onmessage">;
  /** Milliseconds since 1970. */
  readonly clock: Clock;
}

/** Bytes that are left for the app's other storage. */
export const RESERVE = 50_000_000;

/** Files in the list. */
const MOST_LISTED = 200;

/** Files of a site that wait for the person to say whether they are wanted. The oldest goes for one more: a page could ask for ever. */
const MOST_ASKED = 5;

/** Bytes, and milliseconds, after which what has come is on the disk for sure. */
const FLUSH_STEP = 4_000_000;
const FLUSH_TIME = 5_000;

/** Milliseconds before a file is asked for again that a site has cut off; doubled each time that nothing came. */
const RETRY_DELAY = 1_000;
const MOST_FAILURES = 5;

/** Times that a file begins anew by itself in one run: it costs as many bytes as before. */
const MOST_ANEW = 1;

/** Statuses of the answer to a request for the rest where the file is another now (RFC 9110 sections 13.1.5, 15.5.13, 15.5.17). */
const SAYING_CHANGED: readonly number[] = [200, 206, 412, 416];

/** Statuses of a trouble that may pass: what has come stays. */
const PASSING = /^(?:408|425|429|5..)$/;

const LOCK = "ropeway.download ";

/** All files of the phone, as far as this window writes or lists them. */
export class Downloads {
  readonly #host: DownloadsHost;
  readonly #running = new Map<string, RunningDownload>();
  /** Responses to files that the person is asked about. */
  readonly #offered = new Map<string, HeldResponse>();
  /** One after the other, however many come at once: each counts those before it. */
  #taken: Promise<void> = Promise.resolve();

  constructor(host: DownloadsHost) {
    this.#host = host;
    host.channel.onmessage = ({ data }: MessageEvent<unknown>) => this.#running.get(String(data))?.pause();
  }

  /** A page's file. Nothing is written before the shell has ordered "resume". */
  take(file: OfferedFile): Promise<void> {
    const taken = this.#taken.then(() => this.#take(file));
    this.#taken = taken.catch(() => {});
    return taken;
  }

  async #take({ response, request, name }: OfferedFile): Promise<void> {
    const { head } = response;
    if (head === null) return response.cancel();
    const { clock, tell } = this.#host;
    const record: DownloadRecord = {
      id: crypto.randomUUID(),
      name: fileName(head.headers, name, head.url),
      url: head.url,
      topLevelOrigin: request.topLevelOrigin,
      type: typeOf(head.headers),
      size: sizeOf(head.headers),
      bytes: 0,
      begunAt: clock.now(),
      state: { kind: "asked" },
      isAnew: false,
      request: response.method === "GET" && request.method === "GET" ? request : null,
      response: head,
    };
    try {
      await this.#offer(record, response);
    } catch {
      this.#offered.delete(record.id);
      response.cancel();
      tell(shown({ ...record, state: fault(NOT_WRITABLE) }));
    }
  }

  async #offer(record: DownloadRecord, response: HeldResponse): Promise<void> {
    const { files, tell } = this.#host;
    const [records, room] = await Promise.all([files.records(), files.room()]);
    const [oldest, ...others] = records
      .filter(({ state: { kind }, bytes, topLevelOrigin }) => {
        const isUnbegun = kind === "asked" || (kind === "failed" && bytes === 0);
        return isUnbegun && topLevelOrigin === record.topLevelOrigin;
      })
      .sort((one, other) => one.begunAt - other.begunAt);
    const isReplacing = oldest !== undefined && others.length + 1 >= MOST_ASKED;
    if (isReplacing) await this.#delete(oldest.id);
    const isFull = records.length >= MOST_LISTED && !isReplacing;
    const failed = isFull ? fault(LIST_FULL) : noRoomFor(record.size, room);
    if (failed !== null) response.cancel();
    else this.#offered.set(record.id, response);
    const taken: DownloadRecord = failed === null ? record : { ...record, state: failed };
    if (!isFull) await files.put(taken);
    tell(shown(taken));
  }

  /** As the question says. */
  async answer(question: DownloadQuestion): Promise<unknown> {
    if (question.kind === "downloads") return this.#list();
    if (question.kind === "save") return this.#save(question.request);
    const { id, order } = question;
    if (order === "resume") return this.#resume(id);
    if (order === "ask") return this.#letGo(id);
    if (order === "delete") return this.#delete(id);
    this.#host.channel.postMessage(id);
    return this.#running.get(id)?.pause();
  }

  /**
   * Shows a file in the place of what its site would send: as a page of that site, whose scripts do not run.
   *
   * @param signal aborted once nobody waits for the rest.
   */
  async show(id: string, consumer: ResponseConsumer, signal: AbortSignal): Promise<void> {
    const { files } = this.#host;
    const record = await files.record(id);
    const type = record === undefined ? null : typeToShow(record);
    try {
      if (record === undefined || type === null) throw new Error("Cannot show the file: it is none that is shown");
      const file = await files.read(id);
      const headers: HeaderList = [
        ["content-type", type],
        ["content-length", String(file.size)],
        ["cache-control", "no-store"],
        ["x-content-type-options", "nosniff"],
      ];
      const { url } = record;
      consumer.onHead({ status: 200, headers, url, redirected: false, coding: "identity", scriptCookies: [] });
      for (const reader = file.stream().getReader(); !signal.aborted; ) {
        const { done, value } = await reader.read();
        if (done) return consumer.onEnd();
        await consumer.onBody(value);
      }
    } catch {
      const why = `Cannot show the file: ${later("it is not on this phone any more")}`;
      consumer.onError(new RopewayError(ErrorCode.INTERNAL_ERROR, "stream", "library", why));
    }
  }

  /** Files that an earlier run of the app was writing, or that another window writes, once that has gone. */
  async goOn(): Promise<void> {
    for (const { id, state } of await this.#host.files.records())
      if (state.kind === "running" && !this.#running.has(id)) void this.#run(id, null, {});
  }

  linkOpened(): void {
    for (const running of this.#running.values()) running.linkOpened();
  }

  /** The app may be closed at once. */
  writeDown(): void {
    for (const running of this.#running.values()) void running.writeDown();
  }

  /** @param isOf says of URLs whether their sites are forgotten. */
  async forget(isOf: (url: string) => boolean): Promise<void> {
    const records = await this.#host.files.records();
    const meant = records.filter(({ url, topLevelOrigin }) => isOf(url) || isOf(topLevelOrigin));
    await Promise.all(meant.map(({ id }) => this.#delete(id)));
  }

  async #list(): Promise<readonly Download[]> {
    const records = await this.#host.files.records();
    const isAway = this.#host.isAway();
    return records
      .map((record) => {
        const download = shown(this.#running.get(record.id)?.record ?? record);
        const isWaiting = download.state.kind === "running" && isAway;
        return isWaiting ? { ...download, state: { kind: "waiting" } as const } : download;
      })
      .sort((a, b) => b.begunAt - a.begunAt);
  }

  async #save(request: RequestHead): Promise<true> {
    const { files, clock, tell } = this.#host;
    const record: DownloadRecord = {
      id: crypto.randomUUID(),
      name: fileName([], "", request.url),
      url: request.url,
      topLevelOrigin: request.origin ?? request.topLevelOrigin,
      type: "",
      size: null,
      bytes: 0,
      begunAt: clock.now(),
      state: { kind: "running" },
      isAnew: false,
      request,
      response: null,
    };
    if ((await files.records()).length >= MOST_LISTED) tell(shown({ ...record, state: fault(LIST_FULL) }));
    else {
      await files.put(record);
      void this.#run(record.id, null);
    }
    return true;
  }

  async #resume(id: string): Promise<void> {
    const { files } = this.#host;
    const record = await files.record(id);
    const held = this.#offered.get(id) ?? null;
    this.#offered.delete(id);
    if (record === undefined || record.state.kind === "done" || this.#running.has(id)) return;
    await files.put({ ...record, state: { kind: "running" } });
    void this.#run(id, held);
  }

  /** The person does not want the file yet; "resume" asks for it anew. */
  async #letGo(id: string): Promise<void> {
    this.#offered.get(id)?.cancel();
    this.#offered.delete(id);
    const record = await this.#host.files.record(id);
    const failed = fault(later("Cannot get it later: it was the answer to a form"));
    if (record?.request === null) await this.#host.files.put({ ...record, state: failed });
  }

  /** The window that writes the file has to let go of it first. */
  async #delete(id: string): Promise<void> {
    const { channel, locks, files } = this.#host;
    channel.postMessage(id);
    this.#offered.get(id)?.cancel();
    this.#offered.delete(id);
    this.#running.get(id)?.pause();
    await locks.request(LOCK + id, () => files.remove(id));
  }

  /** @param held the response that has begun, where it has not been let go of. @param when of the file's lock. */
  async #run(id: string, held: HeldResponse | null, when: LockOptions = { ifAvailable: true }): Promise<void> {
    await this.#host.locks.request(LOCK + id, when, async (lock) => {
      const record = lock === null ? undefined : await this.#host.files.record(id);
      const isWanted = record?.state.kind === "running";
      const sink = isWanted ? await this.#host.files.open(id).catch(() => null) : undefined;
      if (!isWanted || !sink) {
        held?.cancel();
        if (!isWanted) return;
        const failed = { ...record, state: fault(NOT_WRITABLE) };
        await this.#host.files.put(failed);
        return this.#host.tell(shown(failed));
      }
      const running = new RunningDownload(record, sink, this.#host);
      this.#running.set(id, running);
      this.#host.tell(shown(running.record));
      running.begin(held);
      await running.over;
      this.#running.delete(id);
    });
  }
}

/** A file that is being written, until it is there, has failed, or is paused. */
class RunningDownload {
  /** Settles when the file is closed, and its record says why. */
  readonly over: Promise<void>;
  #record: DownloadRecord;
  readonly #sink: FileSink;
  readonly #host: DownloadsHost;
  #settle!: () => void;
  #isOver = false;
  #exchange: ClientExchange | null = null;
  /** Waits to ask again: for the link, or for a while. */
  #cancelTimer: () => void = () => {};
  #isWaiting = false;
  #failures = 0;
  #begunAnew = 0;
  /** The file at the site is another now, or nobody can tell: the next head takes the place of the former. */
  #isFromStart = false;
  #flushedBytes: number;
  #flushedAt: number;

  constructor(record: DownloadRecord, sink: FileSink, host: DownloadsHost) {
    const bytes = Math.min(record.bytes, sink.size);
    this.#record = { ...record, bytes, state: { kind: "running" } };
    this.#sink = sink;
    this.#host = host;
    this.#flushedBytes = bytes;
    this.#flushedAt = host.clock.now();
    this.over = new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  get record(): DownloadRecord {
    return this.#record;
  }

  /** @param held its response, from the first byte. */
  begin(held: HeldResponse | null): void {
    if (held === null) return this.#ask();
    this.#exchange = held;
    held.attach(this.#consumer());
  }

  pause(): void {
    this.#end({ kind: "paused" });
  }

  linkOpened(): void {
    if (this.#isWaiting) this.#ask();
  }

  /** Goes on where it was. */
  #ask(): void {
    this.#isWaiting = false;
    this.#cancelTimer();
    const { request, response, bytes } = this.#record;
    if (request === null)
      return this.#fail(later("Cannot go on: it was the answer to a form, which is not sent twice"));
    const isWhole = bytes === 0 || this.#isFromStart;
    const file = isWhole ? { response: null, bytes: 0 } : { response, bytes };
    this.#exchange = this.#host.ask({ head: request, body: null, push: null, file }, this.#consumer());
  }

  #consumer(): ResponseConsumer {
    let isDeaf = false;
    const heard = () => !isDeaf && !this.#isOver;
    return {
      onHead: (head) => {
        if (!heard()) return;
        const failed = misfit(this.#record, head);
        isDeaf = failed !== null;
        if (failed === null) this.#takeHead(head);
        else this.#end(failed);
      },
      onBody: (chunk) => {
        if (heard()) this.#write(chunk);
        return undefined;
      },
      onEnd: () => {
        if (!heard()) return;
        const { size, bytes } = this.#record;
        if (size === null || size === bytes) this.#end({ kind: "done" });
        else this.#tryAgain(fault(later("Cannot get it whole: the site has broken off")));
      },
      onError: (error) => {
        if (heard()) this.#onError(error);
      },
    };
  }

  /** Of a response from the first byte. What came of a former one is there until then. */
  #takeHead(head: ResponseHead): void {
    const { bytes, isAnew, response } = this.#record;
    const type = typeOf(head.headers);
    this.#sink.truncate();
    this.#flushedBytes = 0;
    this.#record = {
      ...this.#record,
      ...(response === null && { url: head.url, type, name: withEnding(fileName(head.headers, "", head.url), type) }),
      response: head,
      size: sizeOf(head.headers),
      bytes: 0,
      isAnew: isAnew || (this.#isFromStart && bytes > 0),
    };
    this.#isFromStart = false;
  }

  #write(chunk: Uint8Array): void {
    const { bytes, size } = this.#record;
    if (size !== null && bytes + chunk.length > size)
      return this.#fail(later("Cannot keep it: it is longer than its site said"));
    try {
      this.#sink.write(chunk, bytes);
    } catch {
      return this.#fail(NO_ROOM);
    }
    this.#record = { ...this.#record, bytes: bytes + chunk.length };
    this.#failures = 0;
    const isDue = this.#host.clock.now() - this.#flushedAt >= FLUSH_TIME;
    if (isDue || this.#record.bytes - this.#flushedBytes >= FLUSH_STEP) void this.writeDown();
  }

  /** The bytes are on the disk before the record counts them. */
  async writeDown(): Promise<void> {
    const { clock, files } = this.#host;
    this.#flushedBytes = this.#record.bytes;
    this.#flushedAt = clock.now();
    try {
      this.#sink.flush();
      await files.put(this.#record);
      const room = await files.room();
      if (room !== null && room < RESERVE) this.#fail(NO_ROOM);
    } catch {
      this.#fail(NO_ROOM);
    }
  }

  #onError(error: RopewayError): void {
    if (error.code === ErrorCode.LINK_LOST && error.initiator === "origin") {
      const { status = 200 } = (error.cause ?? {}) as Partial<ResponseHead>;
      if (SAYING_CHANGED.includes(status)) return this.#beginAnew(error.message);
      const failed = answered(status);
      return PASSING.test(String(status)) ? this.#tryAgain(failed) : this.#end(failed);
    }
    const isOfLink = error.code === ErrorCode.LINK_LOST || error.code === ErrorCode.OFFLINE;
    if (isOfLink && this.#host.isAway()) this.#isWaiting = true;
    else this.#tryAgain(fault(error.message));
  }

  #beginAnew(why: string): void {
    this.#begunAnew += 1;
    if (this.#begunAnew > MOST_ANEW) return this.#fail(why);
    this.#isFromStart = true;
    // In a turn of its own: the exchange that failed is over then.
    this.#cancelTimer = this.#host.clock.setTimer(() => this.#ask(), 0);
  }

  #tryAgain(failed: Failed): void {
    this.#exchange?.cancel();
    this.#failures += 1;
    if (this.#failures > MOST_FAILURES || this.#record.request === null) return this.#end(failed);
    const delay = RETRY_DELAY * 2 ** (this.#failures - 1);
    this.#cancelTimer = this.#host.clock.setTimer(() => this.#ask(), delay);
  }

  #fail(why: string): void {
    this.#end(fault(why));
  }

  #end(state: Download["state"]): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#cancelTimer();
    this.#exchange?.cancel();
    this.#record = { ...this.#record, state: this.#closed() ? state : fault(NO_ROOM) };
    const over = () => {
      this.#settle();
      if (state.kind !== "paused") this.#host.tell(shown(this.#record));
    };
    this.#host.files.put(this.#record).then(over, over);
  }

  /** @returns whether all of it is on the disk. */
  #closed(): boolean {
    try {
      this.#sink.flush();
      return true;
    } catch {
      return false;
    } finally {
      this.#sink.close();
    }
  }
}

type Failed = Download["state"] & { kind: "failed" };

function fault(why: string): Failed {
  return { kind: "failed", why };
}

function answered(status: number): Failed {
  return { ...fault(later("Cannot go on: the site answers {status}")), status };
}

const NO_ROOM = later("Cannot go on: there is no room left on this phone for it");
const LIST_FULL = later("Cannot keep it: the list of downloads is full");
const NOT_WRITABLE = later("Cannot write it: the browser gives the app no file");

function noRoomFor(size: number | null, room: number | null): Failed | null {
  if (room === null || (size ?? 0) + RESERVE <= room) return null;
  const why =
    size === null
      ? later("Cannot keep it: there is no room. The browser lets the app have {room} more")
      : later("Cannot keep it: there is no room. It has {size}; the browser lets the app have {room} more");
  return { ...fault(why), room: Math.max(0, room - RESERVE) };
}

/** Why an answer is not the file that was asked for again; null: it is. */
function misfit({ type, response }: DownloadRecord, head: ResponseHead): Failed | null {
  if (head.status !== 200) return answered(head.status);
  const isPage = response !== null && typeOf(head.headers) === "text/html" && type !== "text/html";
  return isPage ? fault(later("Cannot go on: the site sends a page in its place; open it there again")) : null;
}

function shown({ request, response, ...download }: DownloadRecord): Download {
  const mayGoOn = request !== null && response?.resumption?.range != null;
  const isShown = response !== null && download.state.kind === "done" && typeToShow({ ...download, response }) !== null;
  return { ...download, mayGoOn, isShown };
}

function sizeOf(headers: HeaderList): number | null {
  const length = headerValue(headers, "content-length");
  return length !== null && /^\d{1,15}$/.test(length) ? Number(length) : null;
}

function typeOf(headers: HeaderList): string {
  const [type] = /^[\w.+-]{1,60}\/[\w.+-]{1,80}/.exec(headerValue(headers, "content-type") ?? "") ?? [];
  return type?.toLowerCase() ?? "application/octet-stream";
}

/** Characters of a name; file systems have 255 bytes. */
const MOST_NAME = 80;
/** Characters of one that are looked at. */
const MOST_READ = 512;

/**
 * A name for the phone: as the server says (RFC 6266, RFC 8187), as the page does, or as the address ends. Without a path,
 * and without characters that file systems do not take, that are not seen, or that turn the text around.
 */
export function fileName(headers: HeaderList, given: string, url: string): string {
  const field = headerValue(headers, "content-disposition") ?? "";
  const { pathname } = new URL(url);
  const names = [
    extendedName(field),
    plainName(field),
    given,
    percentDecoded(pathname.split("/").findLast((part) => part !== "") ?? ""),
  ];
  return names.map((name) => cleaned(name ?? "")).find((name) => name !== "") ?? "download";
}

/** Kinds in which no script runs. HTML, XML and SVG would have the rights of a page of the site, which keeps them from that. */
const SHOWN = /^(?:image\/(?:avif|bmp|gif|jpeg|png|webp)|application\/(?:json|pdf)|text\/(?:plain|csv|markdown))$/;

/** Of servers that do not know a file's kind, or want it saved. */
const UNTOLD = /^(?:application|binary)\/(?:octet-stream|(?:x-|force-)?download)$/;

/** The field for a document that shows the file; null where none does. */
function typeToShow({ name, type, response }: Pick<DownloadRecord, "name" | "type" | "response">): string | null {
  if (SHOWN.test(type)) {
    // Browsers go by the last type of a field that lists several (Fetch section 3.5), and the first was checked.
    const field = (response && headerValue(response.headers, "content-type")) ?? "";
    const [, charset] = /^[^;,]*;\s*charset="?([\w.:-]{1,40})"?\s*(?:[;,]|$)/i.exec(field) ?? [];
    return charset === undefined ? type : `${type}; charset=${charset}`;
  }
  const ending = /\.(\w+)$/.exec(name)?.[1]?.toLowerCase().replace("jpeg", "jpg");
  const [told] = Object.entries(ENDINGS).find(([, each]) => each === ending) ?? [];
  return UNTOLD.test(type) && told !== undefined && SHOWN.test(told) ? told : null;
}

/** Of kinds that links and pictures lead to, where an address has none. */
const ENDINGS: Readonly<Record<string, string>> = {
  "application/json": "json",
  "application/pdf": "pdf",
  "image/avif": "avif",
  "image/gif": "gif",
  "image/jpeg": "jpg",
  "image/png": "png",
  "image/svg+xml": "svg",
  "image/webp": "webp",
  "text/csv": "csv",
  "text/html": "html",
  "text/plain": "txt",
};

/** A phone opens a file by how its name ends. */
function withEnding(name: string, type: string): string {
  const ending = ENDINGS[type];
  return ending === undefined || /\.\w+$/.test(name) ? name : `${name}.${ending}`;
}

function extendedName(field: string): string | null {
  const [, charset, value = ""] = /;\s*filename\*\s*=\s*"?(utf-8|iso-8859-1)'[^']*'([^;\s"]*)/i.exec(field) ?? [];
  if (charset === undefined) return null;
  if (charset.toLowerCase() === "utf-8") return percentDecoded(value);
  return value.replace(/%([\da-f]{2})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}

function plainName(field: string): string | null {
  const [, quoted, token] = /;\s*filename\s*=\s*(?:"((?:[^"\\]|\\.)*)|([^;]*))/i.exec(field) ?? [];
  const name = quoted?.replace(/\\(.)/g, "$1") ?? token ?? null;
  return name === null ? null : decodeByteString(name);
}

function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function cleaned(name: string): string {
  const last = name.split(/[\\/]/).at(-1) ?? "";
  const visible = last
    .slice(0, MOST_READ)
    .replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "")
    .replace(/[<>:"|?*]/g, "_");
  const ended = withoutDots(visible);
  if (ended.length <= MOST_NAME) return ended;
  const [ending = ""] = /\.[^.\s]{1,12}$/.exec(ended.slice(-13)) ?? [];
  // No half of a character stays.
  return ended.slice(0, MOST_NAME - ending.length).replace(/\p{Cs}$/u, "") + ending;
}

/** At the start they hide a file, at the end some systems drop them. */
function withoutDots(name: string): string {
  const isDot = (at: number) => name[at] === "." || name[at]?.trim() === "";
  let [start, end] = [0, name.length];
  while (isDot(start)) start += 1;
  while (end > start && isDot(end - 1)) end -= 1;
  return name.slice(start, end);
}

const DATABASE = "ropeway-downloads";
const RECORDS = "records";

/** By the browser's private files, and a database. */
class PhoneFiles implements DownloadFiles {
  readonly #open = databaseOpener(() => {
    const request = indexedDB.open(DATABASE, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(RECORDS, { keyPath: "id" });
    return request;
  });

  async records(): Promise<readonly DownloadRecord[]> {
    return this.#ask("readonly", (records) => records.getAll());
  }

  async record(id: string): Promise<DownloadRecord | undefined> {
    return this.#ask("readonly", (records) => records.get(id));
  }

  async put(record: DownloadRecord): Promise<void> {
    await this.#ask("readwrite", (records) => records.put(record));
  }

  async open(id: string): Promise<FileSink> {
    const directory = await directoryOf(true);
    const file = await directory.getFileHandle(id, { create: true });
    const handle = await file.createSyncAccessHandle();
    return {
      size: handle.getSize(),
      write(chunk, at) {
        const written = handle.write(chunk as Uint8Array<ArrayBuffer>, { at });
        if (written < chunk.length) throw new Error("Cannot write: the disk is full");
      },
      truncate: () => void handle.truncate(0),
      flush: () => void handle.flush(),
      close: () => void handle.close(),
    };
  }

  async read(id: string): Promise<Blob> {
    return (await (await directoryOf(false)).getFileHandle(id)).getFile();
  }

  async remove(id: string): Promise<void> {
    const directory = await directoryOf(true);
    await directory.removeEntry(id).catch(() => {});
    await this.#ask("readwrite", (records) => records.delete(id));
    // By its name the next run of the app knows whether there is anything to go on with.
    const root = await navigator.storage.getDirectory();
    if ((await this.records()).length === 0)
      await root.removeEntry(DOWNLOADS_DIRECTORY, { recursive: true }).catch(() => {});
  }

  async room(): Promise<number | null> {
    const { quota, usage } = await navigator.storage.estimate();
    return quota === undefined || usage === undefined ? null : quota - usage;
  }

  /** A record counts once it is written. */
  async #ask<Value>(mode: IDBTransactionMode, ask: (records: IDBObjectStore) => IDBRequest<Value>): Promise<Value> {
    const transaction = (await this.#open()).transaction(RECORDS, mode);
    const request = ask(transaction.objectStore(RECORDS));
    await committed(transaction);
    return request.result;
  }
}

async function directoryOf(create: boolean): Promise<FileSystemDirectoryHandle> {
  return (await navigator.storage.getDirectory()).getDirectoryHandle(DOWNLOADS_DIRECTORY, { create });
}

/** The downloads of this phone. Files that an earlier run of the app was writing go on. */
export function openDownloads(host: Omit<DownloadsHost, "files" | "locks" | "channel">): Downloads {
  const channel = new BroadcastChannel("ropeway.downloads");
  const downloads = new Downloads({ ...host, files: new PhoneFiles(), locks: navigator.locks, channel });
  void downloads.goOn();
  return downloads;
}
