/** An app that is opened for a page asks for it in the handshake of its link. */
import { expect, test } from "../fixtures/browser.ts";

test.use({ linkSpeed: { delay: 800 } });

test("the origin has the first request before the phone has a link @long", async ({ app, origin }) => {
  origin.page("/first", "<p>At once</p>");
  await app.page.evaluate(() => navigator.serviceWorker.ready);
  await expect.poll(() => app.page.evaluate(() => navigator.serviceWorker.controller !== null)).toBe(true);
  // Closed, and opened again from its own store.
  const { base } = app;
  await app.page.goto("about:blank");
  const asked = origin.requestTo("/first");
  await app.page.goto(`${base}/#url=${encodeURIComponent(`${origin.origin}/first`)}`, { waitUntil: "commit" });
  await asked;
  expect((await app.stats()).sockets).toBe(0);
  await expect(app.frame().getByText("At once")).toBeVisible();
  expect(origin.requestsTo("/first").length).toBe(1);
  expect((await app.stats()).sockets).toBeGreaterThan(0);
});
