import { expect, testInOneApp as test } from "../fixtures/browser.ts";

test("a page that sends itself to its own address for ever is stopped, and the person is told", async ({
  app,
  origin,
}) => {
  // Of those that the edge does not mark.
  const script = `const place = window["loca" + "tion"]; if (place.port !== "${origin.port}") place.href = "${origin.origin}/"`;
  origin.page("/", `<p>Canonical</p><script>${script}</script>`);
  await app.ask(`${origin.origin}/`);
  await expect(app.page.getByText("to its own address again and again").first()).toBeVisible();
  await expect(app.page.locator("html")).toHaveAttribute("data-page", "loaded");
  await expect(app.frame().getByText("Canonical")).toBeVisible();
  await app.page.waitForTimeout(500);
  expect(origin.requestsTo("/").length).toBe(3);
});

test("one that does so once, or by the person's tap, is not", async ({ app, origin }) => {
  const script = "if (!sessionStorage.seen) { sessionStorage.seen = 1; location.href = document.URL }";
  origin.page("/", `<a href="${origin.origin}/">Again</a><script>${script}</script>`);
  await app.ask(`${origin.origin}/`);
  await expect.poll(() => origin.requestsTo("/").length).toBe(2);
  await expect(app.page.locator("html")).toHaveAttribute("data-page", "loaded");
  for (let times = 0; times < 4; times++) await app.navigated(() => app.frame().getByRole("link").click());
  expect(origin.requestsTo("/").length).toBe(6);
  await expect(app.page.getByText("to its own address again and again")).toHaveCount(0);
});
