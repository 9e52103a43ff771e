/** What a page brought is stored at once when it has loaded, or when the app is hidden: then a phone may close the app. */
import { type AppPage, expect, test } from "../fixtures/browser.ts";
import { FRESH, neverEndRests } from "../fixtures/stored-site.ts";
import { pageOf, type TestOrigin } from "../fixtures/test-origin/test-origin.ts";

const words = Array.from({ length: 200_000 }, (_, at) => at.toString(36).padStart(10));
/** 2 MB. */
const SCRIPT = `shown.textContent = "whole"; //${words.join("")}`;
const BODY = '<p id="shown"></p><script src="/large.js"></script>';

/** A page with a large script. */
async function serve(app: AppPage, origin: TestOrigin, more = ""): Promise<void> {
  origin.route("/page", ({ request, reply, page }) =>
    request.headers["if-none-match"] === '"p"'
      ? reply(304, { etag: '"p"' })
      : page(pageOf("Large", BODY + more), { ...FRESH, etag: '"p"' }),
  );
  origin.route("/large.js", ({ reply }) => reply(200, { ...FRESH, "content-type": "text/javascript" }, SCRIPT));
  await app.storeReady();
  await expect.poll(() => app.page.evaluate(() => navigator.serviceWorker.controller !== null)).toBe(true);
  await neverEndRests(app);
}

/** Closes the app and opens it with the page's address: the script must come from the phone. */
async function reopen(app: AppPage, origin: TestOrigin): Promise<void> {
  await expect.poll(async () => (await app.stats()).storedBytes).toBeGreaterThan(SCRIPT.length);
  await app.page.close();
  origin.forget();
  const again = await app.openAnother(`#url=${encodeURIComponent(`${origin.origin}/page`)}`);
  await expect(again.frame().locator("#shown")).toHaveText("whole");
  expect(origin.requestsTo("/large.js")).toEqual([]);
  expect((await again.stats()).linkBytesDown).toBeLessThan(5000);
}

test("a large script comes once, though the app is closed as soon as its page has loaded @long", async ({
  app,
  origin,
}) => {
  await serve(app, origin);
  await app.goto(`${origin.origin}/page`);
  await reopen(app, origin);
});

test("a large script comes once, though the app is hidden and closed before its page has loaded @long", async ({
  app,
  origin,
}) => {
  await serve(app, origin, '<script src="/never.js"></script>');
  origin.route("/never.js", () => {});
  await app.ask(`${origin.origin}/page`);
  await expect(app.frame().locator("#shown")).toHaveText("whole");
  await app.page.evaluate(() => {
    Object.defineProperty(document, "visibilityState", { value: "hidden" });
    document.dispatchEvent(new Event("visibilitychange"));
  });
  await reopen(app, origin);
});
