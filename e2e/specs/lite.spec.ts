import { createHash } from "node:crypto";
import { test as base, expect } from "../fixtures/browser.ts";
import { test } from "../fixtures/one-host.ts";

const PICTURE = `<svg xmlns="http://www.w3.org/2000/svg" width="20" height="10"/>`;
const PLACEHOLDER = "data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==";

test("the app says once that scripts are off, and pages show what is for that, and pictures that a script was to show", async ({
  app,
  origin,
  otherOrigin,
}) => {
  const { page } = app;
  const frame = app.frame();
  const names = ["native", "empty", "held", "set", "beside", "source", "other"];
  for (const at of [origin, otherOrigin])
    for (const name of [...names, "never"])
      at.route(`/${name}.svg`, ({ reply }) => reply(200, { "content-type": "image/svg+xml" }, PICTURE));
  origin.page(
    "/",
    `<noscript><p>Without scripts</p></noscript><details><summary>More</summary><p>Behind it</p></details>
    <p style="height: 5000px">Far below:</p>
    <img id="native" loading="lazy" src="/native.svg"><img id="empty" data-src="empty.svg">
    <img id="held" src="${PLACEHOLDER}" data-src="/held.svg"><img id="set" data-srcset="/set.svg 1x" data-src="/never.svg">
    <img id="beside" data-src="/never.svg"><noscript><img src="/beside.svg"></noscript>
    <noscript><img src="/beside.svg"></noscript><img id="before" data-src="/beside.svg">
    <picture><source data-srcset="/source.svg"><img id="source" data-src="/never.svg"></picture>
    <img id="shown" src="/native.svg" data-src="/never.svg">
    <img id="other" data-src="${otherOrigin.origin}/other.svg">`,
  );
  // Elements stand in the way of the document's own methods.
  otherOrigin.page("/", `<img name="querySelectorAll"><img data-src="/held.svg">`);
  await app.goto(`${origin.origin}/`);
  const told = page.getByText("Scripts are off: your edge has only one host. docs/deploy.md says how to turn them on");
  await expect(told.first()).toBeVisible();
  await expect(frame.locator("noscript p")).toBeVisible();
  await expect(frame.getByText("Behind it")).toBeHidden();
  await frame.getByText("More").click();
  await expect(frame.getByText("Behind it")).toBeVisible();
  const pictures = (await app.content()).locator("img[id]");
  await expect
    .poll(() =>
      pictures.evaluateAll((each) =>
        each.map((picture) => {
          const { id, currentSrc, naturalWidth } = picture as HTMLImageElement;
          return `${id} ${currentSrc.split("/").pop()} ${naturalWidth}`;
        }),
      ),
    )
    .toEqual([
      "native native.svg 20",
      "empty empty.svg 20",
      "held held.svg 20",
      "set set.svg 20",
      "beside  0",
      "before  0",
      "source source.svg 20",
      "shown native.svg 20",
      "other other.svg 20",
    ]);
  expect(origin.requestsTo("/never.svg")).toEqual([]);
  expect(origin.requestsTo("/beside.svg")).toHaveLength(1);

  await page.getByRole("button", { name: "Dismiss" }).click();
  await app.goto(`${otherOrigin.origin}/`);
  await otherOrigin.requestTo("/held.svg");
  await page.reload();
  await app.watchLoads();
  await app.goto(`${origin.origin}/`);
  await expect(frame.locator("noscript p")).toBeVisible();
  await expect(told).toHaveCount(0);
});

test("links, forms, redirects, cookies and the way back are those of the sites", async ({
  app,
  origin,
  otherOrigin,
  network,
}) => {
  const field = `<input name="q" value="straße &amp; more"><button>Send</button>`;
  origin.page(
    "/a/b",
    `<p>Start</p><a href="../../../c?x=1#part">Deep</a><a href="${otherOrigin.origin}/x" target="_blank">Other</a>
    <form action="/form">${field}</form><form method="post" action="/form" id="post">${field}</form>
    <form method="post" action="${otherOrigin.origin}/form" target="_top" id="other">${field}</form>
    <a href="/redirect/302?to=${encodeURIComponent(`${otherOrigin.origin}/x`)}">Away</a>
    <form><input type="password" name="p"></form>`,
    "Start",
  );
  const style = "@font-face { font-family: f; src: url(/f.woff2) } p { color: rgb(1, 2, 3) }";
  const hash = createHash("sha256").update(style).digest("base64");
  const policy = { "content-type": "text/html", "content-security-policy": `style-src 'sha256-${hash}'` };
  origin.route("/hashed", ({ reply }) => reply(200, policy, `<!doctype html><style>${style}</style><p>As it is`));
  const other = {
    "content-type": "text/html",
    "content-security-policy": `script-src 'sha256-${hash}'; style-src 'unsafe-inline'`,
  };
  origin.route("/placed", ({ reply }) =>
    reply(200, other, "<!doctype html><style>p { background: url(/behind.svg) }</style><p>Placed"),
  );
  origin.page("/c", `<p>Deep page</p><p style="margin-top: 3000px" id="part">Part</p>`, "Deep");
  otherOrigin.page("/x", "<title>X</title><p>Other site</p>", "X");
  const frame = app.frame();
  await app.goto(`${origin.origin}/set-cookies?session=${encodeURIComponent("1; HttpOnly; Path=/; SameSite=Strict")}`);
  // A name and a password are none of a page's address here, and an empty query is none of it either.
  await app.goto(`${origin.origin.replace("//", "//me:secret@")}/hashed?`);
  await expect(frame.getByText("As it is")).toHaveCSS("color", "rgb(1, 2, 3)");
  // A hash of scripts says nothing of styles: their addresses lead to the site.
  await app.goto(`${origin.origin}/placed`);
  await expect.poll(() => origin.requestsTo("/behind.svg").length).toBe(1);
  await app.goto(`${origin.origin}/a/b`);
  await expect(app.page).toHaveTitle(/Start/);
  await expect(app.page.getByText("asks for a password").first()).toBeVisible();
  expect(await frame.locator("[name=p]").getAttribute("autocomplete")).toBe("new-password");
  await app.navigated(() => frame.getByText("Deep").click());
  await expect(app.address).toHaveValue(`${origin.origin}/c?x=1#part`);
  await expect(frame.getByText("Part")).toBeInViewport();
  await app.navigated(() => app.page.getByRole("button", { name: "Back" }).click());
  await expect(app.address).toHaveValue(`${origin.origin}/a/b`);
  for (const [form, shown] of [
    ["form >> nth=0", '"method":"GET"'],
    ["#post", '"method":"POST"'],
    ["#other", '"method":"POST"'],
  ] as const) {
    await app.goto(`${origin.origin}/a/b`);
    await app.navigated(() => frame.locator(form).getByRole("button").click());
    await expect(frame.locator("pre")).toContainText(shown);
    await expect(frame.locator("pre")).toContainText("straße & more");
  }
  await expect(app.address).toHaveValue(`${otherOrigin.origin}/form`);
  expect(otherOrigin.requestsTo("/form")[0]?.headers.origin).toBe(origin.origin);
  await app.goto(`${origin.origin}/a/b`);
  await app.navigated(() => frame.locator("#post").getByRole("button").click());
  await expect(frame.locator("pre")).toContainText("POST");
  await app.goto(`${origin.origin}/c`);
  const back = app.page.getByRole("button", { name: "Back" });
  await back.click();
  await expect(app.page.getByRole("heading", { name: "Sent, but the answer is gone" })).toBeVisible();
  await expect(app.address).toHaveValue(`${origin.origin}/form`);
  await back.click();
  await expect(frame.getByText("Start")).toBeVisible();
  expect(origin.requestsTo("/form").filter(({ method }) => method === "POST")).toHaveLength(2);
  for (const name of ["Other", "Away"]) {
    await app.goto(`${origin.origin}/a/b`);
    await app.navigated(() => frame.getByText(name).click());
    await expect(frame.getByText("Other site")).toBeVisible();
    await expect(app.address).toHaveValue(`${otherOrigin.origin}/x`);
    expect(otherOrigin.requestsTo("/x").at(-1)?.headers["sec-fetch-site"]).toBe("cross-site");
  }
  await app.navigated(() => app.page.getByRole("button", { name: "Reload" }).click());
  await expect(frame.getByText("Other site")).toBeVisible();
  const asked = origin.requestsTo("/a/b");
  expect(asked.every(({ headers }) => headers.cookie === "session=1")).toBe(true);
  expect(await app.page.context().cookies()).toEqual([]);
  expect(network.leaks("localhost")).toEqual([]);
});

/** Whatever runs, or gets out of its page, asks for `/ran`, `/stolen`, or a bank's `/account`. */
function attacks(site: string, bank: string, base: string): string {
  const script = `fetch('${site}/ran');top.document.title='ran'`;
  const place = `/~${bank.replace("//", "")}/account`;
  return `<p>Evil</p>
    <script>${script}</script><script type="module">${script}</script>
    <script type="speculationrules">{"prefetch":[{"urls":["${bank}/account"]}]}</script>
    <img src="/none.png" onerror="${script}"><body onload="${script}">
    <svg onload="${script}"><script>${script}</script><a xlink:href="javascript:${script}"><text y="20">svg link</text></a>
    <set attributeName="href" to="${base}${place}"/></svg>
    <svg><use href="data:image/svg+xml,<svg id='x' xmlns='http://www.w3.org/2000/svg' onload='${script}'/>#x"/></svg>
    <iframe srcdoc="<script>${script}</script><img src='${base}/.ropeway/config.json'>"></iframe>
    <iframe src="data:text/html,<script>${script}</script>"></iframe><iframe src="javascript:${script}"></iframe>
    <iframe src="${base}/"></iframe><iframe src="${place}"></iframe><iframe src="${bank}/account"></iframe>
    <object data="${bank}/account"></object><embed src="${bank}/account"><portal src="${bank}/account"></portal>
    <noscript><p>Shown</p><iframe src="${bank}/account"></iframe></noscript>
    <meta http-equiv="refresh" content="0;url=${bank}/account"><meta http-equiv="set-cookie" content="stolen=1">
    <base target="_top">
    <link rel="prerender" href="${bank}/account"><link rel="dns-prefetch" href="${bank}">
    <link rel="import" href="/ran"><link rel="modulepreload" href="/none"><link rel="manifest" href="/ran">
    <link rel="preload" as="fetch" href="/ran"><link rel="preload" as="script" href="/none">
    <style>@import "/~${bank.replace("//", "")}/account"; p { background: url("/~${bank.replace("//", "")}/private.png") }</style>
    <img src="${place}"><img src="/sw.js"><img src="/.ropeway/config.json"><img src="/shell.js">
    <img name="title"><img name="readyState"><form name="querySelector"></form><img id="navigation" name="location">
    <a id="script" href="javascript:${script}">script link</a>
    <a id="top" href="/next" target="_top" ping="/ran" download>top link</a>
    <a id="root" href="/">root link</a>
    <a id="place" href="${base}${place}">place link</a>
    <title><a href="${place}"></title><svg><title><a id="missed" href="${base}${place}" rel="noreferrer"><text y="40">missed link</text></a></title></svg>
    <form id="pair" method="post" action="${base}/.ropeway/pair"><button>Pair</button></form>`;
}

test("a hostile page runs nothing, leaves nowhere by itself, and gets nothing of another site or the app", async ({
  app,
  origin,
  otherOrigin,
  network,
}) => {
  const { page } = app;
  const frame = app.frame();
  otherOrigin.page("/account", "<p>Balance</p>");
  origin.route("/refresh", ({ reply }) =>
    reply(200, { "content-type": "text/html", refresh: `0;url=${otherOrigin.origin}/account` }, "<p>Stays</p>"),
  );
  origin.route("/style.xml", ({ reply }) =>
    reply(200, { "content-type": "text/xml" }, `<?xml-stylesheet type="text/xsl" href="/ran"?><a>xml</a>`),
  );
  origin.route("/evil.svg", ({ reply }) =>
    reply(
      200,
      { "content-type": "image/svg+xml" },
      `<svg xmlns="http://www.w3.org/2000/svg"><script>fetch("/ran")</script></svg>`,
    ),
  );
  await app.goto(`${otherOrigin.origin}/set-cookies?session=${encodeURIComponent("1; Path=/; SameSite=Strict")}`);
  const evil = attacks(origin.origin, otherOrigin.origin, app.base);
  origin.route("/", ({ reply }) =>
    reply(200, { "content-type": "text/html", "content-security-policy": "script-src *", "set-cookie": "own=1" }, evil),
  );
  origin.page("/next", "<p>Next page</p>");
  for (const path of ["/refresh", "/style.xml", "/evil.svg", "/"]) await app.goto(origin.origin + path);
  await expect(frame.getByText("Evil")).toBeVisible();
  await expect(frame.locator("noscript p")).toBeVisible();
  await page.waitForTimeout(1_000);
  expect(
    page.frames().length,
    page
      .frames()
      .map((each) => each.url())
      .join(),
  ).toBeLessThanOrEqual(9);
  expect(
    page.frames().some((each) => each !== page.mainFrame() && new URL(each.url(), app.base).pathname === "/"),
  ).toBe(false);
  expect(origin.requestsTo("/sw.js").length + origin.requestsTo("/.ropeway/config.json").length).toBe(2);
  expect(origin.requestsTo("/shell.js").length).toBe(1);
  expect(otherOrigin.requestsTo("/account")).toEqual([]);
  await expect(app.address).toHaveValue(`${origin.origin}/`);

  await frame.locator("#script").click();
  await app.navigated(() => frame.locator("#root").click());
  await expect(frame.getByText("Evil")).toBeVisible();
  await app.navigated(() => frame.locator("#top").click());
  await expect(frame.getByText("Next page")).toBeVisible();
  await expect(app.address).toHaveValue(`${origin.origin}/next`);

  expect(origin.requestsTo("/ran")).toEqual([]);
  expect(otherOrigin.requestsTo("/account")).toEqual([]);
  expect(await page.context().cookies()).toEqual([]);
  expect(await page.title()).not.toContain("ran");
  expect(network.leaks("localhost")).toEqual([]);
  expect(network.requests.filter(({ url }) => url.endsWith("/.ropeway/pair")).length).toBe(1);

  // The place of another site, by an address that no rule has seen: it is asked for as from the site that sends there.
  await app.content().then((content) =>
    content.evaluate(
      (place) => {
        const link = document.createElement("a");
        link.href = place;
        link.rel = "noreferrer";
        link.textContent = "Missed";
        document.body.append(link);
      },
      `${app.base}/~${otherOrigin.origin.replace("//", "")}/account`,
    ),
  );
  await app.navigated(() => frame.getByText("Missed").click());
  await expect(frame.getByText("Balance")).toBeVisible();
  const [asked] = otherOrigin.requestsTo("/account");
  expect(asked?.headers.cookie).toBeUndefined();
  expect(asked?.headers["sec-fetch-site"]).toBe("cross-site");
});

test("a page cannot have its own form or link taken for the app's way to another site", async ({
  app,
  origin,
  otherOrigin,
}) => {
  const frame = app.frame();
  const pay = `${otherOrigin.origin}/pay`;
  let answer = () => {};
  const asked = new Promise<void>((resolve) => {
    otherOrigin.route("/pay", async ({ request, response }) => {
      if (request.method === "POST") return void response.writeHead(204).end();
      answer = () => void response.writeHead(204).end();
      resolve();
    });
  });
  otherOrigin.page("/end", "<p>End</p>");
  origin.page(
    "/",
    `<p>Evil</p><a href="${pay}">Link</a><form method="post" action="${pay}"><button>Pay</button></form>
    <a href="${otherOrigin.origin}/redirect/302?to=/end">Redirected</a>`,
  );
  await app.goto(`${otherOrigin.origin}/set-cookies?session=${encodeURIComponent("1; Path=/; SameSite=Strict")}`);
  await app.goto(`${origin.origin}/`);
  await frame.getByText("Link").click();
  await asked;
  await frame.getByRole("button").click();
  await expect.poll(() => otherOrigin.requestsTo("/pay").length).toBe(2);
  answer();
  await frame.getByRole("button").click();
  await expect.poll(() => otherOrigin.requestsTo("/pay").length).toBe(3);
  for (const { headers } of otherOrigin.requestsTo("/pay")) {
    expect(headers.cookie).toBeUndefined();
    expect(headers["sec-fetch-site"]).toBe("cross-site");
  }
  await app.navigated(() => frame.getByText("Redirected").click());
  await expect(frame.getByText("End")).toBeVisible();
  expect(otherOrigin.requestsTo("/end").length).toBe(1);
});

test("what the edge gets while the worker is away does nothing, and the app goes on when that is back", async ({
  app,
  origin,
  link,
}) => {
  const { page } = app;
  const frame = app.frame();
  origin.page("/a", `<a href="/b">Next</a><form method="post" action="/form"><button>Send</button></form>`);
  origin.page("/b", "<p>Second</p>");
  await app.goto(`${origin.origin}/a`);
  const browser = await page.context().newCDPSession(page);
  const places = () => link.requests.filter(({ path }) => path.startsWith("/~")).length;
  await browser.send("Network.enable");
  await browser.send("Network.setBypassServiceWorker", { bypass: true });
  await frame.getByRole("link").click();
  await expect.poll(places).toBeGreaterThan(0);
  await browser.send("Network.setBypassServiceWorker", { bypass: false });
  await expect(frame.getByText("Second")).toBeVisible();
  await expect(app.address).toHaveValue(`${origin.origin}/b`);

  await app.goto(`${origin.origin}/a`);
  await browser.send("Network.setBypassServiceWorker", { bypass: true });
  await frame.getByRole("button").click();
  await expect(page.getByText("nothing was sent").first()).toBeVisible();
  expect(origin.requestsTo("/form")).toEqual([]);
});

base(
  "scripts of one site are off as its panel says, and those of others are on",
  async ({ app, origin, otherOrigin }) => {
    const { page } = app;
    const script = "<script>document.title = 'Ran'</script>";
    origin.page("/", `<a href="${otherOrigin.origin}/">Other</a>${script}`, "Quiet");
    otherOrigin.page("/", `<p>Loud</p>${script}`, "Quiet");
    await app.goto(`${origin.origin}/`);
    await expect(page).toHaveTitle(/Ran/);
    await page.getByRole("button", { name: "Site information" }).click();
    await page.getByRole("switch", { name: "Scripts on this site" }).click();
    await expect(page).toHaveTitle(/Quiet/);
    await expect(page.getByText("Turn them on in the site information").first()).toBeVisible();
    await app.navigated(() => app.frame().getByRole("link").click());
    await expect(page).toHaveTitle(/Ran/);
    await app.navigated(() => page.getByRole("button", { name: "Back" }).click());
    await expect(page).toHaveTitle(/Quiet/);
    await expect(app.address).toHaveValue(`${origin.origin}/`);
  },
);

base(
  "a person who goes on to another site before the first page without scripts is there gets to that site",
  async ({ app, origin, otherOrigin }) => {
    const { page } = app;
    origin.page("/", "<p>Quiet</p>");
    otherOrigin.page("/", "<p>Loud</p>");
    await app.goto(`${origin.origin}/`);
    await page.getByRole("button", { name: "Site information" }).click();
    await page.getByRole("switch", { name: "Scripts on this site" }).click();
    await expect.poll(async () => (await app.content()).url()).toContain("/~");
    // Meanwhile the worker of the first page takes over, and would ask for that.
    await page.route(/\.ropeway\/boot/, async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 3_000));
      await route.continue();
    });
    await app.ask(`${otherOrigin.origin}/`);
    await expect(app.frame().getByText("Loud")).toBeVisible({ timeout: 30_000 });
    // That of a spare slot may still be held.
    await page.unrouteAll({ behavior: "ignoreErrors" });
  },
);

base(
  "a page without scripts finds no name of the window that another site gave it",
  async ({ app, origin, otherOrigin }) => {
    const { page } = app;
    // Past what the app puts in the name's place, at the last moment too.
    origin.page(
      "/",
      `<p>Names</p><iframe></iframe><script>
       const { set } = Object.getOwnPropertyDescriptor(document.querySelector("iframe").contentWindow, "name");
       for (const type of ["load", "beforeunload", "pagehide", "unload"]) addEventListener(type, () => set.call(window, "late"));
     </script>`,
    );
    otherOrigin.page("/", "<p>Quiet</p>");
    await app.goto(`${otherOrigin.origin}/`);
    await page.getByRole("button", { name: "Site information" }).click();
    await page.getByRole("switch", { name: "Scripts on this site" }).click();
    await expect(page.getByText("Turn them on in the site information").first()).toBeVisible();
    await page.keyboard.press("Escape");
    await app.goto(`${origin.origin}/`);
    await app.goto(`${otherOrigin.origin}/`);
    await expect(app.frame().getByText("Quiet")).toBeVisible();
    const nameOf = (frame: HTMLIFrameElement) => frame.contentWindow?.name;
    expect(await page.locator('iframe[title="Page"]').evaluate(nameOf)).toBe("");
  },
);
