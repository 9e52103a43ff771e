/**
 * Attacks on what a browser keeps by address or by origin: pages without scripts share both with each other and the app.
 * The rows are those of "What browsers keep on the app's host" in docs/security.md.
 */
import { GLYPHS, glyphFont } from "../demo/glyph-font.ts";
import type { TestOrigin } from "../fixtures/test-origin/test-origin.ts";
import { PAGE_FRAME, type RemoteBrowser } from "./remote-browser.ts";
import { go, press, SHOWN_ADDRESS, type Step, type Surroundings } from "./step.ts";

/** A file that each site has by the same name. */
interface Kept {
  /** Of the element whose width tells whose file it shows. */
  readonly id: string;
  readonly path: string;
  readonly type: string;
  readonly file: (width: number) => string | Buffer;
  readonly markup: string;
}

const OF_A_PAGE = "--of-a-page";
const PICTURE = {
  type: "image/svg+xml",
  file: (width: number) =>
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="9"><rect id="s" width="${width}" height="9"/></svg>`,
};

function sheet(id: string, markup: (path: string) => string): Kept {
  const file = (width: number) => `#${id} { width: ${width}px } :root { ${OF_A_PAGE}: ${width} }`;
  return { id, path: `/${id}.css`, type: "text/css", file, markup: `${markup(`/${id}.css`)}<p id="${id}">A</p>` };
}

const used = (path: string) => `<link rel="stylesheet" href="${path}">`;
const KEPT: readonly Kept[] = [
  sheet("sheet", used),
  sheet("imported", (path) => `<style>@import "${path}"</style>`),
  sheet("preloaded", (path) => `<link rel="preload" as="style" href="${path}">${used(path)}`),
  sheet("prefetched", (path) => `<link rel="prefetch" as="style" href="${path}">${used(path)}`),
  { id: "picture", path: "/picture.svg", ...PICTURE, markup: '<img id="picture" src="/picture.svg">' },
  { id: "set", path: "/set.svg", ...PICTURE, markup: '<img id="set" srcset="/set.svg 1x">' },
  { id: "poster", path: "/poster.svg", ...PICTURE, markup: '<video id="poster" poster="/poster.svg"></video>' },
  {
    id: "styled",
    path: "/styled.svg",
    ...PICTURE,
    markup: "<style>#styled { content: url(/styled.svg) }</style><b id=styled>B</b>",
  },
  {
    id: "shape",
    path: "/shape.svg",
    ...PICTURE,
    markup: '<svg width="99" height="9"><use id="shape" href="/shape.svg#s"/></svg>',
  },
  {
    id: "font",
    path: "/font.woff",
    type: "font/woff",
    file: (width) => glyphFont(width * 10),
    markup: `<style>@font-face { font-family: F; src: url(/font.woff) } #font { font: 100px F }</style>
      <span id="font">&#${GLYPHS.moon};</span>`,
  },
];

/** Of the page in the frame, which shares the app's origin: its title, and the widths that tell whose files it shows. */
const WIDTHS = `
  const { contentDocument: page } = ${PAGE_FRAME};
  const elements = ${JSON.stringify(KEPT.map(({ id }) => id))}.map((id) => page.getElementById(id));
  return [page.title, ...elements.map((each) => each && Math.round(each.getBoundingClientRect().width))];`;
const PAGE = `const { contentDocument: page } = ${PAGE_FRAME};`;
const TITLE = `${PAGE} return page.title`;
/** Path, whether it is all read, and what its fields for passwords have. */
const PASSWORDS = `${PAGE}
  const fields = [...page.querySelectorAll("input[type=password]")];
  const path = page.URL.slice(page.URL.lastIndexOf("/"));
  return [path, page.readyState !== "loading", ...fields.map(({ autocomplete, value }) => [autocomplete, value])];`;
const OWN_FILES = `
  const named = [...document.querySelectorAll("link[rel=stylesheet],script[src]")];
  return named.map((each) => each.getAttribute("href") ?? each.getAttribute("src"));`;
const HAS_ADDRESS = `return document.querySelector('input[aria-label="Address"]') !== null`;
const BASE = "return location.origin";

/** WebKit shows no page without scripts (docs/limits.md): there all attacks come to nothing in the same way. */
const isShown = ({ engine }: Surroundings): boolean => !engine.startsWith("WebKit");
const ONLY_WHERE_SHOWN = "Firefox";

/** Milliseconds in which a page that has come would be shown. */
const LATE = 1_500;

const place = (site: TestOrigin, path: string) => `/~${site.origin.replace("//", "")}${path}`;

/** Markup that has the browser keep the files of these addresses before any page needs them. */
function ahead(addresses: readonly string[]): string {
  const destination = (address: string) =>
    address.endsWith(".css") ? "style" : address.endsWith(".woff") ? "font" : "image";
  return addresses
    .map((address) => {
      const preload = `<link rel="preload" as="${destination(address)}" href="${address}" crossorigin="anonymous">`;
      return `${preload}<link rel="preload" as="${destination(address)}" href="${address}"><link rel="prefetch" href="${address}"><img src="${address}">`;
    })
    .join("");
}

function serve(site: TestOrigin, width: number, more: string): void {
  for (const { path, type, file } of KEPT) {
    const headers = { "content-type": type, "cache-control": "public, max-age=31536000, immutable" };
    site.route(path, ({ reply }) => reply(200, headers, file(width)));
  }
  site.page("/quiet", KEPT.map(({ markup }) => markup).join("") + more, `Quiet ${width}`);
}

async function expectOwn(surroundings: Surroundings, site: TestOrigin, width: number): Promise<void> {
  const { browser } = surroundings;
  if (isShown(surroundings)) return browser.until("app", WIDTHS, [`Quiet ${width}`, ...KEPT.map(() => width)]);
  await site.requestTo("/quiet");
  // The app says so.
  await browser.until("app", "return document.documentElement.dataset.page", "failed");
  await new Promise((resolve) => setTimeout(resolve, LATE));
  const [, ...widths] = (await browser.run("app", WIDTHS)) as readonly (number | null)[];
  if (widths.some((each) => each !== null)) throw new Error(`pages without scripts are shown now: ${widths}`);
}

/** A page of the site at this path, shown. */
async function show(browser: RemoteBrowser, site: TestOrigin, path: string, body: string): Promise<void> {
  site.page(path, body, path);
  await go(browser, site.origin + path);
  await browser.until("app", TITLE, path);
}

export const scriptlessSteps: readonly Step[] = [
  {
    name: "turns the scripts of two sites off",
    async run({ browser, edgeUrl, origin, otherOrigin }) {
      const sites = [origin, otherOrigin].map((site) => new URL(site.origin).hostname);
      await browser.run("app", `localStorage.setItem("ropeway.lite-sites", ${JSON.stringify(JSON.stringify(sites))})`);
      await browser.open(`${edgeUrl}/?lite`);
      await browser.until("app", "return navigator.serviceWorker.controller.scriptURL.endsWith('lite')", true);
    },
  },
  {
    name: `keeps apart what two sites, and the app, name alike (${KEPT.map(({ id }) => id).join(", ")}), also on the way back`,
    async run(surroundings) {
      const { browser, edgeUrl, origin: hostile, otherOrigin: bank } = surroundings;
      const base = String(await browser.run("app", BASE));
      const own = (await browser.run("app", OWN_FILES)) as string[];
      const [{ file }] = KEPT as [Kept];
      for (const path of own) hostile.route(path, ({ reply }) => reply(200, { "content-type": "text/css" }, file(31)));
      const banks = KEPT.map(({ path }) => place(bank, path));
      const addresses = [...banks, ...own, ...KEPT.map(({ path }) => path)].flatMap((path) => [path, base + path]);
      const ofApp = own.flatMap((path) => [used(path), used(base + path)]).join("");
      serve(hostile, 31, ofApp + ahead(addresses));
      serve(bank, 62, "");
      bank.forget();
      await go(browser, `${hostile.origin}/quiet`);
      await expectOwn(surroundings, hostile, 31);
      if (bank.requests.length > 0) throw new Error(`the bank was asked for ${bank.requests.map(({ url }) => url)}`);
      await go(browser, `${bank.origin}/quiet`);
      await expectOwn(surroundings, bank, 62);
      await go(browser, `${hostile.origin}/quiet`);
      await expectOwn(surroundings, hostile, 31);
      if (isShown(surroundings)) {
        await press(browser, "Back");
        await expectOwn(surroundings, bank, 62);
        await browser.until("app", SHOWN_ADDRESS, `${bank.origin}/quiet`);
      }
      await browser.open(`${edgeUrl}/?again`);
      await browser.until("app", HAS_ADDRESS, true);
      const style = `return getComputedStyle(document.documentElement).getPropertyValue("${OF_A_PAGE}")`;
      await browser.until("app", style, "");
    },
  },
  {
    name: "gives a page nothing of another site or the app by an address that no rule has seen",
    engine: ONLY_WHERE_SHOWN,
    async run({ browser, origin: hostile, otherOrigin: bank }) {
      await show(browser, hostile, "/unseen", "");
      bank.forget();
      const path = "/picture.svg";
      const addresses = ["/icons/icon.svg", path, place(bank, path), place(hostile, path)];
      const widths = `${PAGE}
        return Promise.all(${JSON.stringify(addresses)}.map(async (address) => {
          const picture = page.createElement("img");
          page.body.append(picture);
          picture.src = address;
          await picture.decode().catch(() => {});
          return picture.naturalWidth;
        }))`;
      await browser.until("app", widths, [0, 0, 0, 31]);
      if (bank.requests.length > 0) throw new Error("the bank was asked");
    },
  },
  {
    name: "leads a page's place in a window of its own to the app",
    async run({ browser, edgeUrl, origin }) {
      const base = String(await browser.run("app", BASE));
      await browser.open(base + place(origin, "/quiet"));
      await browser.until("app", "return location.pathname", "/");
      await browser.open(`${edgeUrl}/?after`);
      await browser.until("app", HAS_ADDRESS, true);
    },
  },
  {
    name: "gives what a person typed back on its own site alone",
    engine: ONLY_WHERE_SHOWN,
    async run({ browser, origin: hostile, otherOrigin: bank }) {
      const form = '<form action="/sent"><input name="q" id="q"></form><textarea name="t" id="t"></textarea>';
      const typed = `${PAGE} return [page.title, page.querySelector("#q")?.value, page.querySelector("#t")?.value]`;
      bank.page("/sent", form, "/sent");
      await show(browser, bank, "/form", form);
      await browser.enter("page", "#t", "secret");
      // What a form has sent a browser remembers by the names of its fields.
      await browser.enter("page", "#q", "secret");
      await browser.until("app", typed, ["/sent", "", ""]);
      await show(browser, hostile, "/form", form);
      await browser.until("app", typed, ["/form", "", ""]);
      await press(browser, "Back");
      await browser.until("app", typed, ["/sent", "", ""]);
      await press(browser, "Back");
      await browser.until("app", typed, ["/form", "secret", "secret\n"]);
    },
  },
  {
    name: "fills no password of the app's host into a page, whatever the document declares",
    engine: "Firefox",
    async run({ browser, origin: hostile }) {
      await browser.keepPassword(String(await browser.run("app", BASE)), "secret");
      for (const [path, doctype, fields] of [
        ["/xhtml", "", '<input type="password"/>'],
        ["/declared", '<!DOCTYPE html [<!ATTLIST input type CDATA "password">]>', "<input/>"],
        ["/entity", `<!DOCTYPE html [<!ENTITY f "&#60;input type='password'/>">]>`, "&f;"],
        ["/value", '<!DOCTYPE html [<!ENTITY f "password">]>', '<input type="&f;"/>'],
      ] as const) {
        const xhtml = `${doctype}<html xmlns="http://www.w3.org/1999/xhtml"><body><form>${fields}</form></body></html>`;
        hostile.route(path, ({ reply }) => reply(200, { "content-type": "application/xhtml+xml" }, xhtml));
        await go(browser, hostile.origin + path);
        // A document that declares something is none.
        const wanted = doctype === "" ? [["new-password", ""]] : [];
        await browser.until("app", PASSWORDS, [path, true, ...wanted]);
      }
      const form = '<form><input name="me"><input type="password"></form>';
      await show(browser, hostile, "/login", form);
      // The same from the app shows that the browser would have filled the page's.
      await browser.run("app", `${PAGE} page.body.appendChild(page.createElement("div")).innerHTML = '${form}'`);
      await browser.until("app", PASSWORDS, ["/login", true, ["new-password", ""], ["", "secret"]]);
    },
  },
  {
    name: "asks for nothing by which a site would learn of a visited link",
    engine: ONLY_WHERE_SHOWN,
    async run({ browser, origin }) {
      await show(browser, origin, "/visited", "");
      const ask = (path: string) => `background: url(${path})`;
      const style = `a:visited, a:visited + b { ${ask("/told.svg")} } a:link { ${ask("/shown.svg")} }`;
      await show(browser, origin, "/colours", `<style>${style}</style><a href="/visited">A</a><b>B</b>`);
      await origin.requestTo("/shown.svg");
      if (origin.requestsTo("/told.svg").length > 0) throw new Error("the site was told");
    },
  },
  {
    name: "follows links and forms that tell no referrer, reloads, and goes back",
    engine: ONLY_WHERE_SHOWN,
    async run({ browser, origin, otherOrigin }) {
      let loads = 0;
      for (const site of [origin, otherOrigin])
        site.route("/there", ({ page }) => page(`<title>${site.origin} ${++loads}</title>`));
      otherOrigin.route("/sent", async ({ request, body, page }) => {
        page(`<title>${request.method} ${await body()}</title>`);
      });
      for (const [rel, policy] of [
        ["noreferrer", ""],
        ["", "no-referrer"],
        ["", "origin"],
      ]) {
        const body = `<meta name="referrer" content="${policy}"><a rel="${rel}" href="/there">Near</a>
          <a id="far" rel="${rel}" href="${otherOrigin.origin}/there">Far</a>
          <form rel="${rel}" action="/there"><button>Send</button></form>
          <form rel="${rel}" action="${otherOrigin.origin}/sent" method="post"><input name="typed" value="words"><input id="post" type="submit"></form>`;
        await show(browser, origin, "/leads", body);
        for (const [selector, site] of [
          ["a", origin],
          ["button", origin],
          ["#far", otherOrigin],
        ] as const) {
          loads = 0;
          await browser.click("page", selector);
          await browser.until("app", TITLE, `${site.origin} 1`);
          await press(browser, "Reload");
          await browser.until("app", TITLE, `${site.origin} 2`);
          // Of a link to another site Firefox makes no entry of its own (docs/limits.md).
          if (site === otherOrigin) continue;
          await press(browser, "Back");
          await browser.until("app", TITLE, "/leads");
        }
        await show(browser, origin, "/leads", body);
        await browser.click("page", "#post");
        await browser.until("app", TITLE, "POST typed=words");
      }
    },
  },
];
