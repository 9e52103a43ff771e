/** Windows that pages open: they say to each other, and know of each other, as in a direct visit. */
import type { Frame, Page } from "@playwright/test";
import { type AppPage, expect, testInOneApp as test } from "../fixtures/browser.ts";

const isApp = (around: Page | AppPage): around is AppPage => "address" in around;
const contentOf = async (around: Page | AppPage): Promise<Page | Frame> => (isApp(around) ? around.content() : around);

/** Opens the page, presses its button, and waits until its title says that its log is whole. */
async function logOf(around: Page | AppPage, url: string): Promise<unknown> {
  await around.goto(url);
  const page = await contentOf(around);
  await page.locator("button").click();
  await expect.poll(() => page.title(), { timeout: 45_000 }).toBe("done");
  return page.evaluate("log");
}

const LOG = `const log = []; const end = () => { document.title = "done"; };`;

test("a sign-in window posts its token to the page that has opened it, and closes", async ({
  app,
  direct,
  origin,
  otherOrigin,
}) => {
  origin.page(
    "/shop",
    `<button>Sign in</button><script>${LOG}
      document.querySelector("button").onclick = () => {
        const byPort = [];
        const shown = open("${otherOrigin.origin}/login?from=shop", "login", "width=400,height=600");
        log.push(typeof shown, shown.closed, shown.length, shown === shown.window, shown.opener === window);
        onmessage = ({ data, origin, source, ports }) => {
          log.push(data, origin, source === shown, ports.length);
          if (data.token === undefined) return;
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
    `<script>
      const { port1, port2 } = new MessageChannel();
      onmessage = ({ data, origin, source }) => {
        opener.postMessage({ heard: data, from: origin, isOpener: source === opener }, "*");
        setTimeout(close, 200);
      };
      port1.onmessage = ({ data }) => port1.postMessage("answer to " + data);
      opener.postMessage("for nobody", "http://127.0.0.1:9");
      opener.postMessage({ token: 7, name: window.name, isClosed: opener.closed, referrer: document.referrer }, "${origin.origin}", [port2]);
    </script>`,
  );
  expect(await logOf(app, `${origin.origin}/shop`)).toEqual(await logOf(direct.page, `${origin.origin}/shop`));
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
              log.push(href, shown.location.pathname);
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
  expect(await logOf(app, `${origin.origin}/page`)).toEqual(await logOf(direct.page, `${origin.origin}/page`));
});

test("a page that parts itself from others has no opener, and is none, of another origin", async ({
  app,
  direct,
  origin,
  otherOrigin,
}) => {
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
  for (const path of ["/open", "/apart"])
    expect(await logOf(app, origin.origin + path), path).toEqual(await logOf(direct.page, origin.origin + path));
  await expect.poll(() => seen).toEqual(Array.from({ length: 4 }, () => "/seen?true"));
});

test("links open windows over the page, which goes on; Close and Back lead back to it as it was", async ({
  app,
  origin,
  otherOrigin,
}) => {
  origin.page(
    "/list",
    `<a target=_blank href="${otherOrigin.origin}/one">One</a> <input> <a target=_blank rel=opener href="/own">Own</a>`,
  );
  const says = `<script>document.write(opener === null ? "no opener" : "an opener")</script>`;
  otherOrigin.page("/one", `${says}<a href="/two">Two</a>`);
  otherOrigin.page("/two", `<p>The second</p>${says}`);
  origin.page("/own", says);
  const list = () => app.frame().getByRole("textbox");
  await app.goto(`${origin.origin}/list`);
  await list().fill("kept");

  await app.frame().getByRole("link", { name: "One" }).click();
  await expect(app.frame().getByText("no opener")).toBeVisible();
  await expect(app.address).toHaveValue(/one$/);
  await app.frame().getByRole("link", { name: "Two" }).click();
  await expect(app.frame().getByText("The second")).toBeVisible();
  await app.page.getByRole("button", { name: "Back" }).click();
  await expect(app.frame().getByRole("link", { name: "Two" })).toBeVisible();
  await app.page.getByRole("button", { name: "Back" }).click();
  await expect(list()).toHaveValue("kept");

  await app.frame().getByRole("link", { name: "Own" }).click();
  await expect(app.frame().getByText("an opener")).toBeVisible();
  await app.page.getByRole("button", { name: "Close", exact: true }).click();
  await expect(list()).toHaveValue("kept");
  await expect(app.address).toHaveValue(/list$/);
});

test("the phone's own Back closes a window; one that has sent its opener on leaves it there", async ({
  app,
  origin,
  otherOrigin,
}) => {
  origin.page("/list", `<a target=_blank rel=opener href="${otherOrigin.origin}/one">One</a><input>`);
  origin.page("/done", "<p>Done</p>");
  otherOrigin.page(
    "/one",
    `<p>The first</p><button onclick='opener.location.href = "${origin.origin}/done"; window.close()'>Pay</button>`,
  );
  const open = async () => {
    await app.frame().getByRole("link", { name: "One" }).click();
    await expect(app.frame().getByText("The first")).toBeVisible();
  };
  // Windows of other tests close.
  await app.page.getByRole("button", { name: "Home" }).click();
  await app.goto(`${origin.origin}/list`);
  await app.frame().getByRole("textbox").fill("kept");
  await open();
  await app.page.evaluate(() => history.back());
  await expect(app.frame().getByRole("textbox")).toHaveValue("kept");
  await expect(app.page.getByText(/^Window of/)).toHaveCount(0);

  await open();
  await app.frame().getByRole("button", { name: "Pay" }).click();
  await expect(app.frame().getByText("Done")).toBeVisible();
  await expect(app.address).toHaveValue(/done$/);
  await expect(app.page.getByText(/^Window of/)).toHaveCount(0);
  await app.page.getByRole("button", { name: "Back" }).click();
  await expect(app.frame().getByRole("link", { name: "One" })).toBeVisible();
});

test("without a tap no window opens, until the person lets it", async ({ app, origin }) => {
  for (const path of ["/page", "/page?again"])
    origin.page(path, `<script>window.shown = open("/other");</script><p>Page</p>`);
  origin.page("/other", "<p>Other</p>");
  await app.goto(`${origin.origin}/page`);
  await expect(app.page.getByRole("navigation").getByText("wanted to open a window")).toBeVisible();
  await app.page.getByRole("button", { name: "Open", exact: true }).click();
  await expect(app.frame().getByText("Other")).toBeVisible();
  await app.page.getByRole("button", { name: "Home" }).click();

  await app.goto(`${origin.origin}/page`);
  await app.page.getByRole("button", { name: "Always on this site" }).click();
  await expect(app.frame().getByText("Other")).toBeVisible();
  await app.page.getByRole("button", { name: "Close", exact: true }).click();
  await app.goto(`${origin.origin}/page?again`);
  await expect(app.frame().getByText("Other")).toBeVisible();
  await app.page.getByRole("button", { name: "Site information" }).click();
  const unasked = app.page.getByRole("switch", { name: "Windows that open by themselves" });
  await unasked.click();
  await expect(unasked).not.toBeChecked();
  await app.page.keyboard.press("Escape");
  await app.page.getByRole("button", { name: "Home" }).click();
  await app.goto(`${origin.origin}/page`);
  await expect(app.page.getByRole("navigation").getByText("wanted to open a window")).toBeVisible();
});

test("a window is filled by the script that has opened it, and closed by the person", async ({ app, origin }) => {
  origin.route("/picture.svg", ({ reply }) =>
    reply(200, { "content-type": "image/svg+xml" }, '<svg xmlns="http://www.w3.org/2000/svg" width="7" height="7"/>'),
  );
  origin.page(
    "/page",
    `<button>Receipt</button><script>
      document.querySelector("button").onclick = () => {
        window.shown = open("");
        shown.document.write("<h1>Receipt</h1><img src=/picture.svg>");
        shown.document.close();
      };
    </script>`,
  );
  await app.goto(`${origin.origin}/page`);
  const page = await app.content();
  await page.getByRole("button", { name: "Receipt" }).click();
  await expect(page.frameLocator("iframe").getByRole("heading", { name: "Receipt" })).toBeVisible();
  const picture = page.frameLocator("iframe").locator("img");
  await expect.poll(() => picture.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(7);
  await page.evaluate(() => {
    const { shown } = window as unknown as { shown: Window };
    shown.document.title = "Receipt";
  });
});

test("a page learns nothing of windows that it has not opened", async ({ app, origin, otherOrigin }) => {
  // Slots that are got ready have frames, too.
  const spares = () => app.page.locator("body > iframe").count();
  origin.page("/page", `<a target=_blank href="${otherOrigin.origin}/one">One</a>`);
  otherOrigin.page("/one", `<a target=two href="/two">Two</a>`);
  otherOrigin.page("/two", "<p>The second</p>");
  await app.goto(`${origin.origin}/page`);
  await app.frame().getByRole("link", { name: "One" }).click();
  await app.frame().getByRole("link", { name: "Two" }).click();
  await expect(app.frame().getByText("The second")).toBeVisible();
  const page = await app.content();
  await expect.poll(async () => (await page.evaluate(`(0, eval)("top").length`)) === (await spares())).toBe(true);
  for (const name of ["ropeway-opened two", "ropeway-opened "])
    await expect(page.evaluate(`(0, eval)("top")["${name}"]`)).rejects.toThrow("SecurityError");
});
