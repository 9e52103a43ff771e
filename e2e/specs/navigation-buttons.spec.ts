import { expect, test } from "../fixtures/browser.ts";

test("back and forward walk through sites, and reload asks again", async ({ app, origin, otherOrigin }) => {
  origin.page("/one", `<p>Page one</p><a href="/two">Two</a>`, "One");
  origin.page("/two", `<p>Page two</p><a href="${otherOrigin.origin}/three">Three</a>`, "Two");
  otherOrigin.page("/three", "<p>Page three</p>", "Three");
  const back = app.page.getByRole("button", { name: "Back", exact: true });
  const forward = app.page.getByRole("button", { name: "Forward", exact: true });

  await app.goto(`${origin.origin}/one`);
  await app.navigated(() => app.frame().getByRole("link", { name: "Two" }).click());
  await app.navigated(() => app.frame().getByRole("link", { name: "Three" }).click());
  await expect(app.page).toHaveTitle(/Three/);
  await expect(app.page.getByRole("button", { name: "Forward", exact: true, disabled: false })).toHaveCount(0);

  await back.click();
  await expect(app.frame().getByText("Page two")).toBeVisible();
  await expect(app.address).toHaveValue(new RegExp(`:${origin.port}/two`));
  await back.click();
  await expect(app.frame().getByText("Page one")).toBeVisible();
  await expect(app.page).toHaveTitle(/One/);
  await forward.click();
  await expect(app.frame().getByText("Page two")).toBeVisible();
  await forward.click();
  await expect(app.frame().getByText("Page three")).toBeVisible();
  await expect(app.address).toHaveValue(new RegExp(`:${otherOrigin.port}/three`));

  const asked = otherOrigin.requestsTo("/three").length;
  await app.navigated(() => app.page.getByRole("button", { name: "Reload" }).click());
  expect(otherOrigin.requestsTo("/three")).toHaveLength(asked + 1);
});

test("the phone's own back gesture goes back one page, not out of the app", async ({ app, origin }) => {
  origin.page("/one", `<p>Page one</p><a href="/two">Two</a>`);
  origin.page("/two", "<p>Page two</p>");
  await app.goto(`${origin.origin}/one`);
  await app.navigated(() => app.frame().getByRole("link", { name: "Two" }).click());
  await app.page.evaluate(() => history.back());
  await expect(app.frame().getByText("Page one")).toBeVisible();
  await expect(app.address).toHaveValue(/\/one/);
});

test("words are searched for", async ({ app, origin, context }) => {
  await app.goto("harbour lights");
  await expect(app.address).toHaveValue(/harbour/);
  expect(context.pages()).toHaveLength(1);
  expect(origin.requests).toEqual([]);
});

test("the site panel says what the page cost", async ({ app, demo }) => {
  await app.goto(`${demo.hosts.news}/`);
  await app.page.getByRole("button", { name: "Site information" }).click();
  const panel = app.page.getByRole("dialog", { name: "Site information" });
  await expect(panel).toBeVisible();
  await expect(panel.getByText("Requests")).toBeVisible();
  await expect(panel.getByText(/\d.*(bytes|B|kB|KB|MB)/).first()).toBeVisible();
  await app.page.keyboard.press("Escape");
  await expect(panel).toBeHidden();
});

test("Back leads to what a form has led to, says that it was sent, and goes on; nothing is sent twice", async ({
  app,
  origin,
  otherOrigin,
}) => {
  origin.page("/", '<form method="post" action="/saved"><button name="a" value="1">Send</button></form>');
  origin.route("/saved", async ({ body, page }) => {
    await body();
    page(`<p>Saved</p><a href="/two">Own</a> <a href="${otherOrigin.origin}/two">Other</a>`);
  });
  for (const each of [origin, otherOrigin]) each.page("/two", "<p>Page two</p>");
  const back = app.page.getByRole("button", { name: "Back", exact: true });
  for (const link of ["Own", "Other"]) {
    await app.goto(`${origin.origin}/`);
    await app.navigated(() => app.frame().getByRole("button", { name: "Send" }).click());
    await app.navigated(() => app.frame().getByRole("link", { name: link }).click());
    await expect(app.frame().getByText("Page two")).toBeVisible();
    await back.click();
    await expect(app.page.getByRole("heading", { name: "Sent, but the answer is gone" })).toBeVisible();
    await expect(app.address).toHaveValue(/\/saved$/);
    await back.click();
    await expect(app.frame().getByRole("button", { name: "Send" })).toBeVisible();
  }
  expect(origin.requestsTo("/saved").map(({ method }) => method)).toEqual(["POST", "POST"]);
});

test("a form that gets into the app itself reaches no site, nor the app's host", async ({ app, origin }) => {
  for (const action of [`${origin.origin}/form`, "/", "//127.0.0.1:9/"]) {
    const blocked = await app.page.evaluate(async (url) => {
      const violation = new Promise<string>((resolve) =>
        document.addEventListener("securitypolicyviolation", (event) => resolve(event.effectiveDirective), {
          once: true,
        }),
      );
      const form = Object.assign(document.createElement("form"), { method: "post", action: url });
      document.body.append(form);
      form.submit();
      return violation;
    }, action);
    expect(blocked).toBe("form-action");
    // As where the way back is closed. A locator would wait for the page that the form was to lead to.
    await expect.poll(() => app.page.evaluate(() => document.body.textContent)).toContain("the way back is closed");
  }
  expect(origin.requests).toEqual([]);
});
