import { type AppPage, expect, test } from "../fixtures/browser.ts";

const LINK = '<a href="/two">Two</a>';

/** Follows the link on a page that then stays, and looks at the app when it has heard of both. */
async function followInVain(app: AppPage): Promise<void> {
  await app.frame().getByRole("link").click();
  await (await app.content()).evaluate(() => new Promise((resolve) => setTimeout(resolve)));
  await app.page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))));
  await expect(app.page.locator("html")).toHaveAttribute("data-page", "loaded");
}

test("a page that prevents its own navigation does not look as if it loads", async ({ app, origin }) => {
  origin.page(
    "/",
    `${LINK}<script>navigation.addEventListener("navigate", (event) => event.preventDefault())</script>`,
  );
  await app.goto(`${origin.origin}/`);
  await followInVain(app);
  await expect(app.address).toHaveValue(/[0-9]\/?$/);
  expect(origin.requestsTo("/two")).toEqual([]);
});

test("nor one that does the navigation itself, to the address that it has", async ({ app, origin }) => {
  const intercept = 'navigation.addEventListener("navigate", (event) => event.intercept({ async handler() {} }))';
  origin.page("/", `<a href="/">Again</a><script>${intercept}</script>`);
  await app.goto(`${origin.origin}/`);
  await followInVain(app);
  expect(origin.requestsTo("/")).toHaveLength(1);
});

test("nor one on which the person stays, when it asks", async ({ app, origin }) => {
  origin.page("/", `${LINK}<script>addEventListener("beforeunload", (event) => event.preventDefault())</script>`);
  origin.page("/two", "<p>Page two</p>");
  await app.goto(`${origin.origin}/`);
  app.page.once("dialog", (dialog) => dialog.dismiss());
  await followInVain(app);
  expect(origin.requestsTo("/two")).toEqual([]);
  app.page.once("dialog", (dialog) => dialog.accept());
  await app.navigated(() => app.frame().getByRole("link").click());
  await expect(app.frame().getByText("Page two")).toBeVisible();
});

test("a page that writes its history while the next is on its way goes on loading", async ({ app, origin }) => {
  let answer = () => {};
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const write = `setTimeout(() => { history.replaceState({ y: 1 }, "", location.href); fetch("/echo?written"); })`;
  origin.page("/", `${LINK}<script>addEventListener("click", () => ${write})</script>`);
  origin.route("/two", async ({ page }) => {
    await answered;
    page("<p>Page two</p>");
  });
  await app.goto(`${origin.origin}/`);
  await app.frame().getByRole("link").click({ noWaitAfter: true });
  await origin.requestTo("/two");
  await origin.requestTo("/echo");
  await expect(app.page.locator("html")).toHaveAttribute("data-page", "loading");
  answer();
  await expect(app.frame().getByText("Page two")).toBeVisible();
});
