/** The app is killed, and opened again: the person is where they were. */
import type { AppPage } from "../fixtures/app-page.ts";
import { expect, test } from "../fixtures/browser.ts";
import { pageOf, type TestOrigin } from "../fixtures/test-origin/test-origin.ts";

const STALE = { "cache-control": "max-age=0" };

/** A page of 4,000 pixels that leads to the next one. */
function serve(origin: TestOrigin, path: string, next: string): void {
  const body = `<p style="height: 4000px">${path}</p><a href="${next}" style="position: fixed; top: 0">Go on</a>`;
  origin.route(path, ({ page }) => page(pageOf(path, body), STALE));
}

async function scrollTo(app: AppPage, top: number): Promise<void> {
  await (await app.content()).evaluate((y) => window.scrollTo(0, y), top);
  const kept = () => app.page.evaluate(() => localStorage.getItem("ropeway.history") ?? "");
  await expect.poll(kept).toContain(`"y":${top}`);
}

async function shows(app: AppPage, path: string, top: number): Promise<void> {
  await expect(app.frame().getByText(path, { exact: true })).toBeAttached();
  const scrolled = async () => (await app.content()).evaluate(() => Math.round(window.scrollY)).catch(() => -1);
  await expect.poll(scrolled).toBe(top);
}

test("after it was killed, the page has what was typed into it, but for secrets", async ({ app, context, origin }) => {
  origin.page(
    "/",
    `<title>Form</title><form><input name="to"><input name="to"><textarea name="text"></textarea>
      <select name="by"><option>Train<option>Ship</select><input type="checkbox" name="soon"><input type="radio" name="class" value="1"><input type="radio" name="class" value="2">
      <input type="password" name="key"><input name="code" autocomplete="one-time-code"><input name="odd" autocomplete="off">
    </form><output></output><script>
      document.oninput = ({ target, isTrusted }) => {
        if (!isTrusted) document.querySelector("output").textContent += target.name + "=" + target.value + " ";
      };
    </script>`,
  );
  await app.goto(`${origin.origin}/`);
  const form = app.frame();
  await form.locator("[name=to]").nth(1).fill("Ada");
  await form.locator("[name=text]").fill("By the\nevening");
  await form.locator("[name=by]").selectOption("Ship");
  await form.locator("[name=soon]").check();
  for (const value of ["1", "2"]) await form.locator(`[name=class][value="${value}"]`).check();
  for (const name of ["key", "code", "odd"]) await form.locator(`[name=${name}]`).fill("secret of mine");
  const kept = () => app.page.evaluate(() => localStorage.getItem("ropeway.history") ?? "");
  await expect.poll(kept).toContain('"true 2"');
  expect(await kept()).not.toContain("secret of mine");

  const crashing = await context.newCDPSession(app.page);
  void crashing.send("Page.crash").catch(() => {});
  await app.page.waitForEvent("crash");
  await app.page.close();
  const again = (await app.openAnother()).frame();
  await expect(again.locator("[name=to]").nth(1)).toHaveValue("Ada");
  await expect(again.locator("[name=text]")).toHaveValue("By the\nevening");
  await expect(again.locator("[name=by]")).toHaveValue("Ship");
  await expect(again.locator("[name=soon]")).toBeChecked();
  await expect(again.locator('[name=class][value="2"]')).toBeChecked();
  for (const name of ["to", "key", "code", "odd"])
    await expect(again.locator(`[name=${name}]`).first()).toHaveValue("");
  // Scripts of the page hear of texts; choices may send forms by what they do.
  await expect(again.locator("output")).toHaveText("to=Ada text=By the evening");
});

test("after it was killed, with no link, it shows the page and its place, and goes on and back likewise @long", async ({
  app,
  context,
  origin,
  otherOrigin,
  link,
}) => {
  // Nine pages and two starts of the app; on a busy machine no one of them hangs, and all take more than a minute.
  test.setTimeout(180_000);
  serve(origin, "/one", "/two");
  serve(origin, "/two", `${otherOrigin.origin}/three`);
  serve(otherOrigin, "/three", "/");
  await app.storeReady();
  await expect.poll(() => app.page.evaluate(() => navigator.serviceWorker.controller !== null)).toBe(true);
  await app.goto(`${origin.origin}/one`);
  await scrollTo(app, 1100);
  await app.navigated(() => app.frame().getByText("Go on").click());
  await scrollTo(app, 1200);
  await app.navigated(() => app.frame().getByText("Go on").click());
  await scrollTo(app, 1300);
  await app.page.getByRole("button", { name: "Back" }).click();
  await shows(app, "/two", 1200);
  await expect.poll(() => app.page.evaluate(() => localStorage.getItem("ropeway.history"))).toContain("isAhead");

  const crashing = await context.newCDPSession(app.page);
  void crashing.send("Page.crash").catch(() => {});
  await app.page.waitForEvent("crash");
  await app.page.close();
  for (const each of [origin, otherOrigin]) each.forget();
  link.offline();
  await context.setOffline(true);
  const again = await app.openAnother();
  await shows(again, "/two", 1200);
  await again.page.getByRole("button", { name: "Menu" }).click();
  await again.page.getByRole("dialog").getByRole("button", { name: "Forward" }).click();
  await shows(again, "/three", 1300);
  await expect(again.address).toHaveValue(`${otherOrigin.origin}/three`);
  const back = again.page.getByRole("button", { name: "Back" });
  await back.click();
  await expect(again.frame().getByText("/two", { exact: true })).toBeAttached();
  await back.click();
  await shows(again, "/one", 1100);
  await back.click();
  await expect(again.page.getByRole("heading", { name: "Ropeway" })).toBeVisible();
  await expect(back).toBeDisabled();
  expect([...origin.requests, ...otherOrigin.requests]).toEqual([]);
});
