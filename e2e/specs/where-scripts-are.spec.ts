/** Scripts that read where they are: what they log through the app is what they log in a direct visit. */
import { createHash } from "node:crypto";
import type { Frame, Page } from "@playwright/test";
import { expect, testInOneApp as test } from "../fixtures/browser.ts";
import type { TestOrigin } from "../fixtures/test-origin/test-origin.ts";

/** Reads in all forms that scripts have. Runs as it stands, in the page and in its frames. */
const READS = `
  const said = (name, value) => log.push(name + ": " + value);
  said("href", location.href);
  for (const part of ["protocol", "host", "hostname", "port", "pathname", "search", "hash", "origin"]) said(part, location[part]);
  said("text", String(location) + " " + location + " " + window.location.toString());
  said("kind", Object.prototype.toString.call(location) + (location instanceof Location));
  said("same", [window.location === location, document.location === location, self.location === globalThis["location"]]);
  said("document", [document.URL === location.href, document.location.host]);
  const { location: taken, top: upper } = window;
  said("taken apart", [taken.host, taken === location, upper === top]);
  const { location: ofDocument } = document;
  said("of document", ofDocument.pathname);
  const kept = { location, top };
  const { location: own, fetch: taker } = window;
  said("functions", [own.host, taker === window.fetch, String(() => location.host), String(Function.prototype.toString)]);
  said("kept", [kept.location.host, window?.location?.host, typeof location, typeof top]);
  said("local", ((location) => location.host)({ host: "local" }));
  said("around", [self === top, top === parent, parent === self, window.top === window.self]);
  said("ancestors", [...location.ancestorOrigins].length + " " + location.ancestorOrigins.contains("x"));
  const made = (name, members) => Object.assign(document.createElement(name), members);
  const link = made("a", { href: "/x?y#z" });
  said("link", [link.href, link.origin, link.host, link.hostname, link.pathname, link.search]);
  said("links", [link.host === location.host, made("a", { href: location.href }).href === location.href, made("area", { href: "b" }).href]);
  said("far link", [made("a", { href: "http://far.example:81/x" }).host, made("a", {}).href, made("a", {}).host, made("a", { href: "mailto:a@b" }).origin]);
  said("base", [document.baseURI, document.documentElement.baseURI]);
  said("elements", [made("img", { src: "data:," }).src, made("form", { action: "/f" }).action, made("form", {}).action,
    made("button", { formAction: "f" }).formAction, made("script", { src: "/s" }).src, made("link", { href: "/l" }).href,
    made("source", { src: "/s" }).src, made("video", { poster: "/p" }).poster, made("input", { src: "/i" }).src]);
  said("this script", document.currentScript?.src);
  said("text of links", [String(link), link + "", link.href === link.toString()]);
  const [loaded] = performance.getEntriesByType("navigation");
  said("loaded", [loaded.name, loaded.toJSON().name, performance.getEntriesByName(location.href.split("#")[0]).includes(loaded)]);
  performance.mark("a mark");
  said("mark", [performance.getEntriesByName("a mark")[0].name, Object.keys(performance.getEntriesByName("a mark")[0].toJSON())]);
  said("request", new Request("/r").url);
  said("constructors", [Request, MessageEvent, IntersectionObserver, Worker, SharedWorker, WebSocket].map((each) => each.prototype.constructor === each));
  said("box", document.documentElement.getBoundingClientRect().top);
  try { said("link", new URL("other", location).href + new URL("?q", location.href).href); } catch (error) { said("link", error); }
`;

const MORE = `<script src="/read.js"></script><script type="module" src="/module.js"></script>`;

function serve(origin: TestOrigin, otherOrigin: TestOrigin): void {
  const script = { "content-type": "text/javascript" };
  for (const each of [origin, otherOrigin]) {
    each.route("/read.js", ({ reply }) => reply(200, script, `"use strict"; { ${READS} }`));
    each.route("/module.js", ({ reply }) =>
      reply(
        200,
        script,
        `import "./imported.js"; { ${READS} } const request = new XMLHttpRequest(); request.open("GET", "/inner?xhr");
      const violated = () => new Promise((resolve) => {
        addEventListener("securitypolicyviolation", resolve, { once: true });
        const policy = { httpEquiv: "Content-Security-Policy", content: "img-src 'none'" };
        document.head.append(Object.assign(document.createElement("meta"), policy));
        new Image().src = "/blocked.png";
      });
      request.onload = async () => {
        const { href } = new URL("/inner?xhr", location.href);
        const entries = performance.getEntriesByName(href, "resource");
        log.push(...entries.map((each) => [each.name, each.toJSON().name, each.toJSON().initiatorType].join()));
        log.push(performance.getEntriesByType("resource").filter(({ name }) => name === href).length);
        log.push(request.responseURL, import.meta.url, (await fetch("/inner?fetched")).url);
        const { blockedURI, documentURI, sourceFile } = await violated();
        location.hash = "later";
        const { oldURL, newURL } = await new Promise((resolve) => addEventListener("hashchange", resolve));
        log.push(blockedURI, documentURI, sourceFile, oldURL, newURL, "done");
      };
      request.send();`,
      ),
    );
    each.route("/imported.js", ({ reply }) =>
      reply(200, script, `export {}; log.push("imported at " + location.pathname);`),
    );
    each.page("/inner", `<script>const log = []; { ${READS} }</script>${MORE}`);
  }
  origin.page(
    "/page",
    `<script>const log = []; { ${READS} }</script>${MORE}
     <button onclick="log.push(&quot;shared &quot; + encodeURIComponent(location.href), self == top); return false">Share</button>
     <button onclick=log.push("unquoted",location.href,self==top)>Unquoted</button>
     <a href="javascript:void log.push('link', location.host, &quot;of &quot; + document.location)">Script</a>
     <iframe name="own" src="/inner?own#f"></iframe><iframe name="other" src="${otherOrigin.origin}/inner?other"></iframe>`,
  );
}

test("scripts of pages, frames and modules read the real site, as in a direct visit", async ({
  app,
  direct,
  origin,
  otherOrigin,
}) => {
  serve(origin, otherOrigin);
  const url = `${origin.origin}/page?a=%C3%BC#part`;
  const logOf = async (frame: Page | Frame): Promise<string[]> => {
    await frame.waitForFunction("log.includes('done')");
    return (await frame.evaluate("log")) as string[];
  };
  await direct.page.goto(url);
  await app.goto(url);
  const content = await app.content();
  for (const page of [direct.page, content]) {
    await logOf(page);
    for (const name of ["Share", "Unquoted", "Script"])
      await page.getByText(name, { exact: true }).evaluate((element: HTMLElement) => element.click());
    await page.waitForFunction("log.includes('link')");
  }
  const wanted = await logOf(direct.page);
  expect(wanted).toContain(`shared ${encodeURIComponent(url.replace("#part", "#later"))}`);
  expect(wanted).toContain([`${origin.origin}/inner?xhr`, `${origin.origin}/inner?xhr`, "xmlhttprequest"].join());
  expect(wanted.length).toBeGreaterThan(60);
  expect(await logOf(content)).toEqual(wanted);
  for (const name of ["inner?own", "inner?other"]) {
    const ofDirect = direct.page.frames().find((frame) => frame.url().includes(name));
    const ofApp = app.page.frames().find((frame) => frame.url().includes(name) && frame !== content);
    expect(await logOf(ofApp as Frame), name).toEqual(await logOf(ofDirect as Frame));
  }
});

test("a page that hides itself in frames is whole, names itself to others, and reads its scripts as they came", async ({
  app,
  direct,
  origin,
  otherOrigin,
}) => {
  const text = "window.sum = location.host; // read";
  const digest = createHash("sha256").update(text).digest("base64");
  origin.route("/sum.js", ({ reply }) =>
    reply(200, { "content-type": "text/javascript", "cache-control": "max-age=60" }, text),
  );
  origin.page(
    "/",
    `<style>body { display: none }</style><p>Shown</p><form action="${otherOrigin.origin}/form"><input name="back"><button>Sign in</button></form>
     <script>
       if (self === top) document.querySelector("style").remove(); else top.location = self.location;
       document.forms[0].back.value = location.origin + location.pathname;
     </script>
     <script src="/sum.js"></script><script src="/sum.js?" integrity="sha256-${digest}"></script>`,
  );
  const outcomes: unknown[] = [];
  for (const [around, go] of [
    [direct.page, (url: string) => direct.page.goto(url)],
    [app.frame(), (url: string) => app.goto(url)],
  ] as const) {
    await go(`${origin.origin}/`);
    await expect(around.getByText("Shown")).toBeVisible();
    const frame = around === direct.page ? direct.page : await app.content();
    const read = await frame.evaluate(async () => [
      await (await fetch("/sum.js")).text(),
      document.scripts[2]?.integrity !== "",
    ]);
    await around.getByRole("button").click();
    outcomes.push([read, JSON.parse((await around.locator("pre").textContent()) ?? "")]);
  }
  expect(outcomes[1]).toEqual(outcomes[0]);
  expect(JSON.stringify(outcomes[0])).toContain(`${origin.origin}/`);
  expect(JSON.stringify(outcomes[0])).toContain(text);
});

test("workers read the real site, as in a direct visit", async ({ app, direct, origin }) => {
  const script = { "content-type": "text/javascript" };
  const say = `const asked = (path) => new Promise((resolve) => {
      const request = new XMLHttpRequest();
      request.onloadend = () => resolve([request.responseURL, ...performance.getEntriesByName(new URL(path, location.href).href)
        .flatMap((each) => [each.name, each.toJSON().name, performance.getEntriesByType("resource").includes(each)])]);
      request.open("GET", path);
      request.send();
    });
    const said = [...["href", "origin", "host", "pathname", "search", "hash"].map((part) => location[part]),
    String(location), Object.prototype.toString.call(location), self.location === location, location instanceof WorkerLocation];`;
  origin.route("/worker.js", ({ reply }) =>
    reply(200, script, `${say} asked("/asked?worker").then((entries) => postMessage([said, entries]));`),
  );
  origin.route("/shared.js", ({ reply }) =>
    reply(
      200,
      script,
      `${say} onconnect = ({ ports }) => asked("/asked?shared").then((entries) => ports[0].postMessage([said, entries]));`,
    ),
  );
  origin.route("/asked", ({ reply }) => reply(200, { "content-type": "text/plain" }, "asked"));
  origin.page("/", "<p>Page</p>");
  const run = (frame: Page | Frame): Promise<unknown> =>
    frame.evaluate(async () => {
      const first = (target: Worker | MessagePort) =>
        new Promise((resolve) => {
          target.onmessage = ({ data }: MessageEvent) => resolve(data);
        });
      return [
        await first(new Worker("/worker.js?a#b")),
        await first(new Worker("/worker.js?module", { type: "module" })),
        await first(new SharedWorker("/shared.js").port),
      ];
    });
  await direct.page.goto(`${origin.origin}/`);
  await app.goto(`${origin.origin}/`);
  const wanted = await run(direct.page);
  for (const name of ["worker", "shared"])
    expect(JSON.stringify(wanted).split(`"${origin.origin}/asked?${name}"`).length).toBeGreaterThan(3);
  expect(await run(await app.content())).toEqual(wanted);
});

test("nothing that scripts send names the slot, signed as they read it", async ({ app, origin, otherOrigin }) => {
  const send = `
    const { href, host } = location;
    const signed = JSON.stringify([href, host, document.URL, origin, top.location.href, document.baseURI, new Error().stack ? location.origin : ""]);
    const sum = [...signed].reduce((total, { length }, at) => total + signed.charCodeAt(at) * (at + length), 0);
    const text = { method: "POST", headers: { "content-type": "text/plain", "x-from": href }, body: sum + signed };
    const all = ["", "OTHER"].flatMap((target) => [
      fetch(target + "/echo?" + encodeURIComponent(href), text),
      fetch(target + "/echo", { method: "POST", body: new URLSearchParams({ href, host }) }),
    ]);
    navigator.sendBeacon("/echo?beacon", signed);
    new Image().src = "OTHER/echo?image&from=" + encodeURIComponent(document.location);
    Promise.allSettled(all).then(() => document.title = "sent");`;
  for (const each of [origin, otherOrigin]) each.page("/", "<p>Page</p>");
  const bodies: string[] = [];
  for (const each of [origin, otherOrigin])
    each.route("/echo", async ({ body, reply }) => {
      bodies.push(String(await body()));
      reply(200, { "access-control-allow-origin": "*", "access-control-allow-headers": "*" }, "");
    });
  origin.page("/page", `<p>Page</p><script>${send.replaceAll("OTHER", otherOrigin.origin)}</script>`);
  await app.goto(`${origin.origin}/page?a=1`);
  const content = await app.content();
  await expect.poll(() => content.title()).toBe("sent");
  await otherOrigin.requestTo("/echo");
  await expect.poll(() => origin.requests.some(({ url }) => url.includes("beacon"))).toBe(true);
  const { host } = new URL(content.url());
  const [name = ""] = host.split(".");
  const heads = [origin, otherOrigin].flatMap(({ requests }) => requests.map((each) => JSON.stringify(each)));
  const seen = [...heads, ...bodies];
  expect(seen.length).toBeGreaterThan(6);
  expect(seen.filter((text) => text.includes(name) || text.includes("ropeway"))).toEqual([]);
  const signed = bodies.flatMap((body) => /^(\d+)(\[.*)$/.exec(body) ?? []);
  expect(signed).toHaveLength(6);
  for (const [sum, text = ""] of [signed.slice(1, 3), signed.slice(4)])
    expect([...text].reduce((total, _, at) => total + text.charCodeAt(at) * (at + 1), 0)).toBe(Number(sum));
});

test("stacks of errors and their sources tell the real site, as in a direct visit", async ({ app, direct, origin }) => {
  const script = { "content-type": "text/javascript" };
  // Behind a first line, which in workers has our own script, too.
  const stacks = `
    const stacks = {};
    class Named extends TypeError { name = "Named"; }
    stacks.thrown = (() => { try { null.x } catch (error) { return error.stack; } })();
    stacks.named = new Named("why").stack;
    const changed = new Error("why"); changed.name = "Changed"; stacks.changed = changed.stack;
    const captured = {}; Error.captureStackTrace(captured); stacks.captured = captured.stack;
    stacks.nameless = (() => { const error = new Error(); Object.defineProperty(error, "name", { get() { throw 1; } }); return error.stack; })();
    stacks.evaluated = eval("new Error('evaluated').stack");
    stacks.called = [1].map(function callback() { return new Error().stack; })[0];
    const native = Error.prepareStackTrace;
    Error.prepareStackTrace = (error, frames) => [String(error), frames.map((each) =>
      [each.getFileName(), each.getScriptNameOrSourceURL(), each.getLineNumber(), each.getFunctionName(), String(each), \`\${each}\`])];
    stacks.own = new Error("own").stack;
    const outer = Error.prepareStackTrace;
    Error.prepareStackTrace = (...args) => outer(...args).concat("outer");
    stacks.outer = new Error("outer").stack;
    Error.prepareStackTrace = native;
    stacks.back = new Error("back").stack;
    Error.prepareStackTrace = undefined;
    stacks.none = new Error("none").stack;`;
  origin.route("/worker.js", ({ reply }) =>
    reply(
      200,
      script,
      `\n${stacks}
      stacks.kept = [onerror, ((handler) => (self.onerror = handler) === self.onerror)(() => true)];
      self.onerror = function (message, ...told) { postMessage([stacks, String(message), told.slice(0, 3).join(), told[3].stack, this === self]); return true; };
      setTimeout(function late() { throw new Error("late"); });`,
    ),
  );
  origin.route("/script.js", ({ reply }) =>
    reply(
      200,
      script,
      `\n${stacks}
      const log = [stacks];
      const handler = function (...told) { log.push(["handler", ...told.slice(0, 4), told[4].stack, told.length, this === window]); return true; };
      log.push([window.onerror, (window.onerror = handler) === window.onerror, "onerror" in window]);
      addEventListener("error", ({ message, filename, lineno, colno }) => log.push(["event", message, filename, lineno, colno]));
      addEventListener("unhandledrejection", ({ reason }) => log.push(["rejection", reason.stack]));
      setTimeout(function late() { throw new Error("late"); });
      setTimeout(() => { onerror = 5; log.push([window.onerror]); onerror = null; Promise.reject(new Error("rejected")); }, 100);
      fetch("/none", { method: "bad method" }).catch((error) => log.push(["fetch", error.name]));
      log.push(String(Object.assign(document.createElement("area"), { href: "/area" })));
      new PerformanceObserver((list, observer) => {
        if (list.getEntriesByName(new URL("/script.js", location).href).length === 0) return;
        observer.disconnect();
        log.push("observed");
      }).observe({ type: "resource", buffered: true });
      new Worker("/worker.js").onmessage = ({ data }) => log.push("worker", data);
      setTimeout(() => log.push("done"), 1_000);`,
    ),
  );
  origin.page("/", `<p>Page</p>\n<script src="/script.js"></script>`);
  const logOf = async (frame: Page | Frame): Promise<unknown[]> => {
    await frame.waitForFunction("['done', 'worker', 'observed'].every((each) => log.includes(each))");
    // Words of the two visits come in any order.
    return ((await frame.evaluate("log")) as unknown[]).map((each) => JSON.stringify(each)).sort();
  };
  await direct.page.goto(`${origin.origin}/`);
  await app.goto(`${origin.origin}/`);
  const wanted = await logOf(direct.page);
  expect(wanted.join().split(`${origin.origin}/script.js:`).length).toBeGreaterThan(15);
  expect(await logOf(await app.content())).toEqual(wanted);
});
