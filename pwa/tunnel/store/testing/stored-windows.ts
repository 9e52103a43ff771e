/** Windows of the app that share a store, and an edge that answers them as the test says. */
import { RopewayError } from "../../../../shared/errors.ts";
import type { ClientExchange, ResponseConsumer } from "../../../../shared/http/exchange.ts";
import type { HeaderList, RequestHead, ResponseHead } from "../../../../shared/http/heads.ts";
import { ConsumerLog } from "../../../../shared/testing/http/exchange-rig.ts";
import { requestHead } from "../../../../shared/testing/http/request-heads.ts";
import { type Ask, type PhoneRequest, seenBy, type Tap } from "../../exchange/exchange.ts";
import type { ResponseStore } from "../database/response-store.ts";
import { StoredDictionaries } from "../exchanges/named-bodies.ts";
import { isStoredExchange, type StoredExchange } from "../exchanges/stored-exchange.ts";
import { DISK_TIME, FORGETTING_TIME, type StorePlatform } from "../store.ts";
import { StoredSource } from "../stored-source.ts";
import { FakeDisk } from "./fake-disk.ts";
import { turns } from "./stored-bodies.ts";

/** Bytes of a body that come at a time. */
const CHUNK = 64 * 1024;

export const SITE = "https://a.example";
export const FRESH: HeaderList = [["cache-control", "max-age=60"]];
export const STALE: HeaderList = [
  ["cache-control", "max-age=0"],
  ["etag", '"1"'],
];

export interface OriginAnswer extends Partial<ResponseHead> {
  readonly body?: string;
  readonly fails?: RopewayError;
  /** After the head and the body. */
  readonly breaksOff?: RopewayError;
  /** What the head waits for. */
  readonly until?: Promise<void>;
}

export const picture: RequestHead = {
  ...requestHead,
  url: `${SITE}/x.png`,
  destination: "image",
  mode: "no-cors",
  credentials: "include",
  referrer: `${SITE}/`,
};
export const page: RequestHead = {
  ...picture,
  url: `${SITE}/`,
  destination: "document",
  mode: "navigate",
  origin: null,
};

/** A phone on which windows of the app share a disk. */
export class TestPhone {
  readonly disk = new FakeDisk(isStoredExchange);
  readonly windows: TestWindow[] = [];
  time = Date.UTC(2026, 0, 1);
  /** Of the link. */
  isAway = false;
  namesLearned = true;
  namesBodies = true;
  savesData = false;
  acceptLanguage = "en";

  /** @param takesDictionaries what the edge sends may be coded against what is stored. */
  open(takesDictionaries = false): TestWindow {
    const window = new TestWindow(this, takesDictionaries);
    this.windows.push(window);
    return window;
  }
}

/** A window of the app, with an edge that answers as the test says. */
export class TestWindow {
  readonly asked: RequestHead[] = [];
  readonly source: StoredSource;
  readonly store: ResponseStore<StoredExchange>;
  /** Origins that pages may have changed. */
  readonly changes: (string | null)[] = [];
  /** URLs of pages shown as they were stored, and how long ago that was. */
  readonly pages: string[] = [];
  /** Whether the database never opens. */
  isStuck = false;
  readonly timers = new Set<() => void>();
  /** What nobody waits for. */
  readonly later = new Set<() => void>();
  /** One for each request that follows, the last for all. */
  #answers: OriginAnswer[] = [];

  constructor(phone: TestPhone, takesDictionaries: boolean) {
    this.store = phone.disk.open({
      bodyBytes: 2_000_000,
      bytes: 16_000_000,
      blockBytes: 256 * 1024,
      backlogBytes: 8_000_000,
    });
    const platform: StorePlatform = {
      now: () => phone.time,
      setTimer: (task, delay) => {
        const timers = [DISK_TIME, FORGETTING_TIME].includes(delay) ? this.timers : this.later;
        timers.add(task);
        return () => void timers.delete(task);
      },
      isAway: () => phone.isAway,
      savesData: () => phone.savesData,
      acceptLanguage: () => phone.acceptLanguage,
      namesLearned: () => phone.namesLearned,
      namesBodies: () => phone.namesBodies,
      onChange: (origin) => void this.changes.push(origin),
      onDictionaryKey: () => {},
      failure: (code, message) => new RopewayError(code, "stream", "library", message),
      onNewerPage: (url) => void this.pages.push(`newer ${url}`),
      onStoredPage: ({ url, storedAt }) => void this.pages.push(`${url} ${phone.time - storedAt}`),
    };
    const dictionaries = new StoredDictionaries(this.store, () => import("../../coding/dcz-chunk.ts"));
    dictionaries.isOffered = takesDictionaries;
    const tellCookies = (urls: readonly string[]): void => {
      for (const other of phone.windows) if (other !== this) other.source.cookiesChanged(urls);
    };
    this.source = new StoredSource(this.store, platform, tellCookies, takesDictionaries ? dictionaries : null);
  }

  readonly #edge: Ask = ({ head, taps = [] }, page) => {
    let isOver = false;
    const end: Tap = { onOver: () => (isOver = true) };
    const consumer = seenBy([...taps, end], page);
    this.asked.push(head);
    const [next = {}] = this.#answers.length > 1 ? this.#answers.splice(0, 1) : this.#answers;
    const { body = "", fails, breaksOff, until, ...answer } = next;
    let isCancelled = false;
    const run = async (): Promise<void> => {
      await turns(1);
      await until;
      if (isCancelled) return;
      if (fails !== undefined) return consumer.onError(fails);
      consumer.onHead({
        status: 200,
        headers: [],
        url: head.url,
        redirected: false,
        coding: "identity",
        scriptCookies: [],
        ...answer,
      });
      for (let at = 0; at < body.length && !isCancelled; at += CHUNK) {
        await consumer.onBody(new TextEncoder().encode(body.slice(at, at + CHUNK)));
        await turns(4);
      }
      if (isCancelled) return;
      if (breaksOff !== undefined) consumer.onError(breaksOff);
      else consumer.onEnd();
    };
    void run();
    return {
      cancel: () => {
        isCancelled = true;
        if (!isOver) for (const tap of taps) tap.onOver?.("cancelled");
        isOver = true;
      },
    };
  };

  begin(
    change: Partial<RequestHead>,
    consumer: ResponseConsumer,
    answers: OriginAnswer | OriginAnswer[],
    push: PhoneRequest["push"] = null,
  ): ClientExchange {
    this.#answers = Array.isArray(answers) ? answers : [answers];
    return this.source.source({ head: { ...picture, ...change }, body: null, push }, consumer, this.#edge);
  }

  /** @returns what the page gets, and whether the edge was asked. */
  async get(
    change: Partial<RequestHead> = {},
    answers: OriginAnswer | OriginAnswer[] = {},
    push: PhoneRequest["push"] = null,
  ): Promise<ConsumerLog & { isAsked: boolean }> {
    if (!this.isStuck) await this.store.opened;
    const before = this.asked.length;
    const log = new ConsumerLog();
    const consumer: ResponseConsumer = {
      onHead: (head) => log.onHead(head),
      onBody: (chunk) => log.onBody(structuredClone(chunk, { transfer: [chunk.buffer] })),
      onEnd: () => log.onEnd(),
      onError: (error) => log.onError(error),
    };
    this.begin(change, consumer, answers, push);
    await log.over;
    return Object.assign(log, { isAsked: this.asked.length > before });
  }

  /** Waits until what was answered is stored, for other windows too. */
  async stored(change: Partial<RequestHead> = {}): Promise<void> {
    await this.get({ ...change, cache: "only-if-cached" });
  }

  /** A second passes as soon as somebody waits for the disk. */
  async waitForDisk(): Promise<void> {
    while (this.timers.size === 0) await turns(1);
    const tasks = [...this.timers];
    this.timers.clear();
    for (const task of tasks) task();
  }

  get lastAsked(): RequestHead | undefined {
    return this.asked.at(-1);
  }
}
