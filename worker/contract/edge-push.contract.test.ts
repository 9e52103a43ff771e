/** What every edge pushes, and how often its origins hear of it. */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RunningEdge, startEdge } from "../../scripts/edge-process.ts";
import { ErrorCode } from "../../shared/errors.ts";
import { knownUrls } from "../../shared/http/phone-fields.ts";
import { until } from "../testing/contract.ts";
import { EDGES, pairPhone, TestPhone } from "../testing/test-phone.ts";
import { startLocalOrigin } from "../upstream/testing/local-origin.ts";
import { EXCHANGES_AWAITING_HEAD } from "../workerd/fetch-workerd.ts";

type Listener = (request: IncomingMessage, response: ServerResponse) => void;

describe.each(EDGES)("an edge on %s over %s", (runtime, road) => {
  const closers: (() => unknown)[] = [];
  let edge: RunningEdge;
  let phone: TestPhone;

  beforeAll(async () => {
    edge = await startEdge({ runtime, port: 0, allowPrivate: true, log: () => {} });
    closers.push(() => edge.close());
  });
  afterAll(() => Promise.all(closers.map((close) => close())));

  async function freshPhone(): Promise<void> {
    phone = new TestPhone(edge.url, await pairPhone(edge.url, edge.accessKey), { road });
    await phone.connect();
    closers.push(() => phone.close());
    phone.askForPushes();
  }

  async function originOf(listener: Listener, ip?: string): Promise<string> {
    const { origin, close } = await startLocalOrigin(listener, ip === undefined ? {} : { ip });
    closers.push(close);
    return origin;
  }

  it("pushes what a document names, each asked for once, with what a browser would say", async () => {
    await freshPhone();
    const count = 150;
    const seen = new Map<string, IncomingHttpHeaders[]>();
    const listener: Listener = ({ url = "", headers }, response) => {
      seen.set(url, [...(seen.get(url) ?? []), headers]);
      if (url === "/account") return response.writeHead(200, { "content-type": "text/html" }).end("<p>4711");
      if (url !== "/page") return response.writeHead(200, { "content-type": "image/png" }).end(`GIF89a ${url}`);
      const images = Array.from({ length: count }, (_, index) => `<img src="/${index}.png">`).join("");
      response.writeHead(200, { "content-type": "text/html", "set-cookie": "a=1" });
      return response.end(`<!doctype html>${images}<img src="${other}/other.png"><img src="${other}/account">`);
    };
    const other = await originOf(listener, "127.0.0.7");
    const origin = await originOf(listener);
    const { text } = await phone.fetch(`${origin}/page`);
    // They were announced before the document's last byte.
    expect(phone.pushes).toHaveLength(count + 2);
    // Of another origin nobody gets a document, asked for or not.
    await expect(phone.pushes.pop()?.response).rejects.toMatchObject({ code: ErrorCode.CORS_DENIED });
    expect(text).toContain("/149.png");
    const answers = await Promise.all(phone.pushes.map(({ response }) => response));
    expect(answers.map((answer) => answer.text).sort()).toEqual(
      [...Array.from({ length: count }, (_, index) => `GIF89a /${index}.png`), "GIF89a /other.png"].sort(),
    );
    expect([...seen.values()].filter((requests) => requests.length !== 1)).toEqual([]);
    expect(seen.get("/0.png")?.[0]).toMatchObject({
      referer: `${origin}/page`,
      cookie: "a=1",
      "user-agent": "TestPhone/1",
      "accept-language": "en",
      "sec-fetch-dest": "image",
      "sec-fetch-mode": "no-cors",
      "sec-fetch-site": "same-origin",
      accept: expect.stringContaining("image/avif"),
    });
    const [foreign] = seen.get("/other.png") ?? [];
    expect(foreign).toMatchObject({ referer: `${origin}/`, "sec-fetch-site": "cross-site" });
    expect(foreign).not.toHaveProperty("cookie");
  });

  it("pushes what the phone has learned of the page, with the cookies that the document sets, and tells nobody", async () => {
    await freshPhone();
    const seen: [string, IncomingHttpHeaders][] = [];
    const origin = await originOf(({ url = "", headers }, response) => {
      seen.push([url, headers]);
      if (url !== "/page") return response.writeHead(200, { "content-type": "application/json" }).end("[7]");
      response.writeHead(200, {
        "content-type": "text/html",
        "set-cookie": "visit=2",
        "content-security-policy": "connect-src 'self'",
      });
      return response.end("<!doctype html><title>Page</title><script>later()</script>");
    });
    const learned = '[["","cors","same-origin","application/json","/api","https://elsewhere.example/api"]]';
    await phone.fetch(`${origin}/page`, { learned });
    await until(() => phone.pushes.length === 1);
    expect((await phone.pushes[0]?.response)?.text).toBe("[7]");
    expect(phone.pushes[0]?.request).toMatchObject({ url: `${origin}/api`, headers: [["accept", "application/json"]] });
    expect(seen.map(([url]) => url)).toEqual(["/page", "/api"]);
    expect(Object.keys(seen[0]?.[1] ?? {}).filter((name) => name.includes("ropeway"))).toEqual([]);
    expect(seen[1]?.[1]).toMatchObject({
      cookie: "visit=2",
      accept: "application/json",
      referer: `${origin}/page`,
      "sec-fetch-mode": "cors",
      "sec-fetch-site": "same-origin",
    });
  });

  it("pushes what the phone has learned of a page that has not changed", async () => {
    await freshPhone();
    const origin = await originOf(({ url, headers }, response) => {
      if (url === "/api") return response.writeHead(200, { "content-type": "application/json" }).end("[7]");
      return response.writeHead(headers["if-none-match"] === '"1"' ? 304 : 500, { etag: '"1"' }).end();
    });
    const learned = '[["","cors","same-origin","application/json","/api"]]';
    const { head } = await phone.fetch(`${origin}/page`, { learned, headers: [["if-none-match", '"1"']] });
    expect(head.status).toBe(304);
    expect((await phone.pushes[0]?.response)?.text).toBe("[7]");
  });

  it("asks for what the phone's browser knows, and answers its own request for it", async () => {
    await freshPhone();
    const accept = "image/webp,*/*;q=0.5";
    phone.askForPushes({ image: accept });
    const asked: (string | undefined)[] = [];
    const picture = Promise.withResolvers<void>();
    const origin = await originOf(({ url = "", headers }, response) => {
      const isPage = url === "/page";
      if (!isPage) asked.push(headers.accept);
      response.writeHead(200, { "content-type": isPage ? "text/html" : "image/png" });
      if (isPage) return response.end('<!doctype html><img src="/picture">');
      void picture.promise.then(() => response.end("the picture"));
    });
    await phone.fetch(`${origin}/page`);
    await until(() => phone.pushes.length === 1 && asked.length === 1);
    expect(phone.pushes[0]?.request.headers).toEqual([["accept", accept]]);
    const own = phone.fetch(`${origin}/picture`, { ...phone.pushes[0]?.request });
    await expect(phone.pushes[0]?.response).rejects.toMatchObject({ code: ErrorCode.REFUSED_STREAM });
    picture.resolve();
    expect([(await own).text, asked]).toEqual(["the picture", [accept]]);
  });

  it("answers a request that overtook its announcement with the push's response: the origin is asked once", async () => {
    await freshPhone();
    const asked: string[] = [];
    const [document, picture] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const origin = await originOf(({ url = "" }, response) => {
      asked.push(url);
      const isPage = url === "/page";
      const type = isPage ? "text/html" : "image/png";
      response.writeHead(200, { "content-type": type, "cache-control": "private, max-age=60" });
      if (isPage) response.write(`<!doctype html><img src="/picture">${" ".repeat(4_000)}`);
      void (isPage ? document : picture).promise.then(() => response.end(isPage ? "" : "the picture"));
    });
    const page = phone.fetch(`${origin}/page`);
    await until(() => phone.pushes.length === 1 && asked.length === 2);
    const own = phone.fetch(`${origin}/picture`, {
      destination: "image",
      mode: "no-cors",
      credentials: "include",
      origin,
      topLevelOrigin: origin,
    });
    await expect(phone.pushes[0]?.response).rejects.toMatchObject({ code: ErrorCode.REFUSED_STREAM });
    picture.resolve();
    expect((await own).text).toBe("the picture");
    document.resolve();
    await page;
    // The phone says that it has it now.
    await phone.fetch(`${origin}/page`, { known: knownUrls([`${origin}/picture`]) });
    expect([asked, phone.pushes.length]).toEqual([["/page", "/picture", "/page"], 1]);
  });

  it("stops with its document, and when the phone does not want it", async () => {
    await freshPhone();
    let [waiting, closed] = [0, 0];
    const count = EXCHANGES_AWAITING_HEAD * 2;
    const origin = await originOf(({ url }, response) => {
      if (url === "/page") {
        const images = Array.from({ length: count }, (_, index) => `<img src="/${index}">`).join("");
        response.writeHead(200, { "content-type": "text/html" }).write(`<!doctype html>${images}${" ".repeat(4_000)}`);
        return;
      }
      waiting += 1;
      response.on("close", () => {
        closed += 1;
      });
    });
    const document = await phone.start(`${origin}/page`);
    await until(() => waiting === count && phone.pushes.length === count);
    phone.pushes[0]?.cancel();
    await until(() => closed === 1);
    document.cancel();
    await until(() => closed === count);
  });

  it("does not push for a phone that has not asked for it", async () => {
    const silent = new TestPhone(edge.url, await pairPhone(edge.url, edge.accessKey), { road });
    await silent.connect();
    closers.push(() => silent.close());
    const asked: string[] = [];
    const origin = await originOf(({ url = "" }, response) => {
      asked.push(url);
      response.writeHead(200, { "content-type": "text/html" }).end("<img src=/picture>");
    });
    await silent.fetch(origin);
    await silent.fetch(origin);
    expect([asked, silent.pushes]).toEqual([["/", "/"], []]);
  });
});
