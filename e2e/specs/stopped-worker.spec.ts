import { expect, test } from "../fixtures/browser.ts";

/** Longer than a service worker that was started anew waits for a page that does not say whether it is there. */
const BUSY_FOR = 8_000;

test("a page that is busy gets what it asks of a service worker that was stopped @long", async ({
  app,
  origin,
  page,
}) => {
  origin.page("/", "<p>Page</p>");
  await app.goto(`${origin.origin}/`);
  const content = await app.content();
  const debuggerOfPage = await page.context().newCDPSession(page);
  await debuggerOfPage.send("ServiceWorker.enable");
  await debuggerOfPage.send("ServiceWorker.stopAllWorkers");
  const outcome = await content.evaluate(async (busyFor) => {
    const answer = fetch("/echo").then(({ status }) => status, String);
    await new Promise((resolve) => setTimeout(resolve, 0));
    const start = performance.now();
    while (performance.now() - start < busyFor);
    return answer;
  }, BUSY_FOR);
  expect(outcome).toBe(200);
});
