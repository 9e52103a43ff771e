/** What a new site costs on the link beside its page: the worker of its slot comes out of the browser's cache. */
import { AppPage } from "../fixtures/app-page.ts";
import { expect, test } from "../fixtures/browser.ts";
import { startUpgradeBlocker } from "../fixtures/upgrade-blocker.ts";

test("all slots have their worker for one download", async ({ edge, page, origin, otherOrigin }) => {
  const between = await startUpgradeBlocker(Number(new URL(edge.url).port), "passed");
  const answered = (what: RegExp): number => between.answers.filter((answer) => what.test(answer)).length;
  const app = new AppPage(page, `http://localhost:${between.port}`);
  await app.open(edge.accessKey);
  for (const [index, site] of [origin, otherOrigin].entries()) {
    site.page("/", `<p>Site ${index}</p>`);
    await app.goto(`${site.origin}/`);
    await expect(app.frame().getByText(`Site ${index}`)).toBeVisible();
  }
  // Two that are shown, and two spare ones.
  await expect.poll(() => answered(/^200 GET \/\.ropeway\/sw\.js$/), { timeout: 30_000 }).toBe(4);
  await expect
    .poll(() => page.evaluate(() => JSON.parse(localStorage.getItem("ropeway.spare-slots") ?? "[]").length))
    .toBe(2);
  expect(answered(/^200 GET \/\.ropeway\/slot-worker-[0-9a-f]{20}\.js$/)).toBe(1);
  await between.close();
});
