import { expect, test } from "../fixtures/browser.ts";
import { startReleaseProxy } from "../fixtures/release-proxy.ts";

const FIELD = "cross-origin-opener-policy";

test("an app that is installed gets header fields that a release adds to the same files", async ({ page, edge }) => {
  const proxy = await startReleaseProxy(Number(new URL(edge.url).port), FIELD);
  const policies = () =>
    page.evaluate(async (field) => {
      const answers = await Promise.all(["/", "/blank"].map((path) => fetch(path)));
      return answers.map(({ headers }) => headers.get(field));
    }, FIELD);
  await page.goto(`http://ropeway.localhost:${proxy.port}/`);
  await page.evaluate(() => navigator.serviceWorker.ready);
  await expect.poll(() => page.evaluate(() => navigator.serviceWorker.controller !== null)).toBe(true);
  expect(await policies()).toEqual([null, null]);

  proxy.deploy();
  expect(await policies()).toEqual([null, null]);
  await page.evaluate(async () => (await navigator.serviceWorker.ready).update());
  await expect.poll(policies).toEqual(["same-origin", "same-origin"]);
  await proxy.close();
});
