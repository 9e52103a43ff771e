/** Two windows of the app on one site: they share its slot, and each has its requests go through its own tunnel. */
import type { AppPage } from "../fixtures/app-page.ts";
import { expect, test } from "../fixtures/browser.ts";

let second: AppPage;

test.beforeEach(async ({ app }) => {
  second = await app.openAnother();
  await second.connected();
});

/** Requests of each window's own tunnel while `action` runs. */
async function requestsOf(windows: readonly AppPage[], action: () => Promise<unknown>): Promise<number[]> {
  const count = () => Promise.all(windows.map(async (window) => (await window.stats()).requests));
  const before = await count();
  await action();
  return (await count()).map((requests, index) => requests - (before[index] ?? 0));
}

test("a window's pages are asked for once, through its own tunnel", async ({ app, origin }) => {
  for (const name of ["one", "two", "three"]) {
    origin.page(`/${name}`, `<p>${name}</p><script src="/${name}.js"></script><a href="/linked-${name}">link</a>`);
    origin.page(`/linked-${name}`, `<p>linked from ${name}</p>`);
    origin.route(`/${name}.js`, ({ reply }) => reply(200, { "content-type": "text/javascript" }, "/* */"));
  }
  const visit = async (window: AppPage, name: string): Promise<void> => {
    await window.goto(`${origin.origin}/${name}`);
    await expect(window.frame().getByText(name, { exact: true })).toBeVisible();
  };
  await visit(app, "one");
  const secondVisits = await requestsOf([app, second], () => visit(second, "two"));
  expect([secondVisits[0], (secondVisits[1] ?? 0) >= 2]).toEqual([0, true]);
  const firstVisits = await requestsOf([app, second], () => visit(app, "three"));
  expect([(firstVisits[0] ?? 0) >= 2, firstVisits[1]]).toEqual([true, 0]);

  // Links within the site, and the way back, with both windows there.
  const linked = await requestsOf([app, second], async () => {
    await second.navigated(() => second.frame().getByRole("link").click());
    await expect(second.frame().getByText("linked from two")).toBeVisible();
    await second.page.getByRole("button", { name: "Back" }).click();
    await expect(second.frame().getByText("two", { exact: true })).toBeVisible();
  });
  expect([linked[0], (linked[1] ?? 0) >= 1]).toEqual([0, true]);
  for (const path of ["/one", "/three", "/one.js", "/two.js", "/three.js", "/linked-two"]) {
    expect(origin.requestsTo(path).length, path).toBeLessThanOrEqual(path === "/two.js" ? 2 : 1);
  }

  // The first window's end is nothing to the second.
  await app.page.close();
  await visit(second, "three");
});

test("a window that posts a form shows what was posted, while another asks for the same address @long", async ({
  app,
  origin,
  otherOrigin,
}) => {
  origin.route("/result", async (exchange) => {
    const posted = (await exchange.body()).toString();
    exchange.page(`<!doctype html><title>Result</title><p>${exchange.request.method} ${posted}</p>`);
  });
  otherOrigin.page(
    "/form",
    `<form method="post" action="${origin.origin}/result"><button name="a" value="b">Send</button></form>`,
  );
  await app.goto(`${origin.origin}/result`);
  await second.goto(`${otherOrigin.origin}/form`);
  for (let time = 0; time < 2; time += 1) {
    origin.forget();
    await Promise.all([
      app.goto(`${origin.origin}/result`),
      second.navigated(() => second.frame().getByRole("button", { name: "Send" }).click()),
    ]);
    await expect(second.frame().getByText("POST a=b")).toBeVisible();
    await expect(app.frame().getByText("GET")).toBeVisible();
    expect(
      origin
        .requestsTo("/result")
        .map(({ method }) => method)
        .sort(),
    ).toEqual(["GET", "POST"]);
    await second.goto(`${otherOrigin.origin}/form`);
  }
});

test("an address typed while another page of the site is still to come leads to its own page @long", async ({
  app,
  origin,
}) => {
  for (const path of ["/held", "/again"]) {
    let isFirst = true;
    origin.route(path, ({ page }) => {
      if (!isFirst) page(`<p>${path} has come</p>`);
      isFirst = false;
    });
  }
  origin.page("/next", "<p>Next</p>");
  await app.ask(`${origin.origin}/held`);
  await origin.requestTo("/held");
  await app.goto(`${origin.origin}/next`);
  await expect(app.frame().getByText("Next")).toBeVisible();
  await app.ask(`${origin.origin}/again`);
  await origin.requestTo("/again");
  await app.goto(`${origin.origin}/again`);
  await expect(app.frame().getByText("/again has come")).toBeVisible();
});
