/** Frames without an address that scripts write into, or put elements into: editors, components, advertisements, prints. */
import type { Frame, Page } from "@playwright/test";
import { expect, testInOneApp as test } from "../fixtures/browser.ts";
import type { TestOrigin } from "../fixtures/test-origin/test-origin.ts";

const svg = (size: string) =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="${size}" height="${size}"><rect width="100%" height="100%"/></svg>`;

function serve(origin: TestOrigin): void {
  const answer = (path: string, type: string, body: (size: string) => string) =>
    origin.route(path, ({ request, reply }) =>
      reply(200, { "content-type": type }, body(request.query.get("size") ?? "7")),
    );
  answer("/dot.svg", "image/svg+xml", svg);
  answer(
    "/content.css",
    "text/css",
    () => `@import "deep/more.css"; p { color: rgb(1, 2, 3); background: url("dot.svg?size=3") }`,
  );
  answer(
    "/deep/more.css",
    "text/css",
    () => `/* url(not.svg) */ b { color: rgb(4, 5, 6); background-image: url(../dot.svg?size=4) }`,
  );
  answer(
    "/ran.js",
    "text/javascript",
    () =>
      `(window.log ??= []).push("ran as " + new URL(document.currentScript.src).pathname + " in " + (window === top || window === parent ? "the page" : "the frame"));`,
  );
}

/** What was asked of an origin for pictures and the like, in any order. */
const asked = (origins: readonly TestOrigin[]) =>
  origins
    .flatMap(({ requests }) => requests)
    .filter(({ path }) => /\.(?:svg|css|js)$/.test(path))
    .map(
      ({
        url,
        headers: { accept, referer, origin, "sec-fetch-dest": dest, "sec-fetch-mode": mode, "sec-fetch-site": site },
      }) => JSON.stringify({ url, accept: accept?.replace("image/jxl,", ""), referer, origin, dest, mode, site }),
    )
    .toSorted();

type Fixtures = Parameters<Parameters<typeof test>[2]>[0];

/** A direct visit and one through the app. @returns what the page's `report` says once it does, and what was asked for. */
async function both({
  app,
  direct,
  origin,
  otherOrigin,
  edge,
  network,
}: Pick<Fixtures, "app" | "direct" | "origin" | "otherOrigin" | "edge" | "network">) {
  const read = (frame: Page | Frame) =>
    frame.evaluate(() => (window as unknown as { report?: () => unknown }).report?.() ?? null);
  const told: unknown[] = [];
  const origins = [origin, otherOrigin];
  for (const [visited, content] of [
    [direct.page, async () => direct.page],
    [app, () => app.content()],
  ] as const) {
    for (const each of origins) each.forget();
    await visited.goto(`${origin.origin}/`);
    await expect
      .poll(async () => read(await content()), { message: visited === app ? "app" : "direct" })
      .not.toBeNull();
    told.push({ report: await read(await content()), asked: asked(origins) });
  }
  // Chromium tells of what a policy has stopped, too.
  expect(network.leaks(new URL(edge.url).hostname).filter(({ failure }) => failure !== "csp")).toEqual([]);
  return { direct: told[0], app: told[1] } as Readonly<Record<"direct" | "app", { report: unknown; asked: string[] }>>;
}

/** The page reports the same both ways, and asks its origins for the same. */
async function alike(fixtures: Parameters<typeof both>[0]): Promise<void> {
  const seen = await both(fixtures);
  expect(seen.app.report).toEqual(seen.direct.report);
  expect(seen.app.asked).toEqual(seen.direct.asked);
}

/** In the page: sizes of pictures as they are shown and as scripts see them. */
const SIZES = `const sizes = (doc) => [...doc.images].map((image) => [image.getAttribute("src"), image.complete, image.naturalWidth, image.offsetWidth].join(" "));
const css = (element, name = "color") => element.ownerDocument.defaultView.getComputedStyle(element)[name];`;

test("a classic editor shows what it holds, and sends what was written", async ({
  app,
  direct,
  origin,
  otherOrigin,
  edge,
  network,
}) => {
  for (const each of [origin, otherOrigin]) serve(each);
  origin.page(
    "/",
    `<form method="post" action="/form"><input type="hidden" name="text"><iframe title="Editor" width="300" height="300"></iframe><button>Save</button></form><script>
      ${SIZES}
      const frame = document.querySelector("iframe");
      const held = frame.contentDocument;
      const events = [];
      frame.addEventListener("load", () => events.push("load " + sizes(held)));
      held.open();
      held.write(\`<!doctype html><html><head><link rel="stylesheet" href="/content.css">
        <style>@import "/deep/more.css"; blockquote { background: url("/dot.svg?size=5") }</style></head>
        <body style="margin: 1px; background: url(/dot.svg?size=6)"><p>Text <b>bold</b></p><blockquote>Said</blockquote>
        <img src="/dot.svg" alt="own"><img src="${otherOrigin.origin}/dot.svg?size=8"><img srcset="/dot.svg?size=9&x 1x">
        <img src="/missing.svg" alt=""></body></html>\`);
      held.close();
      held.designMode = "on";
      addEventListener("load", () => {
        held.body.focus();
        held.getSelection().collapse(held.querySelector("p"), 0);
        held.execCommand("insertImage", false, "/dot.svg?size=9");
        held.execCommand("insertHTML", false, "<i>typed</i>");
      });
      document.forms[0].onsubmit = () => { document.forms[0].text.value = held.body.innerHTML; };
      window.report = () => held.images.length === 5 && sizes(held).every((size) => (size.startsWith("/missing") ? / true 0 \\d+$/ : / true [789] [789]$/).test(size)) && events.length > 0 && css(held.querySelector("b")) === "rgb(4, 5, 6)"
        ? { events, sizes: sizes(held), same: held === frame.contentDocument, colour: css(held.querySelector("p")), html: held.body.innerHTML } : null;
    </script>`,
  );
  await alike({ app, direct, origin, otherOrigin, edge, network });
  const saved: unknown[] = [];
  for (const page of [direct.page, app.frame()]) {
    await page.locator("button").click();
    saved.push(await page.locator("pre").textContent());
  }
  expect(saved[1]).toBe(saved[0]);
});

test("elements that components put into a blank frame load, and say so", async ({
  app,
  direct,
  origin,
  otherOrigin,
  edge,
  network,
}) => {
  for (const each of [origin, otherOrigin]) serve(each);
  origin.page(
    "/",
    `<iframe title="Component" width="300" height="300"></iframe><script>
      ${SIZES}
      const frame = document.querySelector("iframe");
      const inner = frame.contentDocument;
      const events = [];
      const put = (parent, element, rest) => {
        for (const type of ["load", "error"]) element.addEventListener(type, () => events.push(type + " " + element.localName));
        parent.append(Object.assign(element, rest));
        return element;
      };
      put(inner.head, inner.createElement("link"), { rel: "stylesheet", href: "/content.css" });
      put(inner.head, inner.createElement("script"), { src: "/ran.js?1", async: false });
      put(inner.head, document.createElement("script"), { src: "${otherOrigin.origin}/ran.js?2", async: false });
      put(inner.body, document.createElement("img"), { src: "${otherOrigin.origin}/dot.svg?size=8" });
      const changed = put(inner.body, inner.createElement("img"), { src: "/dot.svg" });
      inner.body.insertAdjacentHTML("beforeend", "<p>Text <b>bold</b></p><picture><source srcset='/dot.svg?size=9'><img src='/dot.svg?size=1'></picture><em style='background-image: url(/dot.svg?size=5)'>em</em>");
      put(inner.body, inner.createElement("img"), { src: "/missing.svg" });
      const styled = inner.createElement("style");
      styled.textContent = "em { color: rgb(7, 8, 9); list-style-image: url(/dot.svg?size=2) }";
      inner.head.append(styled);
      let isChanged = false;
      window.report = () => {
        if (events.length < 6) return null;
        if (!isChanged) changed.src = "/dot.svg?size=8&changed";
        isChanged = true;
        if (events.length < 7 || changed.offsetWidth !== 8 || inner.querySelector("picture img").offsetWidth !== 9) return null;
        return { events: events.toSorted(), sizes: sizes(inner), log: frame.contentWindow.log, html: inner.body.innerHTML,
          colours: ["p", "b", "em"].map((name) => css(inner.querySelector(name))), src: inner.querySelector("script").src, href: inner.querySelector("link").href };
      };
    </script>`,
  );
  const seen = await both({ app, direct, origin, otherOrigin, edge, network });
  expect(seen.app.report).toEqual(JSON.parse(JSON.stringify(seen.direct.report)));
  expect(seen.app.asked).toEqual(seen.direct.asked);
});

test("scripts of an advertisement run in the frame that they are written into, in order, and write there @long", async ({
  app,
  direct,
  origin,
  otherOrigin,
  edge,
  network,
}) => {
  for (const each of [origin, otherOrigin]) {
    serve(each);
    each.route("/ad.js", ({ reply }) =>
      reply(
        200,
        { "content-type": "text/javascript" },
        `log.push("ad"); document.write("<u>Ad</u><script src='/ran.js?second'></scr" + "ipt><script>log.push('inline')</scr" + "ipt>"); document.write("<s>tail</s>");`,
      ),
    );
  }
  origin.page(
    "/",
    `<iframe title="Ad" width="300" height="300"></iframe><script>
      ${SIZES}
      const ad = document.querySelector("iframe").contentDocument;
      const events = [];
      ad.open();
      ad.write("<body><script>var log = ['start']; document.write('<i>first</i>')</scr" + "ipt><b>before</b>");
      events.push(ad.body.textContent);
      ad.write("<script src='${otherOrigin.origin}/ad.js'></scr" + "ipt><p>after</p><img src='/dot.svg'><script>log.push('after', document.querySelector('s').textContent)</scr" + "ipt>");
      events.push(ad.body.textContent);
      ad.write("<a>end</a>");
      document.querySelector("iframe").addEventListener("load", () => events.push("load"));
      ad.close();
      window.report = () => events.includes("load") ? { events, log: ad.defaultView.log, text: ad.body.innerText, sizes: sizes(ad),
        elements: [...ad.querySelectorAll("i, b, u, s, p, a")].map(({ textContent }) => textContent) } : null;
    </script>`,
  );
  await alike({ app, direct, origin, otherOrigin, edge, network });
});

test("a frame that is written to be printed has loaded only with its pictures and styles @long", async ({
  app,
  direct,
  origin,
  otherOrigin,
  edge,
  network,
}) => {
  for (const each of [origin, otherOrigin]) serve(each);
  origin.route("/late.svg", async ({ reply }) => {
    await new Promise((resolve) => setTimeout(resolve, 700));
    reply(200, { "content-type": "image/svg+xml" }, svg("9"));
  });
  origin.page(
    "/",
    `<button>Print</button><script>
      ${SIZES}
      const printed = document.body.appendChild(document.createElement("iframe"));
      const events = [];
      printed.contentWindow.print = () => events.push("print " + sizes(printed.contentDocument) + css(printed.contentDocument.querySelector("p")));
      printed.contentDocument.write("<link rel='stylesheet' href='/content.css'><p>Bill <img src='/late.svg'></p>");
      printed.contentWindow.addEventListener("load", () => printed.contentWindow.print());
      printed.contentDocument.close();
      window.report = () => events.length > 0 ? events : null;
    </script>`,
  );
  await alike({ app, direct, origin, otherOrigin, edge, network });
});

test("a page's policy holds for what is put into its blank frames", async ({
  app,
  direct,
  origin,
  otherOrigin,
  edge,
  network,
}) => {
  for (const each of [origin, otherOrigin]) serve(each);
  const markup = `<iframe></iframe><script>
      ${SIZES}
      const inner = document.querySelector("iframe").contentDocument;
      const events = [];
      inner.body.innerHTML = "<img src='/dot.svg'><img src='${otherOrigin.origin}/dot.svg'>";
      for (const image of inner.images) for (const type of ["load", "error"]) image.addEventListener(type, () => events.push(type));
      window.report = () => events.length > 1 ? { events: events.toSorted(), sizes: sizes(inner) } : null;
    </script>`;
  origin.route("/", ({ reply }) =>
    reply(
      200,
      { "content-type": "text/html", "content-security-policy": "default-src 'self' 'unsafe-inline' blob:" },
      `<!doctype html><body>${markup}`,
    ),
  );
  const seen = await both({ app, direct, origin, otherOrigin, edge, network });
  expect(seen.app.report).toEqual(seen.direct.report);
  expect(otherOrigin.requestsTo("/dot.svg")).toEqual([]);
});
