/** Addresses of a page's own origin, in full and relative: both mean the same, as in a direct visit. */
import type { Frame, Page } from "@playwright/test";
import type { AppPage } from "../fixtures/browser.ts";
import { expect, testInOneApp as test } from "../fixtures/browser.ts";
import type { TestOrigin } from "../fixtures/test-origin/test-origin.ts";

const SCRIPT = { "content-type": "text/javascript", "cache-control": "max-age=60" };
const SVG = `<svg xmlns="http://www.w3.org/2000/svg"><symbol id="s" viewBox="0 0 1 1"><rect width="9" height="9"/></symbol>
<filter id="f"><feFlood flood-color="red"/></filter><clipPath id="c"><rect width="1" height="1"/></clipPath></svg>`;

/** Each probe's outcome, or its error, or that it gave none. */
const RUN = `
  const log = [];
  const first = (target, names) => new Promise((resolve) => { for (const name of names) target.addEventListener(name, (event) => resolve(event.type === "message" ? event.data : event.type), { once: true }); target.start?.(); });
  const run = async (probes) => {
    for (const [name, probe] of Object.entries(probes)) {
      const outcome = await Promise.race([Promise.resolve().then(probe).catch((error) => error.name), new Promise((resolve) => setTimeout(resolve, 20000, "nothing"))]);
      log.push(name + ": " + JSON.stringify(outcome));
    }
    document.title = "done";
  };`;

/** The log of the page, and how often the origin was asked for each path since. */
async function visit(
  around: Page | AppPage,
  origin: TestOrigin,
  path: string,
): Promise<{ log: unknown; asked: string[] }> {
  origin.forget();
  await around.goto(origin.origin + path);
  const frame: Page | Frame = "address" in around ? await around.content() : around;
  await expect.poll(() => frame.title(), { timeout: 45_000 }).toBe("done");
  return { log: await frame.evaluate("log"), asked: origin.requests.map(({ url }) => url).sort() };
}

function serve(origin: TestOrigin): void {
  const own = origin.origin;
  const script = (path: string, text: string) => origin.route(path, ({ reply }) => reply(200, SCRIPT, text));
  script(
    "/m.js",
    `globalThis.runs = (globalThis.runs ?? 0) + 1; export default {}; export const live = {}; export const at = import.meta.url;`,
  );
  script("/plain.js", `globalThis.plainRuns = (globalThis.plainRuns ?? 0) + 1; export const only = 1;`);
  script("/tag.js", `globalThis.tagRuns = (globalThis.tagRuns ?? 0) + 1; export const tag = 1;`);
  script("/pre.js", `export const pre = 1;`);
  script(
    "/cycle-a.js",
    `import { b } from "${own}/cycle-b.js"; export default function a() { return b; } export const ofA = () => b;`,
  );
  script(
    "/cycle-b.js",
    `import a, { ofA } from "${own}/cycle-a.js"; export const b = 5; export const later = () => [a(), ofA()];`,
  );
  script("/classic.js", `globalThis.classic = (globalThis.classic ?? 0) + 1;`);
  script(
    "/imports.js",
    `import one, { live, at } from "${own}/m.js"; import two, { live as other } from "/m.js"; import "${own}/plain.js"; import "./plain.js";
    import { later } from "${own}/cycle-b.js"; import { tag } from "${own}/tag.js";
    export const same = [one === two, live === other, at, globalThis.runs, globalThis.plainRuns, later()];`,
  );
  script(
    "/worker.js",
    `const first = ${"(w) => new Promise((resolve) => { w.onmessage = ({ data }) => resolve(data); w.onerror = () => resolve('error'); })"};
    const all = { fetch: () => fetch("${own}/text", { mode: "same-origin" }).then((answer) => [answer.status, answer.type, answer.url]),
      request: () => fetch(new Request("${own}/text", { mode: "same-origin" })).then((answer) => answer.status),
      location: () => fetch(location.origin + "/text", { mode: "same-origin" }).then((answer) => answer.status),
      referrer: () => fetch("/text", { referrer: "${own}/from" }).then((answer) => answer.status),
      nested: () => first(new Worker("${own}/inner.js")),
      module: () => first(new Worker(new URL("/inner-module.js", location.href), { type: "module" })),
      url: () => fetch(new URL("/text", location.href), { mode: "same-origin" }).then((answer) => [answer.status, answer.type, answer.url]),
      told: () => { const asked = new Request("/text", { referrer: "${own}/from" }); return [asked.url, asked.referrer, fetch.length, Request.name, String(location)]; },
      dynamic: () => import("${own}/m.js").then(({ at }) => at),
      imported: () => typeof importScripts === "function" ? (() => { try { importScripts("${own}/classic.js"); importScripts("/classic.js"); } catch (error) { return error.name } return self.classic })() : 0,
      xhr: () => new Promise((resolve) => { const asked = new XMLHttpRequest(); asked.open("GET", "${own}/text"); asked.onloadend = () => resolve([asked.status, asked.responseURL]); asked.send(); }),
      events: () => new Promise((resolve) => { const source = new EventSource("${own}/events"); source.onmessage = ({ data, origin }) => { source.close(); resolve([data, origin, source.url]); }; source.onerror = () => resolve("error"); }),
    };
    const say = async (port) => { const log = []; for (const [name, probe] of Object.entries(all)) { const outcome = await Promise.race([Promise.resolve().then(probe).catch((error) => error.name), new Promise((resolve) => setTimeout(resolve, 15000, "nothing"))]); log.push(name + ": " + JSON.stringify(outcome)); } port.postMessage(log); };
    if (typeof onconnect !== "undefined") onconnect = ({ ports }) => say(ports[0]); else say(self);`,
  );
  script("/inner.js", `postMessage(location.href)`);
  script(
    "/inner-module.js",
    `import { at } from "/m.js"; postMessage([location.href, at, self.runs, import.meta.url])`,
  );
  script("/worklet.js", `registerPaint("x" + Math.random().toString(36).slice(2), class { paint() {} })`);
  origin.route("/text", ({ reply }) =>
    reply(200, { "content-type": "text/plain", "x-said": "yes", "set-cookie": "a=1" }, "text"),
  );
  origin.route("/events", ({ reply }) => reply(200, { "content-type": "text/event-stream" }, "data: told\n\n"));
  origin.route("/sprite.svg", ({ reply }) =>
    reply(200, { "content-type": "image/svg+xml", "cache-control": "max-age=60" }, SVG),
  );
  origin.route("/track.vtt", ({ reply }) =>
    reply(200, { "content-type": "text/vtt" }, "WEBVTT\n\n00:00.000 --> 00:01.000\nSaid\n"),
  );
  origin.route("/style.css", ({ reply }) =>
    reply(200, { "content-type": "text/css" }, `#by-sheet { filter: url(${own}/sprite.svg#f) } .x { color: red }`),
  );
}

const MODULES = (own: string) => `
  run({
    static: () => import("/imports.js").then(({ same }) => same),
    dynamic: () => Promise.all([import("${own}/m.js"), import("/m.js"), import("mapped"), import("${own}/imports.js")]).then(([one, two, three, four]) => [one === two, two === three, four.same[0], window.runs]),
    keys: () => Promise.all(["/m.js", "${own}/old.js", "/old.js", "${own}/older.js", "/older.js"].map((address) => import(address))).then(([one, ...others]) => others.map((each) => each === one)),
    tags: () => [window.tagRuns, window.plainRuns],
    inserted: async () => { const tag = Object.assign(document.createElement("script"), { type: "module", src: "${own}/plain.js" }); const done = first(tag, ["load", "error"]); document.head.append(tag); return [await done, window.plainRuns, tag.src, tag.getAttribute("src")]; },
    src: () => [...document.scripts].filter(({ type }) => type === "module").map((each) => each.getAttribute("src")),
      preloaded: () => import("/pre.js").then(({ pre }) => pre),
    maps: () => document.querySelectorAll("script[type=importmap]").length,
  });`;

test("modules", async ({ app, direct, origin }) => {
  serve(origin);
  origin.page(
    "/",
    `<script type="importmap">{"imports":{"mapped":"${origin.origin}/m.js","${origin.origin}/old.js":"/m.js","/older.js":"${origin.origin}/m.js"}}</script><link rel="modulepreload" href="${origin.origin}/pre.js"><script type="module" src="${origin.origin}/tag.js"></script><script type="module" src="/tag.js"></script>
    <script>${RUN}</script><script type="module">${MODULES(origin.origin)}</script>`,
  );
  const wanted = await visit(direct.page, origin, "/");
  const got = await visit(app, origin, "/");
  expect(got).toEqual(wanted);
});

test("workers", async ({ app, direct, origin }) => {
  serve(origin);
  origin.page(
    "/",
    `<script>${RUN} run({
    classic: () => first(new Worker("${origin.origin}/worker.js"), ["message", "error"]),
    shared: () => first(new SharedWorker("${origin.origin}/worker.js").port, ["message"]),
    sharedUrl: () => first(new SharedWorker(new URL("/worker.js", location.href), { name: "url" }).port, ["message"]),
    module: () => first(new Worker("${origin.origin}/inner-module.js", { type: "module" }), ["message", "error"]),
    blob: () => first(new Worker(URL.createObjectURL(new Blob(["importScripts('${origin.origin}/classic.js'); fetch('${origin.origin}/text', { mode: 'same-origin' }).then(({ status }) => postMessage(status), ({ name }) => postMessage([name, location.origin]))"]))), ["message", "error"]),
    blobPlace: () => first(new Worker(URL.createObjectURL(new Blob(["postMessage([location.origin, self.location.protocol, location.href.startsWith('blob:' + location.origin)])"]))), ["message", "error"]),
    nestedBlob: () => first(new Worker(URL.createObjectURL(new Blob(["const w = new Worker('${origin.origin}/inner.js'); w.onmessage = ({ data }) => postMessage(data); w.onerror = () => postMessage('error')"]))), ["message", "error"]),
    ...Object.fromEntries(["worker", "shared", "answer"].map((name) => ["srcdoc " + name, async () => {
      const frame = document.body.appendChild(document.createElement("iframe"));
      frame.srcdoc = "<script src='${origin.origin}/" + name + "-of-frame.js'><\\/script>";
      await first(frame, ["load"]);
      return frame.contentWindow.outcome;
    }])),
  })</script>`,
  );
  const ofFrame = (path: string, text: string) =>
    origin.route(path, ({ reply }) =>
      reply(
        200,
        SCRIPT,
        `const heard = (target) => new Promise((resolve) => { target.onmessage = ({ data }) => resolve(data); });
      window.outcome = (async () => ${text})().catch(({ name }) => name);`,
      ),
    );
  ofFrame("/worker-of-frame.js", `heard(new Worker("${origin.origin}/inner.js"))`);
  ofFrame("/shared-of-frame.js", `heard(new SharedWorker("${origin.origin}/worker.js").port)`);
  ofFrame("/answer-of-frame.js", `(await fetch("${origin.origin}/text", { mode: "same-origin" })).url`);
  const wanted = await visit(direct.page, origin, "/");
  const got = await visit(app, origin, "/");
  expect(got.log).toEqual(wanted.log);
});

const SHAPES = (own: string, page: string) => `
  <style>body { margin: 0; height: 400px } svg { position: absolute; left: 0; width: 100px; height: 20px } .sheet { filter: url(${own}/page#red) } #imported { filter: url(${own}/sprite.svg#f) }</style>
  <svg style="top: 0"><defs>
    <filter id="red" x="0" y="0" width="1" height="1"><feFlood flood-color="red"/></filter>
    <clipPath id="cut"><rect width="10" height="20"/></clipPath>
    <mask id="hide"><rect width="10" height="20" fill="white"/></mask>
    <linearGradient id="blue"><stop stop-color="blue"/></linearGradient>
    <pattern id="dots" width="1" height="1"><rect width="100" height="20" fill="lime"/></pattern>
    <marker id="tip" overflow="visible" markerUnits="userSpaceOnUse"><rect width="30" height="20" fill="fuchsia"/></marker>
  </defs></svg>
  ${["filter=FILTER", "clip-path=CLIP", "mask=MASK", "fill=FILL", "fill=DOTS", "stroke=STROKE"]
    .map((attribute, index) => {
      const [name, value = ""] = attribute.split("=");
      const id = { FILTER: "red", CLIP: "cut", MASK: "hide", FILL: "blue", DOTS: "dots", STROKE: "blue" }[value];
      return `<svg style="top: ${20 * (index + 1)}px"><rect width="100" height="20" stroke-width="40" ${name}="url(${page}#${id})"/></svg>`;
    })
    .join("")}
  <svg style="top: 160px"><path d="M50 0 V 1" marker-start="url('${page}#tip')"/></svg>
  <svg style="top: 180px"><rect width="100" height="20" style="fill: url(${page}#blue)"/></svg>
  <svg style="top: 200px"><rect class="sheet" width="100" height="20"/></svg>
  <svg style="top: 220px"><rect id="bySet" width="100" height="20"/></svg>
  <svg style="top: 240px" id="byMarkup"></svg>
  <svg style="top: 260px"><use id="use" href="${own}/sprite.svg#s" width="20" height="20"/></svg>
  <svg style="top: 280px"><use id="useSet" width="20" height="20"/></svg>
 <svg style="top: 320px"><linearGradient id="lime" href="${page}#limes"/><linearGradient id="limes"><stop stop-color="lime"/></linearGradient><rect width="100" height="20" fill="url(#lime)"/></svg>
  <svg style="top: 340px"><image id="image" width="20" height="20"/></svg>
  <svg style="top: 300px"><rect id="imported" width="100" height="20"/></svg>
  <video id="video"><track id="track" default src="${own}/track.vtt"></video>`;

test("shapes and tracks", async ({ app, direct, origin }) => {
  serve(origin);
  const page = `${origin.origin}/page`;
  origin.page(
    "/page",
    `${SHAPES(origin.origin, page)}<script>${RUN} run({
    set: () => { const rect = document.getElementById("bySet"); rect.setAttribute("filter", "url(" + location.href + "#red)"); return rect.getAttribute("filter"); },
    markup: () => { document.getElementById("byMarkup").innerHTML = '<rect width="100" height="20" fill="url(' + location.href + '#blue)"/>'; return document.getElementById("byMarkup").firstChild.getAttribute("fill"); },
    use: async () => { const use = document.getElementById("use"); for (let times = 0; times < 400 && use.getBBox().width === 0; times++) await new Promise((resolve) => setTimeout(resolve, 50)); return [use.getBBox().width, use.getAttribute("href"), use.href.baseVal, use.href.animVal]; },
    useSet: async () => { const use = document.getElementById("useSet"); use.href.baseVal = "${origin.origin}/sprite.svg#s"; for (let times = 0; times < 400 && use.getBBox().width === 0; times++) await new Promise((resolve) => setTimeout(resolve, 50)); return [use.getBBox().width, use.getAttribute("href"), use.href.baseVal]; },
    image: () => { const image = document.getElementById("image"); image.href.baseVal = "${origin.origin}/sprite.svg"; return [image.href.baseVal, image.getAttribute("href")]; },
    track: async () => { const track = document.getElementById("track"); track.track.mode = "showing"; if (track.readyState < 2) await first(track, ["load", "error"]); return [track.readyState, track.track.cues?.length, track.getAttribute("src"), track.src]; },
    trackSet: async () => { const track = document.createElement("track"); track.src = "${origin.origin}/track.vtt"; video.append(track); track.track.mode = "showing"; return [await first(track, ["load", "error"]), track.src, track.getAttribute("src")]; },
  })</script>`,
  );
  const colours: unknown[] = [];
  const outcomes: unknown[] = [];
  for (const around of [direct.page, app]) {
    outcomes.push((await visit(around, origin, "/page")).log);
    const body = around === app ? app.frame().locator("body") : direct.page.locator("body");
    const picture = (await body.screenshot()).toString("base64");
    colours.push(
      await direct.page.evaluate(async (text) => {
        const bitmap = await createImageBitmap(await (await fetch(`data:image/png;base64,${text}`)).blob());
        const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
        const context = canvas.getContext("2d") as OffscreenCanvasRenderingContext2D;
        context.drawImage(bitmap, 0, 0);
        const scale = bitmap.height / 400;
        const at = (x: number, y: number) => [...context.getImageData(x * scale, y * scale, 1, 1).data].slice(0, 3);
        return Array.from({ length: 17 }, (_, row) => [row, at(5, 20 * row + 10), at(60, 20 * row + 10)].join(" "));
      }, picture),
    );
  }
  expect(outcomes[1]).toEqual(outcomes[0]);
  expect(colours[1]).toEqual(colours[0]);
});

test("trusted types and nonces", async ({ app, direct, origin }) => {
  serve(origin);
  const trusted = { "content-security-policy": "require-trusted-types-for 'script'; trusted-types page" };
  const probes = `
    const policy = trustedTypes.createPolicy("page", { createScriptURL: (url) => url, createHTML: (text) => text, createScript: (text) => text });
    run({
      relative: () => first(new Worker(policy.createScriptURL("/inner.js")), ["message", "error"]),
      full: () => first(new Worker(policy.createScriptURL("${origin.origin}/inner.js")), ["message", "error"]),
      blob: () => first(new Worker(policy.createScriptURL(URL.createObjectURL(new Blob(["postMessage(1)"])))), ["message", "error"]),
      plain: () => first(new Worker("/inner.js"), ["message", "error"]),
      plainFull: () => first(new Worker("${origin.origin}/inner.js"), ["message", "error"]),
      shared: () => { new SharedWorker(policy.createScriptURL("${origin.origin}/inner.js")); return 1; },
      script: async () => { const tag = document.createElement("script"); tag.src = policy.createScriptURL("${origin.origin}/classic.js"); document.head.append(tag); return [await first(tag, ["load", "error"]), window.classic]; },
      module: async () => { const tag = document.createElement("script"); tag.type = "module"; tag.src = policy.createScriptURL("${origin.origin}/plain.js"); document.head.append(tag); return [await first(tag, ["load", "error"]), window.plainRuns, tag.getAttribute("src")]; },
      moduleSet: async () => { const tag = document.createElement("script"); tag.type = "module"; tag.setAttribute("src", policy.createScriptURL("${origin.origin}/plain.js")); document.head.append(tag); return [await first(tag, ["load", "error"]), window.plainRuns]; },
      plainModule: () => { const tag = document.createElement("script"); tag.type = "module"; tag.src = "${origin.origin}/plain.js"; return tag.src; },
      imported: () => import("${origin.origin}/plain.js").then(() => window.plainRuns),
    })`;
  origin.route("/trusted", ({ page }) => page(`<script>${RUN}${probes}</script>`, trusted));
  const nonces = (
    policy: string,
  ) => `<!doctype html><head>${policy}<style nonce="n1">p { color: red }</style></head><script nonce="n1" id="own">${RUN} run({
      attribute: () => [own.getAttribute("nonce"), own.nonce, own.hasAttribute("nonce")],
      made: () => { const tag = document.createElement("script"); tag.setAttribute("nonce", own.nonce || own.getAttribute("nonce")); tag.text = "window.made = 1"; document.head.append(tag); return [window.made, tag.getAttribute("nonce")]; },
      bare: () => { const tag = document.createElement("script"); tag.text = "window.bare = 1"; document.head.append(tag); return [window.bare ?? 0, tag.getAttribute("nonce")]; },
      module: async () => { const tag = document.createElement("script"); tag.nonce = "n1"; tag.type = "module"; tag.src = "${origin.origin}/plain.js"; document.head.append(tag); await first(tag, ["load", "error"]); return window.plainRuns; },
      handler: () => { const tag = document.createElement("div"); tag.setAttribute("onclick", "window.clicked = 1"); tag.click(); return window.clicked ?? 0; },
      imported: () => import("${origin.origin}/plain.js").then(() => window.plainRuns),
    })</script>`;
  const field = "script-src 'nonce-n1' 'strict-dynamic'";
  origin.route("/meta", ({ page }) => page(nonces(`<meta http-equiv="Content-Security-Policy" content="${field}">`)));
  origin.route("/field", ({ page }) => page(nonces(""), { "content-security-policy": field }));
  origin.route("/none", ({ page }) => page(nonces("")));
  origin.route("/self", ({ page }) =>
    page(`<script src="/run.js"></script>`, { "content-security-policy": "script-src 'self'" }),
  );
  origin.route("/run.js", ({ reply }) =>
    reply(
      200,
      SCRIPT,
      `${RUN} run({ imported: () => Promise.all([import("${origin.origin}/plain.js"), import("/plain.js")]).then(() => window.plainRuns), bare: () => { const tag = document.createElement("script"); tag.text = "window.bare = 1"; document.head.append(tag); return window.bare ?? 0; } })`,
    ),
  );
  for (const path of ["/trusted", "/meta", "/field", "/none", "/self"]) {
    const wanted = await visit(direct.page, origin, path);
    const got = await visit(app, origin, path);
    expect.soft(got.log, path).toEqual(wanted.log);
  }
});
