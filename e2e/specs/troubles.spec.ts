import type { Page } from "@playwright/test";
import { type AppPage, expect, testInOneApp as test } from "../fixtures/browser.ts";
import type { TestOrigin } from "../fixtures/test-origin/test-origin.ts";

const PAST = "Open in the browser, past Ropeway";

const bar = (page: Page) => page.getByRole("navigation", { name: "Browser" });

interface Trouble {
  readonly body: (origin: TestOrigin, other: TestOrigin) => string;
  readonly says: string;
  /** What the person does. */
  readonly act?: (app: AppPage) => Promise<void>;
}

/** Its link would lead the page, which its sandbox forbids. */
const BOXED = `<iframe sandbox="allow-same-origin allow-scripts" srcdoc="<a target=_top href=/inner>Go</a>"></iframe>`;

const tapInBox = (app: AppPage) => app.frame().frameLocator("iframe").getByRole("link", { name: "Go" }).click();

const press = (app: AppPage) => app.frame().getByRole("button").click();

const TROUBLES: Readonly<Record<string, Trouble>> = {
  "a frame that its site refuses": {
    body: (_own, { origin }) => `<iframe src="${origin}/refuses"></iframe>`,
    says: "is not shown here",
  },
  "a sandboxed frame with scripts": {
    body: () => `<iframe sandbox="allow-scripts" src="/inner"></iframe>`,
    says: "is not shown here",
  },
  "a file in an object that a script has made": {
    body: () =>
      `<object id=made></object><script>made.data = URL.createObjectURL(new Blob(["%PDF"], { type: "application/pdf" }))</script>`,
    says: "is not shown here",
  },
  "a page that shows itself only on top": {
    body: () =>
      `<p>Secret</p><script>document.body.style.display = window["to" + "p"] === window["se" + "lf"] ? "" : "none"</script>`,
    says: "hides its page here",
  },
  "a tap in a part that may not lead the page": {
    body: () => BOXED,
    says: "led nowhere",
    act: tapInBox,
  },
  "a socket that does not open": {
    body: () => `<script>new WebSocket("ws://127.0.0.1:9/")</script>`,
    says: "live connection",
  },
  "a socket of a worker": {
    body: () => `<script>new Worker("/worker.js")</script>`,
    says: "live connection",
  },
  "a form in a frame": {
    body: (_own, { origin }) =>
      `<iframe name="answer" hidden></iframe><form method="post" action="${origin}/hangs-up" target="answer"><button>Send</button></form>`,
    says: "did not go out",
    act: press,
  },
  "a film in a list of parts": {
    body: () => `<video src="/film.m3u8"></video>`,
    says: "list of parts",
  },
};

for (const [name, { body, says, act }] of Object.entries(TROUBLES)) {
  test(`the app says so in its bar, once, and offers the browser itself: ${name}`, async ({
    app,
    origin,
    otherOrigin,
  }) => {
    otherOrigin.route("/refuses", ({ reply }) =>
      reply(200, { "content-type": "text/html", "x-frame-options": "DENY" }, "<p>Refused"),
    );
    otherOrigin.route("/hangs-up", ({ response }) => void response.destroy());
    origin.page("/inner", "<p>Inner</p>");
    origin.route("/worker.js", ({ reply }) =>
      reply(200, { "content-type": "text/javascript" }, `new WebSocket("ws://127.0.0.1:9/")`),
    );
    origin.page("/", body(origin, otherOrigin));
    await app.goto(`${origin.origin}/`);
    await act?.(app);
    const message = bar(app.page).getByText(says);
    await expect(message).toBeVisible();
    await expect(message).toContainText(new URL(origin.origin).host);
    await expect(app.told(says)).toBeAttached();
    await expect(bar(app.page).getByRole("button", { name: PAST })).toBeVisible();
    await bar(app.page).getByRole("button", { name: "Dismiss" }).click();
    await expect(message).toHaveCount(0);
  });
}

test("the browser itself is asked for in a sheet, with the address in the bar, and gets no more than that", async ({
  app,
  origin,
}) => {
  const path = "/shop?item=7";
  origin.page("/shop", `<p>Shop</p>${BOXED}`);
  await app.goto(`${origin.origin.replace("//", "//me:secret@")}${path}#part`);
  await tapInBox(app);
  // By the keyboard alone.
  const offer = bar(app.page).getByRole("button", { name: PAST });
  await offer.focus();
  await app.page.keyboard.press("Enter");
  const sheet = app.page.getByRole("dialog", { name: "Open past Ropeway?" });
  await expect(sheet.getByText(`${origin.origin}${path}#part`, { exact: true })).toBeVisible();
  await expect(sheet).toContainText("The site will see this phone");
  await app.page.keyboard.press("Escape");
  await expect(sheet).toHaveCount(0);
  expect(app.page.context().pages().length).toBe(1);

  await bar(app.page).getByRole("button", { name: "Dismiss" }).click();
  await app.page.getByRole("button", { name: "Site information" }).first().click();
  await app.page.getByRole("button", { name: PAST }).click();
  // The page goes on meanwhile, and changes nothing of what is asked.
  const content = await app.content();
  await content.evaluate(() => history.pushState(null, "", "/elsewhere"));
  await expect(app.address).toHaveValue(/elsewhere/);
  origin.forget();
  const [opened] = await Promise.all([
    app.page.context().waitForEvent("page"),
    sheet.getByRole("button", { name: "Open in the browser" }).click(),
  ]);
  await opened.waitForLoadState();
  expect(opened.url()).toBe(`${origin.origin}${path}#part`);
  const seen = await opened.evaluate(() => [
    window.opener,
    document.referrer,
    document.querySelector("p")?.textContent,
  ]);
  expect(seen).toEqual([null, "", "Shop"]);
  const [request] = origin.requestsTo("/shop");
  expect(request?.headers).not.toHaveProperty("referer");
  await opened.close();
  await expect(sheet).toHaveCount(0);
});

test("a page says the same again and again, and names what it likes: the person hears it once", async ({
  app,
  origin,
}) => {
  origin.page("/", "<p>Loud</p>");
  await app.goto(`${origin.origin}/`);
  const content = await app.content();
  await content.evaluate(() => {
    const tell = (trouble: unknown) =>
      window.top?.postMessage({ tag: "ropeway.1", type: "trouble", trouble, url: "https://bank.example/" }, "*");
    for (const made of ["<b>", "toString", null, {}]) tell(made);
    for (let times = 0; times < 50; times++) tell("socket");
  });
  const message = bar(app.page).locator(".notice-bar");
  await expect(message).toHaveCount(1);
  await expect(message).toContainText(new URL(origin.origin).host);
  await expect(message).not.toContainText("bank");
  await bar(app.page).getByRole("button", { name: "Dismiss" }).click();
  await content.evaluate(() => {
    window.top?.postMessage({ tag: "ropeway.1", type: "trouble", trouble: "socket" }, "*");
    window.top?.postMessage({ tag: "ropeway.1", type: "trouble", trouble: "tap" }, "*");
  });
  // The second one comes after the first.
  await expect(message).toContainText("led nowhere");
});
