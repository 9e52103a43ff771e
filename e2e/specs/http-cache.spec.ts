import { expect, test } from "../fixtures/browser.ts";
import { CACHE_TEST_REASONS } from "../fixtures/cache-test-reasons.ts";
import { type CacheVerdicts, cacheVerdicts, startCacheTests } from "../fixtures/cache-tests.ts";

/** By how many more pass in a slot than in Chromium itself. */
const REQUIRED = 8;
const OPTIMAL = 6;

test("the public HTTP cache tests pass in a slot @long", async ({ app, direct }) => {
  test.setTimeout(240_000);
  const tests = await startCacheTests();
  const [ours, chromium] = await Promise.all([
    app
      .storeReady()
      .then(() => app.goto(tests.url))
      .then(async () => cacheVerdicts(await app.content())),
    direct.page.goto(tests.url).then(() => cacheVerdicts(direct.page)),
  ]).finally(tests.close);
  const failed = Object.entries(ours.failed).map(([id, message]) => `${id}: ${CACHE_TEST_REASONS[id] ?? message}`);
  console.log(`Passed in a slot: ${summary(ours)}; in Chromium itself: ${summary(chromium)}`);
  console.log(failed.join("\n"));
  expect(Object.keys(ours.failed).filter((id) => !(id in CACHE_TEST_REASONS))).toEqual([]);
  expect(ours.required.length).toBeGreaterThanOrEqual(chromium.required.length + REQUIRED);
  expect(ours.optimal.length).toBeGreaterThanOrEqual(chromium.optimal.length + OPTIMAL);
});

function summary({ required, optimal, failed }: CacheVerdicts): string {
  return `${required.length} required and ${optimal.length} optimal, not ${Object.keys(failed).length}`;
}
