import { beforeEach, describe, expect, it, vi } from "vitest";
import { ErrorCode, RopewayError } from "../../../shared/errors.ts";
import type { HeaderList } from "../../../shared/http/heads.ts";
import { EdgeRequest } from "../../../shared/subprotocol.ts";
import { ConsumerLog } from "../../../shared/testing/http/exchange-rig.ts";
import { FRESH, type OriginAnswer, page, TestPhone, type TestWindow } from "./testing/stored-windows.ts";

let phone: TestPhone;
let window: TestWindow;

beforeEach(() => {
  phone = new TestPhone();
  window = phone.open();
});

describe("what is read", () => {
  const headers: HeaderList = [
    ["cache-control", "max-age=0, stale-while-revalidate=60"],
    ["etag", '"1"'],
  ];
  const body = "x".repeat(900_000);

  /** Gets the picture, and reads no further than its first piece until `goOn`. */
  function getSlowly(answers: OriginAnswer) {
    const log = new ConsumerLog();
    let goOn = (): void => {};
    const paced = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const onBody = (chunk: Uint8Array) => {
      void log.onBody(chunk);
      return log.bytes === chunk.length ? paced : undefined;
    };
    const exchange = window.begin(
      {},
      {
        onHead: (head) => log.onHead(head),
        onBody,
        onEnd: () => log.onEnd(),
        onError: (error) => log.onError(error),
      },
      answers,
    );
    return { log, goOn, cancel: () => exchange.cancel() };
  }

  it.each<[string, () => Promise<unknown>]>([
    ["replaced", () => vi.waitFor(async () => expect((await window.get()).text).toBe("new"))],
    ["replaced by another window", () => phone.open().get({ cache: "reload" }, { headers: FRESH, body: "new" })],
    ["forgotten", () => window.store.forget(() => true)],
    ["forgotten by another window", () => phone.open().store.forget(() => true)],
  ])("stays whole though it is %s meanwhile, and then goes", async (_, act) => {
    await window.get({}, { headers, body });
    await window.stored();
    phone.time += 1000;
    const { log, goOn } = getSlowly({ headers: FRESH, body: "new" });
    await vi.waitFor(() => expect(log.bytes).toBeGreaterThan(0));
    await act();
    goOn();
    await log.over;
    expect([log.bytes, log.error]).toEqual([body.length, null]);
    const database = await phone.disk.raw();
    await vi.waitFor(async () => expect(await database.count("blocks")).toBe(await database.count("entries")));
  });

  it("goes at once where its page gives up", async () => {
    await window.get({}, { headers, body });
    await window.stored();
    const { log, cancel } = getSlowly({ until: new Promise(() => {}) });
    await vi.waitFor(() => expect(log.bytes).toBeGreaterThan(0));
    await phone.open().store.forget(() => true);
    cancel();
    const database = await phone.disk.raw();
    await vi.waitFor(async () => expect(await database.count("blocks")).toBe(0));
  });

  it("fails once where a part of it is broken, and is fetched from then on", async () => {
    await window.get({}, { headers: FRESH, body });
    await window.stored();
    const database = await phone.disk.raw();
    const [, second] = await database.getAllKeys("blocks");
    await database.put("blocks", new Uint8Array(5), second);
    expect((await window.get()).error?.message).toMatch(/a part of it is gone/);
    expect((await window.get({}, { body: "good" })).text).toBe("good");
  });

  it.each(["there", "away"])(
    "fails where a part of it cannot be read; where the link is %s next time, that is fetched or read",
    async (link) => {
      await window.get({}, { headers: FRESH, body });
      await window.stored();
      phone.disk.onStep = ({ method, args }) => {
        if (method === "get" && args[0] === "blocks") throw new DOMException("Failed", "UnknownError");
      };
      expect((await window.get()).error?.message).toMatch(/try again/);
      phone.disk.onStep = () => {};
      phone.isAway = link === "away";
      const next = await window.get({}, { headers: FRESH, body: "again" });
      expect(next).toMatchObject(phone.isAway ? { isAsked: false, text: body } : { isAsked: true, text: "again" });
      await window.stored();
      expect((await window.get()).isAsked).toBe(false);
    },
  );

  it("is asked for where the index cannot be read, and is there the next time", async () => {
    await window.get({}, { headers: FRESH, body: "first" });
    await window.stored();
    const other = phone.open();
    await other.store.opened;
    phone.disk.onStep = ({ method }) => {
      if (method === "getAllFromIndex") throw new DOMException("Failed", "UnknownError");
    };
    expect((await other.get({}, { headers: [["cache-control", "no-store"]], body: "second" })).text).toBe("second");
    phone.disk.onStep = () => {};
    expect(await other.get()).toMatchObject({ isAsked: false, text: "first" });
  });
});

describe("where the disk is slow and the link is away", () => {
  const away: OriginAnswer = { fails: new RopewayError(ErrorCode.OFFLINE, "stream", "library", "away") };

  beforeEach(async () => {
    for (const head of [page, {}]) await window.get(head, { headers: FRESH, body: "stored" });
    for (const head of [page, {}]) await window.stored(head);
    phone.isAway = true;
  });

  it.each([
    ["a page", page],
    ["a picture", {}],
  ])("%s is shown as soon as the store is open", async (_, head) => {
    const opening = Promise.withResolvers<void>();
    phone.disk.opening = opening.promise;
    const late = phone.open();
    late.isStuck = true;
    const shown = late.get(head, away);
    for (let second = 0; second < 3; second++) await late.waitForDisk();
    opening.resolve();
    expect(await shown).toMatchObject({ error: null, text: "stored" });
  });

  it("a body is shown as soon as it is read", async () => {
    const read = window.store.read.bind(window.store);
    const waiting = Promise.withResolvers<void>();
    vi.spyOn(window.store, "read").mockImplementation((entry) => waiting.promise.then(() => read(entry)));
    const shown = window.get(page, away);
    for (let second = 0; second < 3; second++) await window.waitForDisk();
    waiting.resolve();
    expect(await shown).toMatchObject({ error: null, text: "stored" });
  });
});

describe("where the disk never answers", () => {
  beforeEach(() => {
    phone = new TestPhone();
    phone.disk.opening = new Promise(() => {});
    window = phone.open();
    window.isStuck = true;
  });

  it("the network does, each time", async () => {
    for (const body of ["first", "second"]) {
      expect((await window.get({}, { headers: FRESH, body })).text).toBe(body);
      await window.get({ method: "POST" }, { body: "done" });
    }
    expect(window.timers.size).toBe(0);
  });

  it("the edge still hears that everything is to go", async () => {
    const cleared = window.get({ method: "DELETE", url: EdgeRequest.SITE_DATA }, { status: 204 });
    await window.waitForDisk();
    await cleared;
    expect(window.lastAsked?.url).toBe(EdgeRequest.SITE_DATA);
  });

  it("a page hears that the link was lost", async () => {
    const fails = new RopewayError(ErrorCode.LINK_LOST, "session", "library", "Cannot reach the edge: try again");
    const failed = window.get({}, { fails });
    await window.waitForDisk();
    expect((await failed).error).toBe(fails);
  });

  it("a response that cannot be read in time is fetched", async () => {
    phone.disk.opening = Promise.resolve();
    window = phone.open();
    await window.get({}, { headers: FRESH, body: "first" });
    await window.stored();
    vi.spyOn(window.store, "read").mockReturnValue(new Promise(() => {}));
    const fetched = window.get({}, { body: "second" });
    await window.waitForDisk();
    expect((await fetched).text).toBe("second");
  });
});
