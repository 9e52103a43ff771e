import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { AppPage } from "../fixtures/app-page.ts";
import { expect, test, testInOneApp } from "../fixtures/browser.ts";
import { startTestOrigin } from "../fixtures/test-origin/test-origin.ts";

/** Expects an error page of the app with this heading, and a way to try again where that can help. */
async function expectError(app: AppPage, heading: RegExp, canBeTriedAgain = true): Promise<void> {
  await expect(app.page.getByRole("heading", { level: 1 })).toHaveText(heading);
  await expect(app.page.getByRole("button", { name: "Start page" })).toBeVisible();
  await expect(app.page.getByRole("button", { name: "Try again" })).toHaveCount(canBeTriedAgain ? 1 : 0);
  await expect(app.page.locator("html")).toHaveAttribute("data-page", "failed");
}

async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

test("no such host", async ({ app }) => {
  await app.goto("http://nowhere.invalid/");
  await expectError(app, /no site with this name/i);
  await expect(app.page.getByText("nowhere.invalid").first()).toBeVisible();
});

test("connection refused, and the retry works once somebody answers", async ({ app }) => {
  const port = await closedPort();
  await app.goto(`http://127.0.0.1:${port}/`);
  await expectError(app, /turned the connection down/i);
  const origin = await startTestOrigin({ port });
  origin.page("/", "<p>Back again</p>");
  await app.navigated(() => app.page.getByRole("button", { name: "Try again" }).click());
  await expect(app.frame().getByText("Back again")).toBeVisible();
  await origin.close();
});

test("a page that is shown stays where the next cannot be had, and that is tried again by itself", async ({
  app,
  origin,
  otherOrigin,
}) => {
  const links = `<input id="note"><a href="/reset">Here</a> <a href="${otherOrigin.origin}/reset">There</a>
    <a href="http://nowhere.invalid/">Nowhere</a>`;
  origin.page("/", links, "Stays");
  await app.goto(`${origin.origin}/`);
  await app.frame().locator("#note").fill("not sent yet");
  const bar = app.page.locator(".notice-bar");
  for (const [link, why] of [
    ["Here", /did not open\. The site/],
    ["There", /did not open\. The site/],
    ["Nowhere", /^nowhere\.invalid did not open\. No site with this name\./],
  ] as const) {
    // Without a spare slot a boot page takes the place of the page, which comes back anew.
    await app.sparesReady();
    await app.frame().getByRole("link", { name: link, exact: true }).click();
    await expect(bar).toHaveText(why);
    await expect(app.told(why)).toBeAttached();
    await expect(app.page.locator("html")).toHaveAttribute("data-page", "loaded");
    await expect(app.frame().locator("#note")).toHaveValue("not sent yet");
    await expect(app.address).toHaveValue(`${origin.origin}/`);
    await bar.getByRole("button", { name: "Close" }).click();
    await expect(bar).toHaveCount(0);
  }
  await app.goto(`${otherOrigin.origin}/reset`);
  await expect(bar).toHaveText(/Ropeway will try again soon\.Try againEdit the address$/);
  await expect(app.frame().locator("#note")).toHaveValue("not sent yet");
  const words = await bar.locator("p").boundingBox();
  for (const name of ["Try again", "Edit the address"]) {
    const button = await bar.getByRole("button", { name }).boundingBox();
    expect(button?.y ?? 0, name).toBeGreaterThanOrEqual((words?.y ?? 0) + (words?.height ?? 0));
  }
  await bar.getByRole("button", { name: "Edit the address" }).click();
  await expect(app.address).toBeFocused();
  await expect(app.address).toHaveValue(`${otherOrigin.origin}/reset`);
  await app.page.keyboard.press("Escape");
  otherOrigin.page("/reset", "<p>There after all</p>");
  await expect(app.frame().getByText("There after all")).toBeVisible();
  await expect(bar).toHaveCount(0);
});

test("connection reset", async ({ app, origin }) => {
  await app.goto(`${origin.origin}/reset`);
  await expectError(app, /hung up|could not be reached/i);
});

for (const [part, sent] of [
  ["nothing", ""],
  ["half", `<!doctype html><title>Half</title><p>First half</p>${"<!-- -->".repeat(3_000)}`],
]) {
  test(`a site that hangs up after ${part} of a page of known length, and the retry that gets all`, {
    tag: "@deno",
  }, async ({ app, origin }) => {
    origin.route("/page", async ({ response, socket, write }) => {
      if (origin.requestsTo("/page").length > 1) {
        response.writeHead(200, { "content-type": "text/html" }).end("<!doctype html><p>All of it</p>");
        return;
      }
      response.writeHead(200, { "content-type": "text/html", "content-length": 100_000 });
      response.flushHeaders();
      if (sent) await write(sent);
      // When the phone has the head, the document is on its way into its frame.
      await expect(app.page.locator("html")).toHaveAttribute("data-page", "loading");
      socket.destroy();
    });
    await app.goto(`${origin.origin}/page`);
    await expectError(app, /hung up/i);
    await app.navigated(() => app.page.getByRole("button", { name: "Try again" }).click());
    await expect(app.frame().getByText("All of it")).toBeVisible();
    await expect(app.page.locator("html")).toHaveAttribute("data-page", "loaded");
  });
}

test("a certificate that nobody trusts", async ({ app }) => {
  const origin = await startTestOrigin({ tls: true });
  await app.goto(`${origin.origin}/echo`);
  await expectError(app, /certificate is not trusted/i);
  await app.goto(`${origin.origin.replace("127.0.0.1", "self-signed.localhost")}/echo`);
  await expectError(app, /certificate is not trusted/i);
  expect(origin.requests).toEqual([]);
  await origin.close();
});

test("an address that did not open stays to be edited", async ({ app, origin }) => {
  const typo = "http://nowhere.invalid/a/long/way?to=type";
  const box = app.page.locator(".address-host");
  const edit = async (): Promise<void> => {
    await app.address.click();
    await expect(app.address).toHaveValue(typo);
    await app.address.press("Escape");
  };
  await app.goto(typo);
  await expectError(app, /no site with this name/i);
  await edit();
  // Beside a page, whose address is shown again once nobody edits.
  origin.page("/", "<p>Stays</p>");
  await app.goto(`${origin.origin}/`);
  await app.goto(typo);
  await expect(app.page.locator(".notice-bar")).toHaveText(/^nowhere\.invalid did not open/);
  await expect(box).toHaveText(new URL(origin.origin).host);
  await edit();
  await expect(app.address).toHaveValue(`${origin.origin}/`);
  await app.address.click();
  await app.address.fill(`${origin.origin}/`);
  await app.navigated(() => app.address.press("Enter", { noWaitAfter: true }));
  await app.address.click();
  await expect(app.address).toHaveValue(`${origin.origin}/`);
});

test("an edge without internet @deno", async ({ page, runtime }) => {
  const { startEdge } = await import("../../scripts/edge-process.ts");
  const edge = await startEdge({ runtime, port: 0, knownHosts: ["neither.invalid"] });
  const app = new AppPage(page, edge.url);
  await app.open(edge.accessKey);
  await app.goto("https://news.invalid/");
  await expectError(app, /your edge has no internet/i);
  await edge.close();
});

test("an origin that never answers @long", async ({ app, origin }) => {
  test.setTimeout(150_000);
  app.page.setDefaultTimeout(100_000);
  await app.goto(`${origin.origin}/silent`);
  await expectError(app, /took too long/i);
});

test("redirects without end", async ({ app, origin }) => {
  origin.route("/loop", ({ reply }) => reply(302, { location: "/loop" }));
  await app.goto(`${origin.origin}/loop`);
  await expectError(app, /circles/i);
  expect(origin.requestsTo("/loop").length).toBeLessThanOrEqual(21);
});

test("a kind of address that cannot be opened", async ({ app }) => {
  await app.goto("ftp://127.0.0.1/file");
  await expectError(app, /cannot open this kind/i, false);
});

test("the edge cannot be reached for as long as the person waits, and comes back @long", async ({
  app,
  origin,
  link,
}) => {
  test.setTimeout(120_000);
  app.page.setDefaultTimeout(60_000);
  origin.page("/", "<p>Finally</p>");
  await app.chooseWaitTime("30 s");
  link.offline();
  await app.goto(`${origin.origin}/`);
  await expectError(app, /edge cannot be reached|offline/i);
  // Nobody tells the phone that the edge is back, and nobody touches it.
  link.online();
  await expect(app.frame().getByText("Finally")).toBeVisible();
  await expect(app.page.locator(".link-pill")).toHaveCount(0);
  expect(origin.requestsTo("/").length).toBe(1);
});

test("a key that the edge does not accept", async ({ page, link }) => {
  const app = new AppPage(page, `http://localhost:${link.port}`);
  await app.open("not-the-key");
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Wrong key");
  const field = page.getByRole("textbox", { name: /key/i });
  await expect(field).toHaveAttribute("aria-invalid", "true");
  await expect(field).toHaveAccessibleDescription(/^Your edge does not accept this key/);
  expect(link.webSockets).toBe(0);
});

test("an edge that cannot be reached is asked about the key again, and the app says so", async ({
  page,
  edge,
  link,
}) => {
  let ask: () => void = () => {};
  const held = new Promise<void>((resolve) => {
    ask = resolve;
  });
  await page.route("**/.ropeway/pair", async (route) => {
    await held;
    await route.abort();
  });
  await page.goto(`http://localhost:${link.port}/#key=${edge.accessKey}`);
  const said = page.getByRole("main").getByRole("status");
  await expect(said).toHaveText("Asking your edge…");
  await expect(page.getByRole("button", { name: "Pair" })).toBeDisabled();
  ask();
  await expect(said).toHaveText("Your edge cannot be reached now. Ropeway will try again soon.");
  await page.unroute("**/.ropeway/pair");
  // Nobody touches it.
  await expect(page.getByRole("heading", { name: "Pair this phone" })).toHaveCount(0, { timeout: 30_000 });
  await expect.poll(() => link.webSockets).toBeGreaterThan(0);
});

test("a wrong key in a link is said, and a phone that is paired stays so", async ({ app, origin }) => {
  origin.page("/", "<p>Still paired</p>");
  // Another visit, as by a tap on a link: the part after # alone would load nothing.
  const { base } = app;
  await app.page.goto("about:blank");
  await app.page.goto(`${base}/#key=not-the-key`);
  await expect(app.page.locator(".notice-bar")).toHaveText(/^Wrong key/);
  await expect(app.told(/^Wrong key/)).toBeAttached();
  await app.goto(`${origin.origin}/`);
  await expect(app.frame().getByText("Still paired")).toBeVisible();
});

test("an error page of the origin is no recent site; the others can be forgotten, and that taken back", async ({
  app,
  origin,
  otherOrigin,
}) => {
  for (const path of ["/", "/2"]) origin.page(path, "<p>Here</p>", `Page ${path}`);
  await app.goto(`${otherOrigin.origin}/status/404`);
  await app.goto(`${origin.origin}/`);
  await app.goto(`${origin.origin}/2`);
  await app.page.getByRole("button", { name: "Home" }).click();
  const rows = app.page.locator(".row .row-title");
  await expect(rows).toHaveText(["Page /2"]);
  await app.page.getByRole("button", { name: "Forget all" }).click();
  await expect(rows).toHaveCount(0);
  await expect(app.told("History forgotten")).toBeAttached();
  await expect(app.page.getByRole("button", { name: "Undo" })).toBeFocused();
  await app.page.keyboard.press("Enter");
  await expect(rows).toHaveText(["Page /2"]);
});

for (const code of [404, 500]) {
  testInOneApp(`the origin's own ${code} is shown as it is`, async ({ app, origin }) => {
    await app.goto(`${origin.origin}/status/${code}`);
    await expect(app.frame().getByRole("heading", { name: `Origin's own ${code}` })).toBeVisible();
    await expect(app.page.locator("html")).toHaveAttribute("data-page", "loaded");
  });
}

testInOneApp(
  "an error of the origin with nothing in it has the app's page, in frames a sentence",
  async ({ app, origin }) => {
    let status = 404;
    origin.route("/counted", ({ reply }) => reply(status, { "content-type": "text/html", "content-length": "0" }));
    origin.route("/uncounted", async ({ response }) => {
      response.writeHead(status, "Sorry", { "content-type": "text/html", "transfer-encoding": "chunked" });
      response.flushHeaders();
      response.end();
    });
    for (const path of ["/counted", "/uncounted"]) {
      await app.goto(origin.origin + path);
      await expectError(app, /nothing to show here/i);
      await expect(app.page.getByText(`HTTP error ${status}`)).toBeVisible();
      await expect(app.address).toHaveValue(origin.origin + path);
      status = 500;
    }
    origin.page("/uncounted", "<p>Mended</p>");
    await app.navigated(() => app.page.getByRole("button", { name: "Try again" }).click());
    await expect(app.frame().getByText("Mended")).toBeVisible();
    origin.page("/", '<iframe title="Inner" src="/counted"></iframe>');
    await app.goto(`${origin.origin}/`);
    await expect(
      app
        .frame()
        .frameLocator("iframe")
        .getByText(`Cannot load ${new URL(origin.origin).hostname}`),
    ).toBeVisible();
  },
);

test("private addresses are refused unless allowed, also behind a redirect", { tag: "@deno" }, async ({
  page,
  origin,
  runtime,
}) => {
  const { startEdge } = await import("../../scripts/edge-process.ts");
  const edge = await startEdge({ runtime, port: 0, allowPrivate: false });
  const app = new AppPage(page, edge.url);
  await app.open(edge.accessKey);
  await app.goto(`${origin.origin}/echo`);
  await expectError(app, /does not go there/i, false);
  expect(origin.connections).toEqual([]);
  await edge.close();
});

test("a form whose site redirects without end is not sent twice", async ({ app, origin, otherOrigin }) => {
  origin.page("/", `<form action="${otherOrigin.origin}/pay" method="post"><button>Send</button></form>`);
  otherOrigin.route("/pay", ({ reply }) => reply(302, { location: "/loop" }));
  otherOrigin.route("/loop", ({ reply }) => reply(302, { location: "/loop" }));
  await app.goto(`${origin.origin}/`);
  const bar = app.page.locator(".notice-bar");
  await app.navigated(() => app.frame().getByRole("button", { name: "Send" }).click());
  await expect(bar).toHaveText(/circles/i);
  await app.navigated(() => bar.getByRole("button", { name: "Try again" }).click());
  await expect(bar).toHaveText(/circles/i);
  expect(otherOrigin.requestsTo("/pay").map(({ method }) => method)).toEqual(["POST", "GET"]);
});

test("a page that is tried again at once is asked for once, and fails for what came of that", async ({
  app,
  origin,
}) => {
  origin.route("/page", async ({ reply, response }) => {
    if (origin.requestsTo("/page").length === 1) return reply(302, { location: "/loop" });
    response.writeHead(200, { "content-type": "text/html" }).end("<!doctype html><p>All of it</p>");
  });
  origin.route("/loop", ({ reply }) => reply(302, { location: "/loop" }));
  await app.page.evaluate(tryAgainAtOnce);
  await app.ask(`${origin.origin}/page`);
  await expect(app.frame().getByText("All of it")).toBeVisible();
  await expect(app.page.locator("html")).toHaveAttribute("data-page", "loaded");
  expect(origin.requestsTo("/page")).toHaveLength(2);
});

/** In the app's window: the frame is still on its way to the notice of the failure when the button is there. */
function tryAgainAtOnce(): void {
  const observer = new MutationObserver(() => {
    const button = [...document.querySelectorAll("button")].find(({ textContent }) => textContent === "Try again");
    if (button === undefined) return;
    observer.disconnect();
    button.click();
  });
  observer.observe(document.documentElement, { childList: true, subtree: true });
}
