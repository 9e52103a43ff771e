import { beforeEach, describe, expect, it } from "vitest";
import { ErrorCode, RopewayError } from "../../../shared/errors.ts";
import type { ResponseConsumer } from "../../../shared/http/exchange.ts";
import { headerValue } from "../../../shared/http/head-fields.ts";
import type { HeaderList, RequestHead } from "../../../shared/http/heads.ts";
import { EdgeRequest } from "../../../shared/subprotocol.ts";
import { responseHead } from "../../../shared/testing/http/exchange-rig.ts";
import { navigation, requestHead } from "../../../shared/testing/http/request-heads.ts";
import { settle } from "../../../shared/testing/turns.ts";
import { DEAF, type PhoneRequest } from "../exchange/exchange.ts";
import { IDLE_TIME, LINKS_WARMED, WARMED_TIME, WarmedPages } from "./warmed-pages.ts";

const ORIGIN = "https://a.example";
const PAGE = `${ORIGIN}/`;
const NEXT = `${ORIGIN}/next`;

interface Asked extends PhoneRequest {
  readonly consumer: ResponseConsumer;
  isCancelled: boolean;
}

let asked: Asked[];
let timers: { readonly task: () => void; readonly delay: number }[];
let hasNoCookies: boolean;
let pages: WarmedPages;

/** Asks as a page does. @returns what is left for the edge to answer. */
function ask(head: Partial<RequestHead>, consumer: ResponseConsumer = DEAF): Asked {
  const request = { head: { ...requestHead, ...head }, body: null, push: null };
  pages.source(request, consumer, (passed, watching) => {
    const one: Asked = { ...passed, consumer: watching, isCancelled: false };
    asked.push(one);
    return {
      cancel() {
        one.isCancelled = true;
      },
    };
  });
  return asked.at(-1) as Asked;
}

function end({ consumer }: Asked, headers: HeaderList = [], status = 200): void {
  consumer.onHead({ ...responseHead, status, headers, url: EdgeRequest.WARMED_PAGE });
  consumer.onEnd();
}

function pass(delay: number): Promise<unknown> {
  for (const timer of timers.filter((each) => each.delay === delay)) {
    timers.splice(timers.indexOf(timer), 1);
    timer.task();
  }
  return settle();
}

const warming = () => asked.filter(({ head }) => head.url === EdgeRequest.WARMED_PAGE);
const links = () => warming().map(({ head }) => headerValue(head.headers, "document-url"));
const goTo = (url: string, head: Partial<RequestHead> = {}) => ask({ ...navigation(url), origin: ORIGIN, ...head });

/** Shows the page, and fetches what its link leads to. */
async function warmed(): Promise<void> {
  end(goTo(PAGE));
  pages.warm(PAGE, [NEXT]);
  await pass(IDLE_TIME);
  end(warming().at(-1) as Asked);
  await settle();
}

beforeEach(() => {
  [asked, timers, hasNoCookies] = [[], [], true];
  pages = new WarmedPages({
    ask: (request, consumer) => {
      ask(request.head, consumer);
      const one = asked.at(-1) as Asked;
      return {
        cancel() {
          one.isCancelled = true;
        },
      };
    },
    hasNoCookies: () => hasNoCookies,
    setTimer(task, delay) {
      const timer = { task, delay };
      timers.push(timer);
      return () => void timers.splice(timers.indexOf(timer) >>> 0, 1);
    },
  });
});

it("answers nobody who has signed in: it was fetched as by a stranger", async () => {
  await warmed();
  const signedIn = goTo(NEXT, { headers: [["authorization", "Basic YTpi"]] });
  expect(signedIn.push).toBeNull();
  end(signedIn);
  await warmed();
  expect(goTo(NEXT).push).not.toBeNull();
});

describe("links", () => {
  it("are fetched one after the other when nothing is under way, and no more than a few", async () => {
    const page = goTo(PAGE);
    pages.warm(
      PAGE,
      ["1", "2", "3", "4"].map((name) => PAGE + name),
    );
    await pass(IDLE_TIME);
    expect(links()).toEqual([]);
    end(page);
    for (let count = 1; count <= LINKS_WARMED; count++) {
      await pass(IDLE_TIME);
      expect(links()).toHaveLength(count);
      end(warming().at(-1) as Asked);
      await settle();
    }
    await pass(IDLE_TIME);
    expect(links()).toEqual([`${PAGE}1`, `${PAGE}2`, `${PAGE}3`]);
    expect(warming()[0]?.head).toMatchObject({ credentials: "omit", origin: ORIGIN, topLevelOrigin: ORIGIN });
    expect(pages.stats).toEqual({ pagesWarmed: 3, pagesWarmedUsed: 0 });
  });

  it.each([
    ["https://b.example/x"],
    [`${PAGE}x?id=1`],
    [`${PAGE}#part`],
    [PAGE],
    ["http://a.example/x"],
    ["javascript:void 0"],
    ["nonsense"],
  ])("are left alone that lead to %s", async (link) => {
    end(goTo(PAGE));
    pages.warm(PAGE, [link]);
    await pass(IDLE_TIME);
    expect(links()).toEqual([]);
  });

  it.each([["nofollow"], ["noindex, none"], ["somebot: NoFollow"]])(
    "of a page with X-Robots-Tag %s, too",
    async (tag) => {
      end(goTo(PAGE), [["x-robots-tag", tag]]);
      pages.warm(PAGE, [NEXT]);
      await pass(IDLE_TIME);
      expect(links()).toEqual([]);
    },
  );

  it("of a site that has cookies, or may have, too", async () => {
    hasNoCookies = false;
    end(goTo(PAGE));
    pages.warm(PAGE, [NEXT]);
    await pass(IDLE_TIME);
    expect(links()).toEqual([]);
  });

  it("are named once by a page", async () => {
    await warmed();
    pages.warm(PAGE, [`${PAGE}other`]);
    await pass(IDLE_TIME);
    expect(links()).toEqual([NEXT]);
  });

  it("wait when anything is asked for: what is being fetched is given up, the rest is for later", async () => {
    end(goTo(PAGE));
    pages.warm(PAGE, [NEXT, `${PAGE}other`]);
    await pass(IDLE_TIME);
    const request = ask({ url: `${PAGE}late.png` });
    expect(warming()[0]?.isCancelled).toBe(true);
    await pass(IDLE_TIME);
    expect(links()).toEqual([NEXT]);
    end(request);
    await pass(IDLE_TIME);
    expect(links()).toEqual([NEXT, `${PAGE}other`]);
  });

  it("are forgotten when the person goes on", async () => {
    end(goTo(PAGE));
    pages.warm(PAGE, [NEXT, `${PAGE}other`]);
    await pass(IDLE_TIME);
    end(goTo(`${PAGE}elsewhere`));
    await pass(IDLE_TIME);
    expect(warming()[0]?.isCancelled).toBe(true);
    expect(links()).toEqual([NEXT]);
  });

  it("are left alone by an edge that does not know of them", async () => {
    end(goTo(PAGE));
    pages.warm(PAGE, [NEXT, `${PAGE}other`]);
    await pass(IDLE_TIME);
    warming()[0]?.consumer.onError(new RopewayError(ErrorCode.PROTOCOL_ERROR, "stream", "peer", "No"));
    await settle();
    await pass(IDLE_TIME);
    expect(links()).toEqual([NEXT]);
  });
});

describe("a warmed page", () => {
  it("answers the navigation to it, once", async () => {
    await warmed();
    const { push } = goTo(NEXT);
    const got: string[] = [];
    push?.answer({
      ...DEAF,
      onHead: ({ url }) => got.push(url),
      onEnd: () => got.push("end"),
    });
    await settle();
    expect(got).toEqual([NEXT, "end"]);
    expect(pages.stats).toEqual({ pagesWarmed: 1, pagesWarmedUsed: 1 });
    expect(goTo(NEXT).push).toBeNull();
  });

  it.each<[string, Partial<RequestHead>]>([
    ["by POST", { method: "POST" }],
    ["of another site", { origin: "https://b.example" }],
    ["of a frame in another site", { topLevelOrigin: "https://b.example" }],
    ["of a reload", { cache: "reload" }],
    ["typed", { origin: null }],
  ])("answers none %s", async (_, head) => {
    await warmed();
    expect(goTo(NEXT, head).push).toBeNull();
  });

  it("is not shown where the site may have set cookies since", async () => {
    await warmed();
    hasNoCookies = false;
    expect(goTo(NEXT).push).toBeNull();
  });

  it.each<[string, Partial<RequestHead>, boolean]>([
    ["its site is asked for anything", { url: `${PAGE}login`, method: "POST" }, false],
    ["a host of its site is", { url: "https://api.a.example/x" }, false],
    ["a script sets a cookie", { url: EdgeRequest.SCRIPT_COOKIE, method: "PUT", credentials: "omit" }, false],
    ["another site is asked for something", { url: "https://b.example/x.png" }, true],
    ["its site is asked without credentials", { url: `${PAGE}x`, credentials: "omit" }, true],
  ])("when %s is kept: %s", async (_, head, isKept) => {
    await warmed();
    end(ask(head));
    expect(goTo(NEXT).push !== null).toBe(isKept);
  });

  it("is dropped after a while", async () => {
    await warmed();
    await pass(WARMED_TIME);
    expect(goTo(NEXT).push).toBeNull();
  });

  it("is none where the edge sends nothing", async () => {
    end(goTo(PAGE));
    pages.warm(PAGE, [NEXT]);
    await pass(IDLE_TIME);
    end(warming()[0] as Asked, [], 204);
    await settle();
    expect(goTo(NEXT).push).toBeNull();
    expect(pages.stats.pagesWarmed).toBe(0);
  });
});
