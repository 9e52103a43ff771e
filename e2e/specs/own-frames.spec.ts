/** What documents of an origin have of one another: each its own functions, cookies and name, as in a direct visit. */
import type { Page } from "@playwright/test";
import { type AppPage, expect, testInOneApp as test } from "../fixtures/browser.ts";
import { contentOf, isApp } from "../fixtures/compare.ts";
import type { TestOrigin } from "../fixtures/test-origin/test-origin.ts";

/**
 * The log of the page, which says by its title that it is whole, and what the origin was asked for since.
 *
 * @param last a request that the page does not wait for, such as a beacon.
 */
async function visit(around: Page | AppPage, origin: TestOrigin, path: string, last?: string): Promise<unknown> {
  origin.forget();
  await around.goto(origin.origin + path);
  const frame = await contentOf(around);
  await expect.poll(() => frame.title(), { timeout: 45_000 }).toBe("done");
  const log = await frame.evaluate("log");
  if (last !== undefined) await expect.poll(() => origin.requests.map(({ url }) => url)).toContain(last);
  return { log, asked: origin.requests.map(({ url }) => url).sort() };
}

const BEACON = "/inner/where?beacon";
const INNER = `<script>
  (async () => {
    const log = [];
    const request = new XMLHttpRequest();
    request.open("GET", "where?xhr");
    await new Promise((resolve) => { request.onload = resolve; request.send(); });
    const answer = await fetch("where?fetch");
    const picture = Object.assign(new Image(), { src: "picture.png" });
    await new Promise((resolve) => { picture.onload = picture.onerror = resolve; });
    const worker = new Worker("worker.js");
    const place = await new Promise((resolve) => { worker.onmessage = ({ data }) => resolve(data); });
    const events = new EventSource("events");
    const told = await new Promise((resolve) => { events.onmessage = resolve; });
    events.close();
    log.push(request.responseURL, request instanceof XMLHttpRequest, answer.url, answer instanceof Response, picture.src,
      picture instanceof Image, picture.ownerDocument === document, picture.complete, worker instanceof Worker, place, told.origin, events.url, told instanceof MessageEvent,
      navigator.sendBeacon("where?beacon"), new WebSocket("ws://127.0.0.1:9/") instanceof WebSocket);
    await fetch("set-cookie");
    log.push(document.cookie, parent.document.cookie);
    document.cookie = "own=1";
    log.push(parent.document.cookie, await (await fetch("cookies")).text());
    parent.told(log);
  })();
</script>`;

function serve(origin: TestOrigin): void {
  origin.page("/inner/page", INNER);
  for (const path of ["/inner/where", "/where"]) origin.route(path, ({ reply }) => reply(200, {}, "here"));
  origin.route("/inner/worker.js", ({ reply }) =>
    reply(200, { "content-type": "text/javascript" }, "postMessage(location.href)"),
  );
  origin.route("/inner/events", ({ reply }) => reply(200, { "content-type": "text/event-stream" }, "data: 1\n\n"));
  origin.route("/inner/set-cookie", ({ reply }) => reply(200, { "set-cookie": "told=1; Path=/" }, ""));
  origin.route("/inner/cookies", ({ request, reply }) =>
    reply(200, { "cache-control": "no-store" }, request.headers.cookie ?? ""),
  );
}

test("a frame that was blank before has functions, objects and cookies of its own", async ({ app, direct, origin }) => {
  serve(origin);
  origin.page(
    "/page",
    `<script>
      window.told = (log) => { window.log = log; document.title = "done"; };
      const frame = document.createElement("iframe");
      document.body.append(frame);
      frame.contentWindow.document.body.append("blank");
      setTimeout(() => { frame.contentDocument; frame.src = "/inner/page"; });
    </script>`,
  );
  origin.page(
    "/parsed",
    `<script>window.told = (log) => { window.log = log; document.title = "done"; };</script>
     <iframe id="frame" src="/inner/page"></iframe><script>frame.contentWindow.document.body.append("blank");</script>`,
  );
  for (const path of ["/page", "/parsed"])
    expect(await visit(app, origin, path, BEACON), path).toEqual(await visit(direct.page, origin, path, BEACON));
});

test("a page does not get back what a blank or srcdoc frame has lost, by saying that a page script begins", async ({
  app,
  origin,
}) => {
  origin.page("/page", "<p>Page</p>");
  await app.goto(`${origin.origin}/page`);
  const content = await app.content();
  const got = await content.evaluate(async () => {
    const seen: unknown[] = [];
    for (const srcdoc of [null, "<p>Written</p>"]) {
      const frame = document.createElement("iframe");
      if (srcdoc !== null) frame.srcdoc = srcdoc;
      const loaded = new Promise((resolve) => {
        frame.onload = resolve;
      });
      document.body.append(frame);
      await loaded;
      const inner = frame.contentDocument?.defaultView as Window & typeof globalThis;
      const { fetch } = inner;
      const script = inner.document.createElement("script");
      script.src = "/.ropeway/page.js";
      const ended = new Promise((resolve) => {
        script.onload = script.onerror = resolve;
      });
      inner.document.body.append(script);
      await ended;
      inner.dispatchEvent(new Event("ropeway-restore"));
      seen.push("serviceWorker" in inner.navigator, inner.fetch === fetch);
    }
    return seen;
  });
  expect(got).toEqual([false, true, false, true]);
});

test("messages between documents of an origin come from the one that sends them", async ({ app, direct, origin }) => {
  const names = `const nameOf = (source) => source === window ? "self" : source === parent ? "parent" : source === parent.frames[0] ? "first" : source === parent.frames[1] ? "second" : String(source);`;
  origin.route("/frame", ({ page, request }) =>
    page(`<script>${names}
      const around = parent, own = window;
      window.postsToItself = () => own.postMessage("to itself, called", "*");
      addEventListener("message", ({ source, origin, data }) => {
        if (/^to itself/.test(data)) parent.postMessage("relayed: " + data + " from " + nameOf(source), "*");
        if (/got it/.test(data)) parent.postMessage("relayed: " + data, "*");
        if (data === "go") parent.frames[0].postMessage("reply", "*");
        if (data === "reply") source.postMessage("${request.query.get("n")} got it from " + nameOf(source) + " " + (origin === location.origin), origin);
      });
      parent.postMessage("direct", "*");
      window.parent.postMessage("own origin", location.origin);
      setTimeout(() => { around.postMessage("kept", "/"); around.postMessage({ kept: 2 }, { targetOrigin: "*" }); postMessage("to itself", "*"); });
    </script>`),
  );
  origin.page(
    "/page",
    `<script>
      const frames = document.getElementsByTagName("iframe");
      const log = [];
      let replies = 0;
      const nameOf = (source) => source === window ? "self" : source === frames[0].contentWindow ? "first" : source === frames[1].contentWindow ? "second" : String(source);
      addEventListener("message", ({ source, data, origin }) => {
        log.push([nameOf(source), data, origin]);
        if (data === "direct") { postMessage("self", "*"); source.postMessage("reply", origin); postMessage("self again", location.origin); }
        if (data === "direct") { const held = source; held.parent.frames[0] && held.postsToItself(); }
        if (data === "direct" && ++replies === 2) frames[1].contentWindow.postMessage("go", "*");
        if (log.length === 19) { log.sort(); document.title = "done"; }
      });
    </script><iframe src="/frame?n=1"></iframe><iframe src="/frame?n=2"></iframe>`,
  );
  const wanted = await visit(direct.page, origin, "/page");
  expect(await visit(app, origin, "/page")).toEqual(wanted);
});

test("pages, srcdoc and written frames hear messages alike, and send links' own referrers", async ({
  app,
  direct,
  origin,
  otherOrigin,
}) => {
  const inner = `<body><script>
    const go = (url, policy) => {
      const frame = Object.assign(document.createElement("iframe"), { name: "n" + Math.random() });
      document.body.append(frame);
      addEventListener("message", ({ data, origin, source, ports }) => {
        if (data.n === url) parent.tell([name, data, origin, source === frame.contentWindow, ports.length]);
      });
      const link = document.body.appendChild(document.createElement("a"));
      Object.assign(link, { href: url + "&p=" + policy, target: frame.name, referrerPolicy: policy }).click();
    };
    addEventListener("message", ({ data }) => { if (data.n === undefined) parent.tell([name, JSON.stringify(data)]); });
    for (const policy of ["", "origin", "no-referrer"])
      for (const site of ["", "${otherOrigin.origin}"]) go(site + "/said?" + policy + site.length, policy);
    const back = Object.assign(document.createElement("iframe"), { src: "${otherOrigin.origin}/back" });
    addEventListener("message", ({ data, source }) => {
      if (data.n === "/said?back") parent.tell([name, data.n, source === back.contentWindow]);
    });
    document.body.append(back);
  </script>`;
  otherOrigin.route("/back", ({ reply }) => reply(302, { location: `${origin.origin}/said?back` }));
  for (const each of [origin, otherOrigin])
    each.route("/said", ({ page, request }) => {
      const site = each === origin ? "" : each.origin;
      const told = { n: site + request.url.split("&")[0], referrer: request.headers.referer ?? "none" };
      const ports = request.url.includes("=origin") ? "[new MessageChannel().port1]" : "[]";
      page(
        `<script>parent.postMessage({ ...${JSON.stringify(told)}, own: document.referrer }, "*", ${ports})</script>`,
      );
    });
  origin.page(
    "/page",
    `<body><script>
      const log = [];
      window.tell = (line) => { log.push(JSON.stringify(line)); if (log.length === 21) { log.sort(); document.title = "done"; } };
      const inner = ${JSON.stringify(inner).replaceAll("</", "<\\/")};
      document.body.append(Object.assign(document.createElement("iframe"), { name: "srcdoc", srcdoc: inner }));
      const written = document.body.appendChild(Object.assign(document.createElement("iframe"), { name: "written" }));
      written.contentDocument.open();
      written.contentDocument.write(inner);
      written.contentDocument.close();
    </script>${inner}`,
  );
  const wanted = await visit(direct.page, origin, "/page");
  expect(await visit(app, origin, "/page")).toEqual(wanted);
});

test("a form is asked for its data once", async ({ app, direct, origin, otherOrigin }) => {
  const received: string[] = [];
  for (const each of [origin, otherOrigin])
    each.route("/form", async ({ body, page }) => {
      received.push(String(await body()));
      page("<p>Received</p>");
    });
  const forms = [origin.origin, otherOrigin.origin].flatMap((target) =>
    ["_self", "frame"].map(
      (name) =>
        `<form method="post" action="${target}/form" target="${name}"><input name="a" value="b"><button>Send</button></form>`,
    ),
  );
  origin.page(
    "/page",
    `${forms.join("")}<iframe name="frame"></iframe><script>
      let times = 0;
      addEventListener("formdata", ({ formData }) => { times += 1; formData.append("times", times + " " + document.forms.length); }, true);
    </script>`,
  );
  const outcomes: string[][] = [];
  for (const around of [direct.page, app]) {
    received.length = 0;
    for (const index of [1, 3, 0, 2]) {
      await around.goto(`${origin.origin}/page`);
      const place = isApp(around) ? around.frame() : around;
      await place.getByRole("button").nth(index).click();
      const inner = index % 2 === 1 ? place.frameLocator("iframe") : place;
      await expect(
        (isApp(around) && index === 3 ? place.frameLocator("iframe") : inner).getByText("Received"),
      ).toBeVisible();
    }
    outcomes.push([...received]);
  }
  expect(outcomes[1]).toEqual(outcomes[0]);
  expect(outcomes[0]).toHaveLength(4);
});
