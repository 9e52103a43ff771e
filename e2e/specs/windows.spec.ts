/** Windows that pages open: they say to each other, and know of each other, as in a direct visit. */
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { chromium, type Locator, type Page } from "@playwright/test";
import { type AppPage, test as alone, expect, testInOneApp as test } from "../fixtures/browser.ts";
import { CHROMIUM_ARGS, findChromium } from "../fixtures/chromium.ts";
import { contentOf, expectSameLog, isApp, LOG, logOf } from "../fixtures/compare.ts";
import type { TestOrigin } from "../fixtures/test-origin/test-origin.ts";

/** Presses a button that closes its window, maybe before the click has been reported. The log tells whether it was pressed. */
async function pressLast(button: Locator): Promise<void> {
  await button.click().catch((error: Error) => {
    if (!/has been closed|was detached/.test(error.message)) throw error;
  });
}

/** For a page: its server hears when it comes and goes, and what it knows of its window. */
const TELLS = `<script>
  for (const type of ["pageshow", "pagehide"])
    addEventListener(type, () =>
      navigator.sendBeacon("/told?" + [location.pathname, type, opener === null ? "no opener" : "an opener", document.referrer, name]));
</script>`;

/** In no order: what one page tells may overtake what another does. */
const toldTo = (...sites: readonly TestOrigin[]): string[] =>
  sites.flatMap((site) => site.requestsTo("/told").map(({ url }) => decodeURIComponent(url))).sort();

/** Visits directly, in a browser that shows no window that nobody asked for: Playwright's own show each. */
async function withPopupBlocker(visit: (page: Page) => Promise<void>): Promise<void> {
  const executablePath = findChromium();
  const browser = await chromium.launch({
    args: CHROMIUM_ARGS,
    // The one without windows blocks none.
    ...(executablePath === undefined ? { channel: "chromium" } : { executablePath }),
    ignoreDefaultArgs: ["--disable-popup-blocking"],
  });
  try {
    await visit(await browser.newPage());
  } finally {
    await browser.close();
  }
}

/** An identity provider (OpenID Connect) where Ann signs in; a token of hers renews it without her. */
function serveIdentity(provider: TestOrigin, client: string): void {
  const headers = { "access-control-allow-origin": client, "content-type": "application/json" };
  const nonces: string[] = [];
  let tokens = 0;
  const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const finish = (query: URLSearchParams, answer: Record<string, string>): string => {
    nonces.push(query.get("nonce") ?? "");
    return `${query.get("redirect_uri")}?${new URLSearchParams({ ...answer, state: query.get("state") ?? "" })}`;
  };
  const discovery = {
    issuer: provider.origin,
    authorization_endpoint: `${provider.origin}/authorize`,
    token_endpoint: `${provider.origin}/token`,
  };
  provider.route("/.well-known/openid-configuration", ({ reply }) => reply(200, headers, JSON.stringify(discovery)));
  provider.route("/authorize", ({ request: { query }, reply }) => {
    if (query.get("prompt") === "none") {
      const answer: Record<string, string> = query.has("id_token_hint") ? { code: "2" } : { error: "login_required" };
      return reply(302, { location: finish(query, answer) }, "");
    }
    const to = JSON.stringify(finish(query, { code: "1" }));
    reply(
      200,
      { "content-type": "text/html" },
      `<!doctype html><button onclick='location.href = ${to}'>I am Ann</button>`,
    );
  });
  provider.route("/token", async (exchange) => {
    tokens += 1;
    const claims = { iss: provider.origin, aud: "shop", sub: "ann", exp: 4e9, iat: 1, nonce: nonces.at(-1) };
    const id_token = `${encode({ alg: "none" })}.${encode(claims)}.x`;
    const answer = {
      access_token: `token ${tokens}`,
      token_type: "Bearer",
      expires_in: 3600,
      id_token,
      scope: "openid",
    };
    exchange.reply(200, headers, JSON.stringify(answer));
  });
}

/** Values that a script reads of a window of another origin, or names of errors. */
const READS = `const reads = (shown) => [
    () => shown.document, () => shown.location.href, () => shown.location.pathname, () => shown.localStorage,
    () => shown.eval, () => shown.name, () => shown.origin, () => shown.history,
    () => { shown.document = 1; }, () => { shown.onmessage = null; }, () => { shown.location.hash = "x"; },
  ].map((read) => { try { return String(read()); } catch (error) { return error.name; } });`;

test("a sign-in window posts its token to the page that has opened it, and closes", async ({
  app,
  direct,
  origin,
  otherOrigin,
}) => {
  origin.page(
    "/shop",
    `<button>Sign in</button><script>${LOG}${READS}
      document.querySelector("button").onclick = () => {
        const byPort = [];
        const shown = open("${otherOrigin.origin}/login?from=shop", "login", "width=400,height=600");
        log.push(typeof shown, shown.closed, shown.length, shown === shown.window, shown.opener === window);
        onmessage = ({ data, origin, source, ports }) => {
          log.push(data, origin, source === shown, ports.length);
          if (data.token === undefined) return;
          log.push(reads(shown), reads(source));
          source.postMessage("thanks", origin);
          ports[0].onmessage = ({ data }) => byPort.push(data);
          ports[0].postMessage("by port");
        };
        const timer = setInterval(() => { if (shown.closed) { clearInterval(timer); log.push(byPort); end(); } }, 50);
      };
    </script>`,
  );
  otherOrigin.page(
    "/login",
    `<script>${READS}
      const { port1, port2 } = new MessageChannel();
      onmessage = ({ data, origin, source }) => {
        opener.postMessage({ heard: data, from: origin, isOpener: source === opener }, "*");
        setTimeout(close, 2_000);
      };
      port1.onmessage = ({ data }) => port1.postMessage("answer to " + data);
      opener.postMessage("for nobody", "http://127.0.0.1:9");
      opener.postMessage({ token: 7, name: window.name, isClosed: opener.closed, referrer: document.referrer, reads: reads(opener) }, "${origin.origin}", [port2]);
    </script>`,
  );
  const wanted = await logOf(direct.page, `${origin.origin}/shop`);
  const refused = Array.from({ length: 11 }, () => "SecurityError");
  expect(wanted).toContainEqual(refused);
  expect(await logOf(app, `${origin.origin}/shop`)).toEqual(wanted);
  await expect(app.frame().getByRole("button", { name: "Sign in" })).toBeVisible();
});

test("a blank window is sent somewhere later, by its name, too, and its script sees where it came back to", async ({
  app,
  direct,
  origin,
  otherOrigin,
}) => {
  origin.page(
    "/page",
    `<button>Open</button><script>${LOG}
      document.querySelector("button").onclick = () => {
        const shown = open("", "later");
        log.push(shown.closed);
        setTimeout(() => { shown.location = "${otherOrigin.origin}/first"; }, 100);
        onmessage = ({ data, source }) => {
          log.push(data, source === shown);
          if (data === "first") open("${origin.origin}/second", "later");
          else if (data === "second") {
            const timer = setInterval(() => {
              let href = "";
              try { ({ href } = shown.location); } catch {}
              if (!href.endsWith("/second")) return;
              clearInterval(timer);
              log.push(href, shown.location.pathname, shown.origin);
              shown.close();
              log.push(shown.closed);
              end();
            }, 50);
          }
        };
      };
    </script>`,
  );
  otherOrigin.page("/first", `<script>opener.postMessage("first", "*")</script>`);
  origin.page("/second", `<script>opener.postMessage("second", location.origin)</script>`);
  await expectSameLog({ app, direct }, `${origin.origin}/page`);
});

alone(
  "a page that parts itself from others has no opener, and is none, of another origin",
  async ({ app, direct, origin, otherOrigin }) => {
    const apart = { "content-type": "text/html", "cross-origin-opener-policy": "same-origin" };
    const opens = (url: string) => `<!doctype html><title>Page</title><button>Open</button><script>${LOG}
    document.querySelector("button").onclick = () => {
      const shown = open("${url}");
      const timer = setInterval(() => { if (shown.closed) { clearInterval(timer); log.push("closed"); end(); } }, 50);
    };
  </script>`;
    origin.page("/open", opens(`${otherOrigin.origin}/apart`));
    origin.route("/apart", ({ reply }) => reply(200, apart, opens(`${otherOrigin.origin}/open`)));
    const seen: string[] = [];
    otherOrigin.route("/seen", ({ request, reply }) => {
      seen.push(String(request.url));
      reply(204, {}, "");
    });
    const page = `<script>fetch("/seen?" + (opener === null))</script>`;
    otherOrigin.page("/open", page);
    otherOrigin.route("/apart", ({ reply }) => reply(200, apart, `<!doctype html>${page}`));
    for (const path of ["/open", "/apart"]) {
      const logs: unknown[] = [];
      for (const around of [app, direct.page]) {
        const before = seen.length;
        logs.push(await logOf(around, origin.origin + path));
        // The app gives up a window that is still loading when the tab goes elsewhere.
        await expect.poll(() => seen.slice(before), path).toEqual(["/seen?true"]);
      }
      expect(logs[0], path).toEqual(logs[1]);
    }
  },
);

alone("noopener and noreferrer part a window from its page", async ({ app, direct, origin, otherOrigin }) => {
  origin.page(
    "/open",
    `<button>Open</button><script>${LOG}
      document.querySelector("button").onclick = () => {
        log.push(open("${otherOrigin.origin}/told", "", location.search.slice(1)));
        end();
      };
    </script>`,
  );
  const seen: string[] = [];
  otherOrigin.route("/seen", ({ request, reply }) => {
    seen.push(String(request.url));
    reply(204, {}, "");
  });
  otherOrigin.page("/told", `<script>fetch("/seen?" + [opener === null, document.referrer, name])</script>`);
  const referrers = { noopener: `${origin.origin}/`, "NoReferrer,width=400": "" };
  for (const [features, referrer] of Object.entries(referrers))
    for (const around of [app, direct.page]) {
      const before = seen.length;
      expect(await logOf(around, `${origin.origin}/open?${features}`), features).toEqual([null]);
      // The app gives up a window that is still loading when the tab goes elsewhere.
      await expect.poll(() => seen.slice(before), features).toEqual([`/seen?true,${referrer},`]);
    }
});

test("a link opens a tab, or with rel=opener a window, beside the page, which goes on; Close and Back lead back to it", async ({
  app,
  direct,
  origin,
  otherOrigin,
}) => {
  origin.page(
    "/list",
    `<a target=_blank href="${otherOrigin.origin}/one">One</a> <input> <a target=_blank rel=opener href="/own">Own</a>${TELLS}`,
  );
  const says = `${TELLS}<script>document.write(opener === null ? "no opener" : "an opener")</script>`;
  // No window gets out of its place, where it would cover the bar.
  otherOrigin.page("/one", `${says}<a href="/two">Two</a><script>moveTo(0, 0); resizeTo(9000, 9000);</script>`);
  otherOrigin.page("/two", `<p>The second</p>${says}`);
  origin.page("/own", says);
  const { page } = direct;
  // A window that closes before its page has loaded tells nothing.
  const ownIsThere = () =>
    expect.poll(() => toldTo(origin, otherOrigin)).toContainEqual(expect.stringContaining("/own,pageshow"));
  await page.goto(`${origin.origin}/list`);
  await page.getByRole("textbox").fill("kept");
  for (const name of ["One", "Own"]) {
    const opened = page.context().waitForEvent("page");
    await page.getByRole("link", { name }).click();
    const shown = await opened;
    if (name === "One") {
      await shown.getByRole("link", { name: "Two" }).click();
      await expect(shown.getByText("The second")).toBeVisible();
      await shown.goBack();
      await expect(shown.getByRole("link", { name: "Two" })).toBeVisible();
    } else await ownIsThere();
    await shown.close();
  }
  await expect(page.getByRole("textbox")).toHaveValue("kept");
  await expect.poll(() => toldTo(origin, otherOrigin)).toHaveLength(9);
  const wanted = toldTo(origin, otherOrigin);
  for (const site of [origin, otherOrigin]) site.forget();

  const list = () => app.frame().getByRole("textbox");
  const tabs = await app.tabs();
  await app.goto(`${origin.origin}/list`);
  await list().fill("kept");

  await app.frame().getByRole("link", { name: "One" }).click();
  await expect(app.frame().getByText("no opener")).toBeVisible();
  await expect(app.address).toHaveValue(/one$/);
  expect(await app.tabs()).toBe(tabs + 1);
  await expect(app.page.getByText(/^Window of/)).toHaveCount(0);
  const [over, bar] = await Promise.all(
    ['iframe[title="Page"]', "nav.bar"].map((each) => app.page.locator(each).boundingBox()),
  );
  expect((over?.y ?? 0) + (over?.height ?? 0)).toBeLessThanOrEqual(bar?.y ?? 0);
  await app.frame().getByRole("link", { name: "Two" }).click();
  await expect(app.frame().getByText("The second")).toBeVisible();
  await app.page.getByRole("button", { name: "Back" }).click();
  await expect(app.frame().getByRole("link", { name: "Two" })).toBeVisible();
  await app.page.getByRole("button", { name: "Back" }).click();
  await expect(list()).toHaveValue("kept");
  expect(await app.tabs()).toBe(tabs);

  await app.frame().getByRole("link", { name: "Own" }).click();
  await expect(app.frame().getByText("an opener")).toBeVisible();
  await ownIsThere();
  await expect(app.page.locator(".window-row p")).toHaveText(`Window of ${new URL(origin.origin).host}`);
  expect(await app.tabs()).toBe(tabs + 1);
  await app.page.getByRole("button", { name: "Close", exact: true }).click();
  await expect(list()).toHaveValue("kept");
  await expect(app.address).toHaveValue(/list$/);
  await expect.poll(() => toldTo(origin, otherOrigin)).toEqual(wanted);
});

test("the phone's own Back closes a window; one that has sent its opener on leaves it there", async ({
  app,
  direct,
  origin,
  otherOrigin,
}) => {
  origin.page("/list", `<a target=_blank rel=opener href="${otherOrigin.origin}/one">One</a><input>${TELLS}`);
  origin.page("/done", `<p>Done</p>${TELLS}`);
  otherOrigin.page(
    "/one",
    `${TELLS}<p>The first</p><a href="/two">Two</a><button onclick='opener.location.href = "${origin.origin}/done"; window.close()'>Pay</button>`,
  );
  otherOrigin.page("/two", "<p>The second</p>");
  const open = async () => {
    await app.frame().getByRole("link", { name: "One" }).click();
    await expect(app.frame().getByText("The first")).toBeVisible();
  };
  await direct.page.goto(`${origin.origin}/list`);
  const opened = direct.page.waitForEvent("popup");
  await direct.page.getByRole("link", { name: "One" }).click();
  await pressLast((await opened).getByRole("button", { name: "Pay" }));
  await expect(direct.page.getByText("Done")).toBeVisible();
  // But what a window says as it closes itself: the browser may end its process first.
  const told = () => toldTo(origin, otherOrigin).filter((each) => !each.includes("/one,pagehide"));
  await expect.poll(told).toHaveLength(4);
  const wanted = told().filter((each) => !each.includes("/list,pageshow"));
  await app.goto(`${origin.origin}/list`);
  await app.frame().getByRole("textbox").fill("kept");
  await open();
  // First through the window's own history, also where another tab was in front meanwhile.
  await app.frame().getByRole("link", { name: "Two" }).click();
  await expect(app.frame().getByText("The second")).toBeVisible();
  for (const page of ["/list", "/two"]) {
    await app.page.getByRole("button", { name: /^Tabs:/ }).click();
    const { host } = new URL(page === "/list" ? origin.origin : otherOrigin.origin);
    await app.page.getByRole("dialog").getByRole("button", { name: host }).first().click();
    await expect(app.address).toHaveValue(new RegExp(`${page}$`));
  }
  await app.page.evaluate(() => history.back());
  await expect(app.frame().getByText("The first")).toBeVisible();
  await app.page.evaluate(() => history.back());
  await expect(app.frame().getByRole("textbox")).toHaveValue("kept");
  await expect(app.page.getByText(/^Window of/)).toHaveCount(0);

  for (const site of [origin, otherOrigin]) site.forget();
  await open();
  await app.frame().getByRole("button", { name: "Pay" }).click();
  await expect(app.frame().getByText("Done")).toBeVisible();
  await expect(app.address).toHaveValue(/done$/);
  await expect(app.page.getByText(/^Window of/)).toHaveCount(0);
  // A word of the window before may still be on its way.
  await expect.poll(() => [...new Set(told())]).toEqual(wanted);
  await app.page.getByRole("button", { name: "Back" }).click();
  await expect(app.frame().getByRole("link", { name: "One" })).toBeVisible();
});

test("a page brings the window that it has opened to the front of others; no window does so with its opener", async ({
  app,
  origin,
  otherOrigin,
}) => {
  const noted = `<script>
    const note = (what) => { localStorage.noted = (localStorage.noted ?? "") + location.pathname + " " + what + ", "; };
    for (const type of ["focus", "blur"]) addEventListener(type, () => note(type));
  </script>`;
  origin.page(
    "/desk",
    `<button onclick="shown = window.open('${otherOrigin.origin}/chat')">Chat</button><script>
      var shown;
      onmessage = ({ data }) => { if (data === "ring") shown.focus(); };
    </script>`,
  );
  otherOrigin.page(
    "/chat",
    `<button onclick="window.open('/form')">Form</button><input aria-label="Answer">${noted}<script>
      const calls = new BroadcastChannel("calls");
      calls.onmessage = ({ data }) => opener.postMessage(data, "*");
    </script>`,
  );
  otherOrigin.page(
    "/form",
    `<p></p><button onclick="lift()">Lift</button>${noted}<script>
      const lift = () => {
        localStorage.noted = "";
        opener.focus();
        document.querySelector("p").textContent += "lifted";
        new BroadcastChannel("calls").postMessage("ring");
      };
      opener.focus();
      document.querySelector("p").textContent = "here ";
    </script>`,
  );
  await app.goto(`${origin.origin}/desk`);
  await app.frame().getByRole("button", { name: "Chat" }).click();
  await app.frame().getByLabel("Answer").fill("kept");
  await app.frame().getByRole("button", { name: "Form" }).click();
  await expect(app.frame().getByText("here")).toBeVisible();
  await expect(app.address).toHaveValue(/form$/);
  await app.frame().getByRole("button", { name: "Lift" }).click();
  await expect(app.address).toHaveValue(/chat$/);
  await expect(app.page.getByText(/^Window of/)).toHaveText(`Window of ${new URL(origin.origin).host}`);
  await expect(app.frame().getByLabel("Answer")).toHaveValue("kept");
  await expect.poll(async () => (await app.content()).evaluate(() => document.hasFocus())).toBe(true);
  const formInApp = app.page.frames().find((frame) => frame.url().endsWith("/form"));
  // As in Chromium's own windows, where they have a screen: without one the focus of two windows goes either way.
  await expect
    .poll(() => formInApp?.evaluate(() => [document.hasFocus(), ...localStorage.noted.split(", ").sort()]))
    .toEqual([false, "", "/chat focus", "/form blur"]);
  // The phone's own way back closes it, and leads to the page that has opened it; the other stays in the list.
  await app.page.evaluate(() => history.back());
  await expect(app.frame().getByRole("button", { name: "Chat" })).toBeVisible();
  await app.page.getByRole("button", { name: /^Tabs:/ }).click();
  const row = app.page.getByRole("dialog").getByRole("button", { name: new URL(otherOrigin.origin).host });
  await row.first().click();
  await expect(app.frame().getByText("here lifted")).toBeVisible();
  await app.page.getByRole("button", { name: "Close", exact: true }).click();
  await expect(app.frame().getByRole("button", { name: "Chat" })).toBeVisible();
});

test("without a tap no window opens, until the person lets it", async ({ app, direct, origin }) => {
  const opens = `<script>window.shown = open("/other");</script><p>Page</p>`;
  origin.page("/held", opens);
  for (const path of ["/page", "/page?again"]) origin.page(path, opens + TELLS);
  origin.page("/other", `<p>Other</p>${TELLS}`);
  origin.page("/third", `<p>Third</p>${TELLS}`);
  await withPopupBlocker(async (page) => {
    await page.goto(`${origin.origin}/held`);
    // In the app the person may still let it open, and the script gets what becomes a window then.
    expect(await page.evaluate("shown")).toBe(null);
  });
  expect(origin.requestsTo("/other")).toEqual([]);
  origin.forget();
  // A window that closes before its page has loaded tells nothing.
  const isThere = (path: string, times = 1) =>
    expect
      .poll(() => toldTo(origin).filter((each) => each.startsWith(`/told?${path},pageshow`)).length)
      .toBeGreaterThanOrEqual(times);
  // As where the person lets the site open windows.
  const { page } = direct;
  for (const path of ["/page", "/page?again"]) {
    const opened = page.waitForEvent("popup");
    await page.goto(origin.origin + path);
    await expect((await opened).getByText("Other")).toBeVisible();
    await isThere("/other", path === "/page" ? 1 : 2);
    if (path === "/page") await (await opened).close();
  }
  const next = page.waitForEvent("popup");
  await page.evaluate(`shown.close(); open("/third"); 0`);
  await expect((await next).getByText("Third")).toBeVisible();
  await isThere("/third");
  await (await next).close();
  const seen = () => [
    ...toldTo(origin),
    ...origin.requests
      .filter(({ headers }) => headers["sec-fetch-mode"] === "navigate")
      .map(({ url, headers }) =>
        JSON.stringify([url, headers["sec-fetch-user"], headers["sec-fetch-site"], headers.referer]),
      )
      .sort(),
  ];
  await expect.poll(() => toldTo(origin)).toHaveLength(9);
  const wanted = seen();
  origin.forget();

  await app.goto(`${origin.origin}/held`);
  await expect(app.page.getByRole("navigation").getByText("wanted to open a window")).toBeVisible();
  expect(origin.requestsTo("/other")).toEqual([]);
  await app.page.getByRole("button", { name: "Open", exact: true }).click();
  await isThere("/other");
  await app.page.getByRole("button", { name: "Close", exact: true }).click();
  await expect.poll(() => toldTo(origin)).toHaveLength(2);
  origin.forget();

  await app.goto(`${origin.origin}/page`);
  await app.page.getByRole("button", { name: "Always on this site" }).click();
  await isThere("/other");
  await app.page.getByRole("button", { name: "Close", exact: true }).click();
  await app.goto(`${origin.origin}/page?again`);
  await isThere("/other", 2);

  // As one closes the next opens, and stays until the phone's own way back leads to the page.
  const opener = app.page.frames().find((frame) => frame.url().endsWith("/page?again"));
  await opener?.evaluate(`shown.close(); open("/third");`);
  await isThere("/third");
  await app.page.goBack();
  await expect(app.frame().getByText("Page")).toBeVisible();
  await expect.poll(seen).toEqual(wanted);
  await app.page.getByRole("button", { name: "Site information" }).click();
  const unasked = app.page.getByRole("switch", { name: "Windows that open by themselves" });
  await unasked.click();
  await expect(unasked).not.toBeChecked();
  await app.page.keyboard.press("Escape");
  await app.page.getByRole("button", { name: "Home" }).click();
  await app.goto(`${origin.origin}/held`);
  await expect(app.page.getByRole("navigation").getByText("wanted to open a window")).toBeVisible();
});

alone(
  "two windows that go to one page at once get a response each, and it is no visit of the person's",
  async ({ app, origin, otherOrigin }) => {
    origin.page("/first", '<script>open("/there")</script><p>First</p>');
    origin.page("/there", "<p>There</p>");
    const goal = `${otherOrigin.origin}/goal`;
    otherOrigin.route("/goal", ({ reply }) =>
      reply(
        200,
        { "content-type": "text/html", "cache-control": "no-store" },
        "<script>opener?.postMessage('came', '*')</script><p>Goal</p>",
      ),
    );
    origin.page(
      "/two",
      `<script>let come = 0; onmessage = () => { document.title = ++come; };
    onload = () => setTimeout(() => { for (const each of [1, 2]) window.shown = open("${goal}"); });</script>`,
    );
    await app.goto(`${origin.origin}/first`);
    await app.page.getByRole("button", { name: "Always on this site" }).click();
    await expect(app.frame().getByText("There")).toBeVisible();
    await app.page.getByRole("button", { name: "Close", exact: true }).click();
    await app.ask(`${origin.origin}/two`);
    const opener = () => app.page.frames().find((frame) => frame.url().endsWith("/two"));
    await expect.poll(() => opener()?.title()).toBe("2");
    const sites = () =>
      otherOrigin.requests.filter(({ url }) => url === "/goal").map((each) => each.headers["sec-fetch-site"]);
    expect(sites()).toEqual(["cross-site", "cross-site"]);
    await opener()?.evaluate(`shown.location = "/there"`);
    await expect(app.frame().getByText("There")).toBeVisible();
    await app.page.getByRole("button", { name: "Back" }).click();
    await expect(app.frame().getByText("Goal")).toBeVisible();
    expect(sites()).toEqual(Array(3).fill("cross-site"));
  },
);

test("a receipt is written into a blank window, printed, and closed by its own script", async ({
  app,
  direct,
  origin,
}) => {
  origin.route("/picture.svg", ({ reply }) =>
    reply(200, { "content-type": "image/svg+xml" }, '<svg xmlns="http://www.w3.org/2000/svg" width="7" height="7"/>'),
  );
  origin.page(
    "/page",
    `<button>Receipt</button><script>${LOG}
      const hear = new Promise((resolve) => {
        onmessage = ({ data }) => { log.push(data); if (data.said === "printed") resolve(); };
      });
      document.querySelector("button").onclick = async () => {
        window.shown = open("", "receipt");
        log.push(shown.closed, shown.document.body.childElementCount, shown === open("", "receipt"));
        shown.print = () => log.push("printed by its opener");
        shown.document.write("<h1>Receipt</h1><img src=/picture.svg onload='wait()'>");
        shown.document.write("<script>function wait() { print(); opener.postMessage({ said: 'printed', width: document.images[0].naturalWidth }, '*') }<\\/script>");
        shown.document.close();
        shown.document.title = "Receipt";
        await hear;
        log.push(shown.document.title, shown.document.querySelector("h1").textContent, shown.length, typeof shown.focus());
        shown.onmessage = ({ data, source }) => {
          log.push(data, source === window);
          shown.document.body.append(Object.assign(shown.document.createElement("button"), { textContent: "Done", onclick: new shown.Function("close()") }));
        };
        shown.postMessage("thanks", "*");
        const timer = setInterval(() => { if (shown.closed) { clearInterval(timer); log.push("closed"); end(); } }, 50);
      };
    </script>`,
  );
  const done = direct.page.waitForEvent("popup").then((popup) => pressLast(popup.getByText("Done")));
  const wanted = await logOf(direct.page, `${origin.origin}/page`);
  await done;
  expect(wanted).toContainEqual({ said: "printed", width: 7 });
  const inApp = logOf(app, `${origin.origin}/page`);
  const receipt = app.frame().frameLocator("iframe");
  await expect(receipt.getByRole("heading", { name: "Receipt" })).toBeVisible();
  await pressLast(receipt.getByText("Done"));
  expect(await inApp).toEqual(wanted);
  await expect(app.frame().locator("iframe")).toHaveCount(0);
});

test("windows show what a script has made; those of data: show nothing, as in browsers", async ({
  app,
  direct,
  origin,
}) => {
  origin.page(
    "/page",
    `<button>Open</button> <a target=_blank>Link</a><script>${LOG}
      const made = (text, type = "text/html") => URL.createObjectURL(new Blob([text], { type }));
      const wait = (said) => new Promise((resolve) => addEventListener("message", function hear({ data }) {
        if (data.said !== said) return;
        removeEventListener("message", hear);
        log.push(data);
        resolve();
      }));
      const markup = (said) => "<p>Made here</p><script>opener.postMessage({ said: '" + said + "', opener: opener === null, storage: localStorage.seen }, '*')<\\/script>";
      localStorage.seen = "by both";
      document.querySelector("a").href = made("<title>By a link</title><p>By a link</p>");
      const step = {
        async blob() {
          const shown = open(made(markup("blob")), "made");
          await wait("blob");
          log.push(typeof shown, shown.document.querySelector("p").textContent);
          shown.close();
          log.push(shown.closed, shown.opener === window);
          for (let turn = 0; turn < 400 && shown.opener !== null; turn++) await new Promise((each) => setTimeout(each, 50));
          log.push(shown.opener, shown.self === shown);
        },
        async text() {
          const shown = open(made("Plain <text>", "text/plain"));
          while (!shown.document.body?.textContent.includes("Plain")) await new Promise((each) => setTimeout(each, 50));
          log.push(shown.document.body.textContent.trim());
          shown.close();
        },
        async script() {
          const shown = open("javascript:opener.postMessage({ said: 'script', here: location.href }, '*')");
          await wait("script");
          shown.close();
        },
        async data() {
          const shown = open("data:text/html,<script>opener.postMessage(0, '*')<\\/script>Data");
          log.push(shown.closed, shown.opener === window);
          shown.close();
        },
      };
      document.querySelector("button").onclick = ({ target }) => step[target.textContent]().then(end);
    </script>`,
  );
  const walk = async (around: Page | AppPage) => {
    await around.goto(`${origin.origin}/page`);
    const page = await contentOf(around);
    for (const step of ["blob", "text", "script", "data"]) {
      await page.evaluate((name) => {
        document.title = "";
        (document.querySelector("button") as HTMLElement).textContent = name;
      }, step);
      await page.locator("button").click();
      await expect.poll(() => page.title(), { message: step }).toBe("done");
    }
    const opened = isApp(around) ? null : around.context().waitForEvent("page");
    await page.getByText("Link").click();
    const made = isApp(around) ? around.frame().frameLocator("iframe") : ((await opened) as Page);
    const seen = () => made.locator("p").evaluate(() => [opener === null, localStorage.seen]);
    // Another process of the browser's may see it later.
    await expect.poll(seen).toEqual([true, "by both"]);
    return page.evaluate("log");
  };
  expect(await walk(app)).toEqual(await walk(direct.page));
  // The person closes it, by the button above, which no script of the page reaches.
  await app
    .frame()
    .locator("html")
    .click({ position: { x: 60, y: 20 }, force: true });
  await expect(app.frame().getByText("Link")).toBeVisible();
  await expect(app.frame().locator("iframe")).toHaveCount(0);
});

test("a window that nobody asked for is not shown, though a script fills it", async ({ app, origin }) => {
  origin.page(
    "/page",
    `<p>Page</p><script>
      const shown = open(URL.createObjectURL(new Blob(["<p>Made here</p>"], { type: "text/html" })));
      const timer = setInterval(() => { if (shown?.closed !== false) document.title = "blocked"; }, 50);
    </script>`,
  );
  await withPopupBlocker(async (page) => {
    await page.goto(`${origin.origin}/page`);
    await expect.poll(() => page.title()).toBe("blocked");
    expect(page.context().pages()).toEqual([page]);
  });
  await app.goto(`${origin.origin}/page`);
  await expect.poll(async () => (await app.content()).title()).toBe("blocked");
  await expect(app.page.getByRole("navigation").getByText("wanted to open a window")).toBeVisible();
  await expect(app.frame().locator("iframe")).toHaveCount(0);
});

test("a payment window on another site posts what came of it to the shop, and closes", async ({
  app,
  direct,
  origin,
  otherOrigin,
}) => {
  origin.page(
    "/shop",
    `<button>Pay</button><script>${LOG}
      document.querySelector("button").onclick = () => {
        const shown = open("about:blank", "pay", "popup,width=400");
        log.push(shown.closed);
        onmessage = ({ data, origin, source }) => {
          log.push(data, origin === "${otherOrigin.origin}", source === shown);
          if (data === "ready") source.postMessage({ amount: 7 }, origin);
          if (data.paid) end();
        };
        // The order is made first.
        fetch("/order").then(() => {
          const form = document.createElement("form");
          Object.assign(form, { method: "post", action: "${otherOrigin.origin}/pay", target: "pay" });
          form.innerHTML = "<input name=order value=1>";
          document.body.append(form);
          form.submit();
        });
      };
    </script>`,
  );
  origin.page("/order", "");
  otherOrigin.route("/pay", async (exchange) => {
    const body = String(await exchange.body());
    exchange.reply(
      200,
      { "content-type": "text/html" },
      `<!doctype html><button id=pay>Pay now</button><script>
        const where = "${origin.origin}";
        onmessage = ({ data, origin, source }) => {
          if (origin !== where || source !== opener) return;
          pay.onclick = () => { opener.postMessage({ paid: data.amount, order: "${body}" }, where); close(); };
          pay.textContent = "Pay " + data.amount;
        };
        opener.postMessage("ready", where);
      </script>`,
    );
  });
  const paid = direct.page.waitForEvent("popup").then((popup) => pressLast(popup.getByText("Pay 7")));
  const wanted = await logOf(direct.page, `${origin.origin}/shop`);
  await paid;
  const inApp = logOf(app, `${origin.origin}/shop`);
  await pressLast(app.frame().getByText("Pay 7"));
  expect(await inApp).toEqual(wanted);
  await expect(app.frame().getByRole("button", { name: "Pay" })).toBeVisible();
});

test("oidc-client-ts signs in by a popup, and renews by a frame", async ({ app, direct, origin, otherOrigin }) => {
  const { resolve } = createRequire(import.meta.url);
  const library = await readFile(join(resolve("oidc-client-ts"), "../../browser/oidc-client-ts.min.js"));
  origin.route("/oidc.js", ({ reply }) => reply(200, { "content-type": "text/javascript" }, library));
  const manager = `<script src=/oidc.js></script><script>
    const manager = new oidc.UserManager({
      authority: "${otherOrigin.origin}", client_id: "shop", redirect_uri: location.origin + "/signed-in",
      popup_redirect_uri: location.origin + "/signed-in", silent_redirect_uri: location.origin + "/renewed", scope: "openid",
      automaticSilentRenew: false, includeIdTokenInSilentRenew: true,
    });
  </script>`;
  origin.page(
    "/app",
    `<button>Sign in</button>${manager}<script>${LOG}
      manager.events.addUserLoaded(({ access_token }) => log.push("loaded " + access_token));
      const renew = async () => {
        const { access_token } = await manager.signinSilent({ forceIframeAuth: true });
        log.push("renewed " + access_token);
      };
      document.querySelector("button").onclick = async () => {
        try {
          const user = await manager.signinPopup();
          log.push(user.profile.sub, user.access_token);
          await renew();
          log.push((await manager.getUser()).access_token);
          await manager.removeUser();
          await renew();
        } catch (error) { log.push(error.error ?? String(error)); }
        end();
      };
    </script>`,
  );
  origin.page("/signed-in", `${manager}<script>manager.signinPopupCallback();</script>`);
  origin.page("/renewed", `${manager}<script>manager.signinSilentCallback();</script>`);
  serveIdentity(otherOrigin, origin.origin);
  const signedIn = direct.page.waitForEvent("popup").then((popup) => pressLast(popup.getByText("I am Ann")));
  const wanted = await logOf(direct.page, `${origin.origin}/app`);
  await signedIn;
  expect(wanted).toEqual([
    ...["loaded token 1", "ann", "token 1"],
    ...["loaded token 2", "renewed token 2", "token 2", "login_required"],
  ]);
  serveIdentity(otherOrigin, origin.origin);
  const inApp = logOf(app, `${origin.origin}/app`);
  await pressLast(app.frame().getByText("I am Ann"));
  expect(await inApp).toEqual(wanted);
});

test("a page learns nothing of windows and tabs that it has not opened", async ({ app, origin, otherOrigin }) => {
  // Slots that are got ready have frames, too.
  const spares = () => app.page.locator("body > iframe").count();
  const tabs = app.page.getByRole("button", { name: /^Tabs:/ });
  const openTab = async (path: string) => {
    await app.page.getByRole("button", { name: "Menu" }).click();
    await app.page.getByRole("button", { name: "New tab" }).click();
    await app.goto(otherOrigin.origin + path);
  };
  origin.page("/page", `<a target=_blank href="${otherOrigin.origin}/one">One</a>`);
  otherOrigin.page("/one", `<a target=two href="/two">Two</a>`);
  otherOrigin.page("/two", "<p>The second</p>");
  const before = await app.tabs();
  await app.goto(`${origin.origin}/page`);
  await app.frame().getByRole("link", { name: "One" }).click();
  await app.frame().getByRole("link", { name: "Two" }).click();
  await expect(app.frame().getByText("The second")).toBeVisible();
  const page = await app.content();
  await page.evaluate(`name = "named"`);
  otherOrigin.page("/five", "<p>The fifth</p>");
  for (const path of ["/three", "/four"]) {
    otherOrigin.page(path, `<a target=named href="/five">By its name</a>`, path);
    await openTab(path);
  }
  await (await app.content()).evaluate(`name = "four"`);
  expect(await app.tabs()).toBe(before + 4);
  // From behind, and in front.
  for (const each of [page, await app.content()]) {
    await expect.poll(async () => (await each.evaluate(`(0, eval)("top").length`)) === (await spares())).toBe(true);
    for (const name of ["ropeway-opened two", "ropeway-opened ", "named", "four", "Page"])
      await expect(each.evaluate(`(0, eval)("top")["${name}"]`), name).rejects.toThrow("SecurityError");
  }
  await app.frame().getByRole("link", { name: "By its name" }).click();
  await expect(app.frame().getByText("The fifth")).toBeVisible();
  expect(await page.evaluate(() => location.pathname)).toBe("/two");
  await app.page.getByRole("button", { name: "Close", exact: true }).click();
  for (const name of ["/three", "/four"]) {
    await tabs.click();
    await app.page.getByRole("button", { name: `Close ${name}` }).click();
    await app.page.keyboard.press("Escape");
  }
  expect(await app.tabs()).toBe(before + 2);
});
