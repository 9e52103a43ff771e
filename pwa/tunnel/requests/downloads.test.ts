import { beforeEach, describe, expect, it } from "vitest";
import { ErrorCode, RopewayError } from "../../../shared/errors.ts";
import type { RequestHandler } from "../../../shared/http/exchange.ts";
import type { HeaderList, RequestHead } from "../../../shared/http/heads.ts";
import { ConsumerLog, responseHead } from "../../../shared/testing/http/exchange-rig.ts";
import { navigation } from "../../../shared/testing/http/request-heads.ts";
import { Random, runSeed } from "../../../shared/testing/random.ts";
import { settle } from "../../../shared/testing/turns.ts";
import type { Download } from "../../messages/tunnel-messages.ts";
import { tunnelRig } from "../testing/tunnel-rig.ts";
import { type DownloadFiles, type DownloadRecord, Downloads, type FileSink, fileName, RESERVE } from "./downloads.ts";
import { HeldResponse } from "./held-responses.ts";

const URL_A = "https://a.example/tide.bin";
const HEAD = navigation(URL_A);

/** A file at its site. */
interface SiteFile {
  bytes: Uint8Array<ArrayBuffer>;
  etag: string | null;
  status?: number;
  type?: string;
  /** Where the site redirects. */
  url?: string;
}

/** A site that sends as many bytes of its file in one answer as the test lets it, and then stands still. */
function site(file: SiteFile) {
  const state = { file, most: Number.POSITIVE_INFINITY, breakOff: () => {}, starts: [] as number[] };
  const handle: RequestHandler = async ({ head }) => {
    const { bytes, etag, status = 200, type = "application/zip", url = head.url } = state.file;
    const asked = head.delivery?.continuation ?? null;
    const continues = asked !== null && etag !== null && asked.validator === etag;
    const start = continues ? asked.first : 0;
    state.starts.push(start);
    const headers: HeaderList = [
      ["content-type", type],
      ["content-length", String(bytes.length - start)],
      ...(etag === null ? [] : [["etag", etag] as const]),
    ];
    const range = { first: 0, last: bytes.length - 1, total: bytes.length };
    return {
      head: {
        ...responseHead,
        status: continues ? 206 : status,
        url,
        redirected: url !== head.url,
        headers,
        ...(etag === null ? {} : { resumption: { range, validator: etag } }),
        ...(continues ? { continues } : {}),
      },
      body: new ReadableStream<Uint8Array>({
        start(controller) {
          const end = Math.min(bytes.length, start + state.most);
          for (let at = start; at < end; at += 1_000) controller.enqueue(bytes.slice(at, Math.min(end, at + 1_000)));
          if (end === bytes.length) controller.close();
          else state.breakOff = () => controller.error(new Error("reset"));
        },
      }),
    };
  };
  return { state, handle };
}

/** The disk of a phone: what was not flushed may be anything after a crash. */
class FakeFiles implements DownloadFiles {
  readonly list = new Map<string, DownloadRecord>();
  readonly disk = new Map<string, Uint8Array>();
  readonly written = new Map<string, Uint8Array>();
  space: number | null = null;

  records = async () => [...this.list.values()];
  record = async (id: string) => this.list.get(id);
  room = async () => this.space;

  async put(record: DownloadRecord): Promise<void> {
    this.list.set(record.id, structuredClone(record));
  }

  async open(id: string): Promise<FileSink> {
    const former = this.written.get(id) ?? new Uint8Array();
    let room = new Uint8Array(Math.max(64_000, former.length));
    room.set(former);
    const show = (length: number) => void this.written.set(id, room.subarray(0, length));
    return {
      size: former.length,
      write: (chunk, at) => {
        const end = at + chunk.length;
        if (end > room.length) {
          const larger = new Uint8Array(2 * end);
          larger.set(room);
          room = larger;
        }
        room.set(chunk, at);
        show(Math.max(end, this.written.get(id)?.length ?? 0));
      },
      truncate: () => show(0),
      flush: () => void this.disk.set(id, this.written.get(id)?.slice() ?? new Uint8Array()),
      close() {},
    };
  }

  async read(id: string): Promise<Blob> {
    const bytes = this.written.get(id);
    if (bytes === undefined) throw new Error("gone");
    return new Blob([bytes.slice()]);
  }

  async remove(id: string): Promise<void> {
    for (const map of [this.list, this.disk, this.written]) map.delete(id);
  }

  /** As the next run of the app finds them. */
  left(): FakeFiles {
    const next = new FakeFiles();
    for (const [id, record] of this.list) next.list.set(id, record);
    for (const [id, bytes] of this.written) next.written.set(id, bytes.slice());
    for (const [id, bytes] of this.disk) next.disk.set(id, bytes);
    return next;
  }

  /** Likewise, after the phone has lost its power. */
  crashed(random: Random): FakeFiles {
    const next = this.left();
    for (const [id, bytes] of next.written) {
      const flushed = this.disk.get(id) ?? new Uint8Array();
      bytes.set(random.bytes(bytes.length));
      bytes.set(flushed.subarray(0, bytes.length));
      next.disk.set(id, bytes.slice());
    }
    return next;
  }
}

/** One at a time; with `ifAvailable`, none for whoever comes second. */
function fakeLocks(): Pick<LockManager, "request"> {
  const held = new Map<string, Promise<unknown>>();
  const request = async (name: string, ...rest: readonly unknown[]): Promise<unknown> => {
    const task = rest.at(-1) as (lock: object | null) => Promise<unknown>;
    const isEager = rest.length > 1 && (rest[0] as LockOptions).ifAvailable === true;
    if (isEager && held.has(name)) return task(null);
    while (held.has(name)) await held.get(name);
    const done = Promise.resolve(task({}));
    held.set(
      name,
      done.finally(() => held.delete(name)).catch(() => {}),
    );
    return done;
  };
  return { request: request as LockManager["request"] };
}

async function phone(handle: RequestHandler, files = new FakeFiles(), locks = fakeLocks()) {
  const rig = tunnelRig(handle);
  await rig.connect();
  const told: Download[] = [];
  const clock = { time: 0, timers: new Map<() => void, number>() };
  const downloads = new Downloads({
    ask: rig.tunnel.askEdge,
    isAway: () => rig.phases.at(-1)?.kind !== "open",
    tell: (download) => told.push(download),
    files,
    locks,
    channel: { postMessage() {}, onmessage: null },
    clock: {
      now: () => clock.time,
      setTimer(task, delay) {
        clock.timers.set(task, clock.time + delay);
        return () => clock.timers.delete(task);
      },
    },
  });
  const pass = async (time: number) => {
    clock.time += time;
    for (const [task, at] of [...clock.timers]) {
      if (at > clock.time) continue;
      clock.timers.delete(task);
      task();
    }
    await settle();
  };
  const list = async () => (await downloads.answer({ kind: "downloads" })) as readonly Download[];
  const first = async () => (await list())[0] as Download;
  const order = async (order: "pause" | "resume" | "ask" | "delete") => {
    const { id } = await first();
    await downloads.answer({ kind: "download", id, order });
    await settle();
  };
  /** A page of this tunnel is sent a file. */
  const offer = async (head: RequestHead = HEAD, method = "GET") => {
    const response = new HeldResponse(null, null, method);
    response.setExchange(rig.tunnel.askEdge({ head, body: null, push: null }, response));
    await response.settled;
    await downloads.take({ response, request: head, name: "" });
    return response;
  };
  const save = async (request: RequestHead) => {
    expect(await downloads.answer({ kind: "save", request })).toBe(true);
    await settle();
  };
  const bytes = async () => Buffer.from(files.written.get((await first()).id) ?? []);
  return { ...rig, downloads, files, told, list, first, order, offer, save, pass, bytes };
}

/** Has the first 20,000 bytes of a file of 60,000, and rests. */
async function paused() {
  const { state, handle } = site(fileOf(60_000));
  state.most = 20_000;
  const rig = await phone(handle);
  await rig.offer();
  await rig.order("resume");
  await rig.order("pause");
  return { ...rig, state };
}

/** As a window leaves it that is killed while it writes. */
async function savedIn(files: FakeFiles, handle: RequestHandler): Promise<[DownloadRecord]> {
  const { offer, order } = await phone(handle, files);
  await offer();
  await order("resume");
  return [...files.list.values()] as [DownloadRecord];
}

/** Of each test its own: whether others run before it changes nothing. */
let random: Random;
beforeEach(({ task }) => {
  random = new Random(runSeed()).fork(task.name);
});
const fileOf = (length: number, etag: string | null = '"v1"'): SiteFile => ({ bytes: random.bytes(length), etag });

describe("a file that a site sends", () => {
  it("waits for the person, and is written then, from the first byte", async () => {
    const { state, handle } = site(fileOf(50_000));
    const { offer, first, order, told, bytes } = await phone(handle);
    await offer();
    expect(await first()).toMatchObject({ name: "tide.bin", size: 50_000, bytes: 0, state: { kind: "asked" } });
    await order("resume");
    expect((await bytes()).equals(Buffer.from(state.file.bytes))).toBe(true);
    expect(told.map((each) => each.state.kind)).toEqual(["asked", "running", "done"]);
    expect(state.starts).toEqual([0]);
  });

  it("comes without it where the person wants what an address leads to, by the name and the type that its site tells", async () => {
    const { state, handle } = site({ ...fileOf(30_000), type: "image/png" });
    state.most = 10_000;
    const { save, first, order, told, bytes, list } = await phone(handle);
    await save({ ...navigation("https://a.example/tide"), origin: "https://b.example" });
    const meant = { name: "tide.png", type: "image/png", size: 30_000, topLevelOrigin: "https://b.example" };
    expect(await first()).toMatchObject({ ...meant, bytes: 10_000, state: { kind: "running" }, mayGoOn: true });
    await order("pause");
    state.most = Number.POSITIVE_INFINITY;
    await order("resume");
    expect((await bytes()).equals(Buffer.from(state.file.bytes))).toBe(true);
    expect(state.starts).toEqual([0, 10_000]);
    expect(told.map(({ name, state: { kind } }) => `${name} ${kind}`)).toEqual([
      ...["tide running", "tide.png running", "tide.png done"],
    ]);

    // A page is what the person wants here.
    Object.assign(state.file, { type: "text/html" });
    await save(navigation("https://a.example/"));
    expect((await list()).map(({ name, state: { kind } }) => `${name} ${kind}`)).toContain("download.html done");
    Object.assign(state.file, { status: 404 });
    await save(navigation("https://a.example/gone"));
    expect(told.at(-1)).toMatchObject({ name: "gone", state: { kind: "failed", status: 404 } });
  });

  it.each<[type: string, path: string, shown: string | null]>([
    ["image/png", "/a", "image/png"],
    ["text/plain; charset=koi8-r", "/a", "text/plain; charset=koi8-r"],
    ['text/plain;charset="koi8-r"; x=y', "/a", "text/plain; charset=koi8-r"],
    ["text/plain, text/html", "/a", "text/plain"],
    ["text/plain; charset=koi8-r, text/html", "/a", "text/plain; charset=koi8-r"],
    ["application/octet-stream", "/a.PDF", "application/pdf"],
    ["application/octet-stream", "/a.svg", null],
    ["application/octet-stream", "/a.html", null],
    ["text/html", "/a.png", null],
    ["image/svg+xml", "/a.png", null],
    ["application/xhtml+xml", "/a.txt", null],
  ])("of type %s at %s is shown as %s", async (type, path, shown) => {
    const { state, handle } = site({ ...fileOf(30_000), type });
    const { downloads, save, first, files } = await phone(handle);
    await save(navigation(`https://a.example${path}`));
    const { id, isShown, url } = await first();
    expect(isShown).toBe(shown !== null);
    const log = new ConsumerLog();
    await downloads.show(id, log, new AbortController().signal);
    expect(log.head?.headers.filter(([name]) => /^content-[td]/.test(name))).toEqual(
      shown === null ? undefined : [["content-type", shown]],
    );
    expect(log.error === null).toBe(shown !== null);
    if (shown !== null) expect([log.head?.url, log.bytes]).toEqual([url, state.file.bytes.length]);
    await files.remove(id);
    const late = new ConsumerLog();
    await downloads.show(id, late, new AbortController().signal);
    expect(late.error?.message).toBe("Cannot show the file: it is not on this phone any more");
  });

  it("is of the address that has sent it, where a saved link was redirected", async () => {
    const { handle } = site({ ...fileOf(1_000), type: "image/png", url: "https://c.example/tide.png" });
    const { save, files } = await phone(handle);
    await save(navigation("https://a.example/out"));
    expect([...files.list.values()].map(({ url }) => url)).toEqual(["https://c.example/tide.png"]);
  });

  it("that is not wanted yet is let go of, and asked for when it is", async () => {
    const { state, handle } = site(fileOf(90_000));
    state.most = 10_000;
    const { offer, order, bytes, list } = await phone(handle);
    const response = await offer();
    await order("ask");
    expect(await response.settled).toMatchObject({ status: 200 });
    state.most = Number.POSITIVE_INFINITY;
    await order("resume");
    expect((await bytes()).equals(Buffer.from(state.file.bytes))).toBe(true);
    await order("delete");
    expect(await list()).toEqual([]);
  });

  it("goes on by a range after a pause, and after the app was closed", async () => {
    const { state, handle } = site(fileOf(60_000));
    state.most = 20_000;
    const one = await phone(handle);
    await one.offer();
    await one.order("resume");
    await one.order("pause");
    expect(await one.first()).toMatchObject({ bytes: 20_000, state: { kind: "paused" }, mayGoOn: true });
    await one.order("resume");
    await one.pass(6_000);
    await one.order("pause");
    const files = one.files.crashed(random);
    for (const record of files.list.values()) await files.put({ ...record, state: { kind: "running" } });
    const two = await phone(handle, files);
    await two.downloads.goOn();
    await settle();
    expect(state.starts).toEqual([0, 20_000, 40_000]);
    expect((await two.bytes()).equals(Buffer.from(state.file.bytes))).toBe(true);
    expect(await two.first()).toMatchObject({ state: { kind: "done" }, isAnew: false });
  });

  it("begins anew, and says so, where it is another by now", async () => {
    const { state, order, first, bytes, pass } = await paused();
    Object.assign(state, { file: fileOf(45_000, '"v2"'), most: Number.POSITIVE_INFINITY });
    await order("resume");
    await pass(0);
    expect(state.starts).toEqual([0, 0, 0]);
    expect((await bytes()).equals(Buffer.from(state.file.bytes))).toBe(true);
    expect(await first()).toMatchObject({ size: 45_000, isAnew: true, state: { kind: "done" } });
  });

  it("begins anew, once, also where the site breaks off before it says how", async () => {
    const { state, handle } = site(fileOf(60_000));
    state.most = 20_000;
    let refusals = 0;
    const { offer, order, first, bytes, pass } = await phone(async (request) => {
      const isWhole = request.head.delivery?.continuation == null;
      if (isWhole && refusals-- > 0) throw new RopewayError(ErrorCode.CONNECTION_RESET, "stream", "origin", "no");
      return handle(request);
    });
    await offer();
    await order("resume");
    await order("pause");
    refusals = 2;
    Object.assign(state, { file: fileOf(45_000, '"v2"'), most: Number.POSITIVE_INFINITY });
    await order("resume");
    for (const rest of [0, 1_000, 2_000]) await pass(rest);
    expect((await bytes()).equals(Buffer.from(state.file.bytes))).toBe(true);
    expect(await first()).toMatchObject({ isAnew: true, state: { kind: "done" } });
  });

  it("begins anew where nothing says that it is the same", async () => {
    const { state, handle } = site(fileOf(60_000, null));
    state.most = 20_000;
    const { offer, order, first, bytes, pass } = await phone(handle);
    await offer();
    await order("resume");
    expect((await first()).mayGoOn).toBe(false);
    await order("pause");
    state.most = Number.POSITIVE_INFINITY;
    await order("resume");
    await pass(0);
    expect((await bytes()).equals(Buffer.from(state.file.bytes))).toBe(true);
    expect(await first()).toMatchObject({ isAnew: true, state: { kind: "done" } });
  });

  it.each<[string, Partial<SiteFile>, string]>([
    ["an error", { status: 403 }, "Cannot go on: the site answers {status}"],
    ["a page", { type: "text/html" }, "Cannot go on: the site sends a page in its place; open it there again"],
  ])("keeps what has come where the site sends %s in its place", async (_, change, why) => {
    const { state, order, first, bytes, pass } = await paused();
    const { file } = state;
    state.file = { ...fileOf(3_000, null), ...change };
    await order("resume");
    await pass(0);
    expect(await first()).toMatchObject({ bytes: 20_000, state: { kind: "failed", why } });
    Object.assign(state, { file, most: Number.POSITIVE_INFINITY });
    await order("resume");
    expect((await bytes()).equals(Buffer.from(file.bytes))).toBe(true);
  });

  it.each([429, 502, 503])("goes on where it was after the site has answered %i for a while", async (status) => {
    const { state, order, first, bytes, pass } = await paused();
    const { file } = state;
    state.file = { ...fileOf(300, null), type: "text/html", status };
    await order("resume");
    expect(await first()).toMatchObject({ bytes: 20_000, state: { kind: "running" } });
    await pass(1_000);
    Object.assign(state, { file, most: Number.POSITIVE_INFINITY });
    await pass(2_000);
    expect(state.starts).toEqual([0, 0, 0, 20_000]);
    expect((await bytes()).equals(Buffer.from(file.bytes))).toBe(true);
    expect(await first()).toMatchObject({ state: { kind: "done" }, isAnew: false });
  });

  it("fails with the answer of a site that never gets well, and keeps what has come", async () => {
    const { state, order, first, pass } = await paused();
    state.file = { ...fileOf(300, null), status: 503 };
    await order("resume");
    for (const rest of [1_000, 2_000, 4_000, 8_000, 16_000]) await pass(rest);
    expect(await first()).toMatchObject({ bytes: 20_000, state: { kind: "failed", status: 503 } });
  });

  it.each([412, 416])("begins anew where the site answers %i to the question for the rest", async (status) => {
    const { state, order, first, bytes, pass } = await paused();
    Object.assign(state, { file: { ...fileOf(10, '"v2"'), status }, most: Number.POSITIVE_INFINITY });
    await order("resume");
    state.file = fileOf(9_000, '"v3"');
    await pass(0);
    expect((await bytes()).equals(Buffer.from(state.file.bytes))).toBe(true);
    expect(await first()).toMatchObject({ state: { kind: "done" }, isAnew: true });
  });

  it("is asked for again where the site breaks off, with longer and longer rests, and no more than so often", async () => {
    const { state, handle } = site(fileOf(60_000));
    state.most = 20_000;
    const { offer, order, first, pass } = await phone(handle);
    await offer();
    await order("resume");
    state.most = 0;
    for (const rest of [1_000, 2_000, 4_000, 8_000, 16_000]) {
      state.breakOff();
      await settle();
      expect((await first()).state).toEqual({ kind: "running" });
      await pass(rest);
    }
    state.breakOff();
    await settle();
    expect(await first()).toMatchObject({ bytes: 20_000, state: { kind: "failed" } });
    expect(state.starts).toEqual([0, 20_000, 20_000, 20_000, 20_000, 20_000]);
  });

  it("waits while the link is away, and goes on when it is back", async () => {
    const { state, handle } = site(fileOf(60_000));
    state.most = 20_000;
    const { offer, order, first, bytes, platform, fail, connect, downloads, tunnel } = await phone(handle);
    tunnel.setWaitTime(30_000);
    await offer();
    await order("resume");
    platform.socket.lose();
    await fail(60_000);
    expect(await first()).toMatchObject({ bytes: 20_000, state: { kind: "waiting" } });
    state.most = Number.POSITIVE_INFINITY;
    await connect();
    downloads.linkOpened();
    await settle();
    expect((await bytes()).equals(Buffer.from(state.file.bytes))).toBe(true);
  });

  it("that was the answer to a form is never asked for again", async () => {
    const { state, handle } = site(fileOf(60_000));
    state.most = 20_000;
    const { offer, order, first } = await phone(handle);
    await offer(HEAD, "POST");
    await order("resume");
    await order("pause");
    expect((await first()).mayGoOn).toBe(false);
    await order("resume");
    expect((await first()).state).toMatchObject({ kind: "failed", why: expect.stringContaining("a form") });
    expect(state.starts).toEqual([0]);
  });

  it("does not come where it does not fit", async () => {
    const { handle } = site(fileOf(60_000));
    const { files, offer, first } = await phone(handle);
    files.space = RESERVE + 59_999;
    const response = await offer();
    const why = "Cannot keep it: there is no room. It has {size}; the browser lets the app have {room} more";
    expect((await first()).state).toEqual({ kind: "failed", why, room: 59_999 });
    expect(response.head).not.toBeNull();
  });

  it("that does not fit takes no place in the list from others, however many a site sends", async () => {
    const { handle } = site(fileOf(1_000_000));
    const { offer, list, files } = await phone(handle);
    files.space = RESERVE;
    await Promise.all(Array.from({ length: 9 }, () => offer()));
    expect((await list()).map(({ state }) => state.kind)).toEqual(Array(5).fill("failed"));
  });

  it("ends when the phone gets too full", async () => {
    const { state, handle } = site(fileOf(60_000));
    state.most = 20_000;
    const { files, offer, order, first, pass } = await phone(handle);
    await offer();
    await order("resume");
    files.space = RESERVE - 1;
    await pass(6_000);
    state.breakOff();
    await settle();
    await pass(1_000);
    expect((await first()).state).toMatchObject({ kind: "failed", why: expect.stringContaining("no room left") });
  });

  it("is told of where the browser gives the app no file for it", async () => {
    const { handle } = site(fileOf(60_000));
    const { files, offer, order, first, told } = await phone(handle);
    files.open = () => Promise.reject(new DOMException("no", "InvalidStateError"));
    await offer();
    await order("resume");
    expect(told.at(-1)).toEqual(await first());
    expect((await first()).state).toMatchObject({
      kind: "failed",
      why: expect.stringContaining("gives the app no file"),
    });
  });

  it("that nobody wants is not asked for without end", async () => {
    const { handle } = site(fileOf(20_000));
    const { offer, list, order, downloads } = await phone(handle);
    await Promise.all(Array.from({ length: 9 }, () => offer()));
    expect(await list()).toHaveLength(5);
    // As the app does with what it asks about.
    for (const { id } of await list()) await downloads.answer({ kind: "download", id, order: "ask" });
    for (let count = 0; count < 9; count += 1) {
      await offer();
      await order("ask");
    }
    expect(await list()).toHaveLength(5);
    await offer({ ...HEAD, topLevelOrigin: "https://b.example" });
    expect(await list()).toHaveLength(6);
  });

  it("goes with its site, also while it comes", async () => {
    const { state, handle } = site(fileOf(60_000));
    state.most = 20_000;
    const { offer, order, list, downloads, files } = await phone(handle);
    await offer();
    await order("resume");
    await downloads.forget((url) => url.includes("b.example"));
    expect(await list()).toHaveLength(1);
    await downloads.forget((url) => url.includes("a.example"));
    expect([await list(), files.written.size]).toEqual([[], 0]);
  });

  it("is written by one window at a time", async () => {
    const { state, handle } = site(fileOf(60_000));
    state.most = 20_000;
    const locks = fakeLocks();
    const one = await phone(handle, new FakeFiles(), locks);
    await one.offer();
    await one.order("resume");
    const other = await phone(handle, one.files, locks);
    await other.downloads.goOn();
    await settle();
    expect(state.starts).toEqual([0]);
    await one.order("pause");
    expect([state.starts, (await other.first()).state.kind]).toEqual([[0], "paused"]);
  });

  it("goes on in another window where the one that writes it has gone", async () => {
    const { state, handle } = site(fileOf(60_000));
    state.most = 20_000;
    const files = new FakeFiles();
    const [record] = await savedIn(files, handle);
    let leave = (): void => {};
    const locks = fakeLocks();
    void locks.request(`ropeway.download ${record.id}`, () => new Promise<void>((resolve) => (leave = resolve)));
    const other = await phone(handle, files, locks);
    await other.downloads.goOn();
    await settle();
    expect(state.starts).toEqual([0]);
    state.most = Number.POSITIVE_INFINITY;
    leave();
    await settle();
    expect((await other.first()).state.kind).toBe("done");
    expect((await other.bytes()).equals(Buffer.from(state.file.bytes))).toBe(true);
  });

  it("is told of where its record cannot be written, and the next one comes", async () => {
    const { handle } = site(fileOf(1_000));
    const { offer, told, files, first } = await phone(handle);
    const { put } = files;
    files.put = () => Promise.reject(new DOMException("The connection is closing", "InvalidStateError"));
    await offer();
    expect(told.map(({ state }) => state.kind)).toEqual(["failed"]);
    files.put = put;
    await offer();
    expect((await first()).state.kind).toBe("asked");
  });

  it("has no byte twice and none lost, wherever link, edge, site, person or battery cut it off", async () => {
    for (let round = 0; round < 8; round += 1) {
      const { state, handle } = site(fileOf(100_000 + random.below(200_000)));
      state.most = random.below(50_000);
      const given = [`seed ${runSeed()}, round ${round}: ${state.file.bytes.length} bytes`];
      let current = await phone(handle);
      await current.offer();
      await current.order("resume");
      for (let cut = 0; cut < 6; cut += 1) {
        state.most = random.below(50_000);
        const cause = random.pick(["edge", "site", "person", "battery", "closed"] as const);
        given.push(`${cause}, then at most ${state.most}`);
        switch (cause) {
          case "edge":
            await current.restart();
            break;
          case "site":
            state.breakOff();
            await settle();
            await current.pass(20_000);
            break;
          case "person":
            await current.order("pause");
            await current.order("resume");
            break;
          case "closed":
            await current.pass(6_000);
            current = await phone(handle, current.files.left());
            await current.downloads.goOn();
            break;
          case "battery":
            current = await phone(handle, current.files.crashed(random));
            await current.downloads.goOn();
        }
        await settle();
      }
      state.most = Number.POSITIVE_INFINITY;
      const { state: last } = await current.first();
      if (last.kind !== "done") {
        await current.order("pause");
        await current.order("resume");
      }
      expect(await current.first(), given.join("; ")).toMatchObject({ state: { kind: "done" } });
      expect((await current.bytes()).equals(Buffer.from(state.file.bytes)), given.join("; ")).toBe(true);
    }
  }, 60_000);
});

describe("fileName", () => {
  const named = (field: string, given = "", url = URL_A) => fileName([["content-disposition", field]], given, url);

  it.each([
    ['attachment; filename="a b.pdf"', "a b.pdf"],
    ["attachment; filename=plain.pdf", "plain.pdf"],
    ["attachment; filename=plain.pdf; filename*=UTF-8''%e2%82%ac%20rates.pdf", "€ rates.pdf"],
    ["attachment; filename*=iso-8859-1'en'%A3%20rates.pdf", "£ rates.pdf"],
    ['attachment; filename="a\\"b.pdf"', "a_b.pdf"],
    ['attachment; filename="../../etc/passwd"', "passwd"],
    ['attachment; filename="C:\\\\x\\\\y.exe"', "y.exe"],
    ['attachment; filename=".bashrc"', "bashrc"],
    ["attachment; filename*=UTF-8''a%00b%0d%0a.pdf", "ab.pdf"],
    ["attachment; filename*=UTF-8''invoice%E2%80%AEfdp.exe", "invoicefdp.exe"],
    ["attachment; filename*=UTF-8''a%ff.pdf", "a%ff.pdf"],
    [`attachment; filename="${"x".repeat(300)}.pdf"`, `${"x".repeat(76)}.pdf`],
    ['attachment; filename="..."', "tide.bin"],
    ["attachment", "tide.bin"],
  ])("of %s is %s", (field, name) => {
    expect(named(field)).toBe(name);
  });

  it("is the page's before the address's, and never empty", () => {
    expect(named("attachment", "given.txt")).toBe("given.txt");
    expect(named("attachment", "", "https://a.example/caf%C3%A9/")).toBe("café");
    expect(named("attachment", "", "https://a.example/")).toBe("download");
  });
});
