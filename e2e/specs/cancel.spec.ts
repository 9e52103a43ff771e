import { expect, testInOneApp as test } from "../fixtures/browser.ts";
import type { SeenRequest } from "../fixtures/test-origin/test-exchange.ts";

/** Waits until the origin has noticed, and reports how long that took; the time is not asserted. */
async function expectStopped(request: SeenRequest, cancelledAt: number): Promise<void> {
  await expect.poll(() => request.abortedAt).toBeDefined();
  const took = (request.abortedAt ?? 0) - cancelledAt;
  test.info().annotations.push({ type: "origin stopped after", description: `${took} ms` });
  expect(request.finishedAt).toBeUndefined();
}

test("aborting a fetch stops the origin", async ({ app, origin }) => {
  origin.page("/", "<p>Reader</p>");
  await app.goto(`${origin.origin}/`);
  const cancelledAt = await (await app.content()).evaluate(async () => {
    const controller = new AbortController();
    const answer = await fetch("/drip?parts=0&ms=20", { signal: controller.signal });
    await answer.body?.getReader().read();
    controller.abort();
    return Date.now();
  });
  await expectStopped(await origin.requestTo("/drip"), cancelledAt);
});

test("cancelling a download of 200 MB that nobody reads stops the origin early", async ({ app, origin }) => {
  const size = 200_000_000;
  origin.page("/", "<p>Reader</p>");
  await app.goto(`${origin.origin}/`);
  const cancelledAt = await (await app.content()).evaluate(async (bytes) => {
    const answer = await fetch(`/noise/${bytes}`);
    const reader = answer.body?.getReader();
    await reader?.read();
    await reader?.cancel();
    return Date.now();
  }, size);
  const request = await origin.requestTo(`/noise/${size}`);
  await expectStopped(request, cancelledAt);
  expect(request.sentBytes).toBeLessThan(64 * 1024 * 1024);
});

test("the stop button stops a page that is loading", async ({ app, origin }) => {
  origin.route("/", async (exchange) => {
    exchange.response.writeHead(200, { "content-type": "text/html" });
    await exchange.write("<!doctype html><title>Endless</title><p>Beginning</p>");
  });
  await app.ask(`${origin.origin}/`);
  const request = await origin.requestTo("/");
  const cancelledAt = Date.now();
  await app.page.getByRole("button", { name: "Stop" }).click();
  await expectStopped(request, cancelledAt);
  await expect(app.page.locator("html")).not.toHaveAttribute("data-page", "loading");
});

test("going elsewhere stops what the old page was loading", async ({ app, origin, otherOrigin }) => {
  // One that waits for an answer, and one whose answer comes without end.
  origin.page("/", `<p>Old</p><script>fetch("/waits"); fetch("/drip?parts=0&ms=20")</script>`);
  origin.route("/waits", () => {});
  otherOrigin.page("/", "<p>New</p>");
  await app.goto(`${origin.origin}/`);
  const requests = await Promise.all(["/drip", "/waits"].map((path) => origin.requestTo(path)));
  const leftAt = Date.now();
  await app.goto(`${otherOrigin.origin}/`);
  for (const request of requests) await expectStopped(request, leftAt);
});

test("a site that asks hundreds of times, and is never answered, keeps no other from loading", async ({
  app,
  origin,
  otherOrigin,
}) => {
  origin.page("/", "<p>Greedy</p>");
  origin.route("/waits", () => {});
  otherOrigin.page("/", "<p>Other</p>");
  await app.goto(`${origin.origin}/`);
  await (await app.content()).evaluate(() => {
    for (let count = 0; count < 300; count += 1) void fetch(`/waits?${count}`).catch(() => {});
  });
  await expect.poll(() => origin.requestsTo("/waits").length).toBe(192);
  await app.goto(`${otherOrigin.origin}/`);
  await expect(app.frame().getByText("Other")).toBeVisible();
  // Nor itself, once its page is left.
  await app.goto(`${origin.origin}/`);
  await expect(app.frame().getByText("Greedy")).toBeVisible();
  await expect.poll(() => origin.requestsTo("/waits").every(({ abortedAt }) => abortedAt !== undefined)).toBe(true);
});
