import { expect, test } from "../fixtures/browser.ts";
import { type CacheVerdicts, cacheVerdicts, startCacheTests } from "../fixtures/cache-tests.ts";

/** What passes at least. */
const REQUIRED = 36;
const OPTIMAL = 0;

test("the public HTTP cache tests pass in a slot", async ({ app, direct }) => {
  test.setTimeout(240_000);
  const tests = await startCacheTests();
  const [ours, chromium] = await Promise.all([
    app
      .storeReady()
      .then(() => app.goto(tests.url))
      .then(async () => cacheVerdicts(await app.content())),
    direct.page.goto(tests.url).then(() => cacheVerdicts(direct.page)),
  ]).finally(tests.close);
  console.log(`Passed in a slot: ${summary(ours)}; in Chromium itself: ${summary(chromium)}`);
  await test
    .info()
    .attach("failed.json", { body: JSON.stringify(ours.failed, null, 2), contentType: "application/json" });
  expect(ours.required.length).toBeGreaterThanOrEqual(REQUIRED);
  expect(ours.optimal.length).toBeGreaterThanOrEqual(OPTIMAL);
});

function summary({ required, optimal, failed }: CacheVerdicts): string {
  return `${required.length} required and ${optimal.length} optimal, not ${Object.keys(failed).length}`;
}
