/** The app open twice on one phone: each window has a session of its own, and they share what is stored. */
import type { AppPage } from "../fixtures/app-page.ts";
import { expect, test } from "../fixtures/browser.ts";

test("two windows load pages at the same time, and neither harms the other", async ({ app, origin, otherOrigin }) => {
  const sites = { One: origin, Other: otherOrigin };
  for (const [name, site] of Object.entries(sites)) {
    site.page(
      "/",
      `<p>${name}</p><output></output><script>
      const key = "visits of ${name}";
      const visits = Object.keys(localStorage).filter((other) => other !== key).length * 1000 + Number(localStorage[key] ?? 0) + 1;
      localStorage[key] = visits;
      document.cookie = "site=${name}";
      document.querySelector("output").textContent = "visit " + visits + ", " + document.cookie;
    </script>`,
    );
  }
  const second = await app.openAnother();
  await second.connected();
  const shows = async (window: AppPage, name: string, visit: number): Promise<void> => {
    await expect(window.frame().getByText(name, { exact: true })).toBeVisible();
    await expect(window.frame().locator("output")).toHaveText(`visit ${visit}, site=${name}`);
  };

  await Promise.all([app.goto(`${origin.origin}/`), second.goto(`${otherOrigin.origin}/`)]);
  await Promise.all([shows(app, "One", 1), shows(second, "Other", 1)]);
  // Each goes where the other was: the same slots, with what the sites stored there.
  await Promise.all([app.goto(`${otherOrigin.origin}/`), second.goto(`${origin.origin}/`)]);
  await Promise.all([shows(app, "Other", 2), shows(second, "One", 2)]);

  // One is closed; the other goes on, on both sites.
  await app.page.close();
  await second.goto(`${otherOrigin.origin}/`);
  await shows(second, "Other", 3);
  await second.goto(`${origin.origin}/`);
  await shows(second, "One", 3);

  const slots = await second.page.evaluate(
    () => JSON.parse(localStorage.getItem("ropeway.slots") ?? "[]") as { readonly origin: string }[],
  );
  expect(slots.map((slot) => slot.origin).sort()).toEqual([origin.origin, otherOrigin.origin].sort());
});

test("a site that is forgotten is gone in all windows, and the others stay @long", async ({
  app,
  origin,
  otherOrigin,
}) => {
  const script = `localStorage.visits = Number(localStorage.visits ?? 0) + 1;
    shown.textContent = "visit " + localStorage.visits;`;
  for (const site of [origin, otherOrigin]) {
    site.route("/kept.js", ({ reply }) =>
      reply(200, { "cache-control": "max-age=3600", "content-type": "text/javascript" }, script),
    );
    site.route("/", ({ page }) =>
      page('<p id="shown"></p><script src="/kept.js"></script>', { "set-cookie": "login=1; Max-Age=3600" }),
    );
  }
  await app.storeReady();
  await app.goto(`${otherOrigin.origin}/`);
  await app.goto(`${origin.origin}/`);
  await expect(app.frame().locator("#shown")).toHaveText("visit 1");
  const second = await app.openAnother();
  await second.connected();
  await second.storeReady();
  await second.goto(`${origin.origin}/`);
  await expect(second.frame().locator("#shown")).toHaveText("visit 2");

  const { hostname } = new URL(origin.origin);
  await app.page.getByRole("button", { name: "Menu" }).click();
  await app.page.getByRole("button", { name: "Settings" }).click();
  await app.page.getByText("Stored by site").click();
  await app.page.getByRole("button", { name: `Forget ${hostname}` }).click();
  await app.page.getByRole("button", { name: "Forget", exact: true }).click();
  for (const window of [app, second]) await expect(window.address).toHaveValue("");
  await expect(app.page.getByRole("button", { name: `Forget ${hostname}` })).toBeHidden();
  await expect(app.page.getByRole("button", { name: `Forget ${new URL(otherOrigin.origin).hostname}` })).toBeVisible();
  await app.page.keyboard.press("Escape");
  await expect(app.page.getByRole("button", { name: `Pin ${new URL(origin.origin).host}` })).toBeHidden();

  origin.forget();
  await second.goto(`${origin.origin}/`);
  await expect(second.frame().locator("#shown")).toHaveText("visit 1");
  expect(origin.requestsTo("/")[0]?.headers.cookie).toBeUndefined();
  expect(origin.requestsTo("/kept.js")).toHaveLength(1);
  otherOrigin.forget();
  await app.goto(`${otherOrigin.origin}/`);
  await expect(app.frame().locator("#shown")).toHaveText("visit 2");
  expect(otherOrigin.requestsTo("/")[0]?.headers.cookie).toBe("login=1");
  expect(otherOrigin.requestsTo("/kept.js")).toEqual([]);

  await app.page.getByRole("button", { name: "Site information" }).click();
  await app.page.getByRole("button", { name: "Forget this site" }).click();
  await app.page.getByRole("button", { name: "Forget", exact: true }).click();
  await expect(app.address).toHaveValue("");
});
