import type { Frame } from "@playwright/test";
import { expect, test } from "../fixtures/browser.ts";

const TALL = '<a href="/next">Next</a><div style="height:5000px">Tall</div>';

/** Of the page's frame. Not by a locator of it: that would give it the focus. */
async function inPage<T>(app: { content(): Promise<Frame> }, read: () => T) {
  return (await app.content()).evaluate(read);
}

test("a page has the focus once it is there: keys scroll it, and it knows", async ({ app, origin }) => {
  origin.page("/", TALL);
  origin.page("/next", TALL);
  // Chromium drops the keys that come before a document is painted first.
  const isPainted = () => document.hasFocus() && performance.getEntriesByName("first-contentful-paint").length > 0;
  const hearsKeys = () => expect.poll(() => inPage(app, isPainted)).toBe(true);
  await app.goto(`${origin.origin}/`);
  await hearsKeys();
  await app.page.keyboard.press("PageDown");
  await expect.poll(() => inPage(app, () => scrollY)).toBeGreaterThan(100);
  await app.navigated(() => inPage(app, () => document.querySelector("a")?.click()));
  await hearsKeys();
  await app.page.keyboard.press("PageDown");
  await expect.poll(() => inPage(app, () => scrollY)).toBeGreaterThan(100);
});

test("the field that a page wants to have it gets it", async ({ app, origin }) => {
  origin.page("/", "<input><input id=wanted autofocus>");
  await app.goto(`${origin.origin}/`);
  await app.page.waitForFunction(() => document.activeElement?.shadowRoot?.activeElement?.tagName === "IFRAME");
  await expect.poll(() => inPage(app, () => document.hasFocus() && document.activeElement?.id)).toBe("wanted");
  await app.page.keyboard.type("harbour");
  expect(await inPage(app, () => document.querySelector<HTMLInputElement>("#wanted")?.value)).toBe("harbour");
});

test("a page that comes takes it neither from the address box nor from a sheet", async ({ app, origin }) => {
  origin.page("/", "<p>Slow</p><input autofocus>");
  let answer = () => {};
  origin.route("/slow-page", async ({ page }) => {
    await new Promise<void>((resolve) => {
      answer = resolve;
    });
    page("<p>There</p><input autofocus>");
  });
  await app.goto(`${origin.origin}/`);
  await app.ask(`${origin.origin}/slow-page`);
  await origin.requestTo("/slow-page");
  await app.address.focus();
  await app.page.keyboard.type("harbour");
  await app.navigated(async () => answer());
  await expect(app.address).toBeFocused();
  await expect(app.address).toHaveValue("harbour");
  await app.page.keyboard.press("Escape");
  await app.page.keyboard.press("Escape");

  await app.ask(`${origin.origin}/slow-page?2`);
  await expect.poll(() => origin.requestsTo("/slow-page").length).toBe(2);
  await app.page.getByRole("button", { name: "Menu" }).click();
  await expect(app.page.getByRole("dialog", { name: "Menu" })).toBeVisible();
  await app.navigated(async () => answer());
  expect(await app.page.evaluate(() => document.activeElement?.closest("dialog") !== null)).toBe(true);
});

test("a caret stays where it was put in the address when the page is there again", async ({ app, origin }) => {
  let answer: (() => void) | null = null;
  let isSlow = false;
  origin.route("/", async ({ page }) => {
    if (isSlow) {
      await new Promise<void>((resolve) => {
        answer = resolve;
      });
    }
    page(isSlow ? "<p>Again</p>" : "<p>Once</p>");
  });
  await app.goto(`${origin.origin}/`);
  isSlow = true;
  await app.ask(`${origin.origin}/`);
  await expect.poll(() => answer !== null).toBe(true);
  await app.address.focus();
  await app.page.keyboard.press("End");
  await app.navigated(async () => answer?.());
  await expect(app.frame().getByText("Again")).toBeVisible();
  const selected = await app.address.evaluate((input: HTMLInputElement) => [input.selectionStart, input.selectionEnd]);
  expect(selected[0]).toBe(selected[1]);
});

test("a script of the page does not keep it while a sheet is open", async ({ app, origin }) => {
  origin.page("/", "<input>");
  await app.goto(`${origin.origin}/`);
  const page = await app.content();
  await app.page.getByRole("button", { name: "Menu" }).click();
  await expect(app.page.getByRole("dialog", { name: "Menu" })).toBeVisible();
  const isInSheet = () => app.page.evaluate(() => document.activeElement?.closest("dialog") !== null);
  expect(await isInSheet()).toBe(true);
  await app.page.evaluate(() =>
    window.addEventListener("blur", () => Object.assign(window, { wasTaken: true }), { once: true }),
  );
  await page.evaluate(() => {
    window.focus();
    document.querySelector("input")?.focus();
  });
  await expect.poll(() => app.page.evaluate(() => Reflect.get(window, "wasTaken") === true)).toBe(true);
  await expect.poll(isInSheet).toBe(true);
});

test("the app's keys work while the page has it", async ({ app, origin }) => {
  origin.page("/", TALL);
  await app.goto(`${origin.origin}/`);
  await expect.poll(() => inPage(app, () => document.hasFocus())).toBe(true);
  await app.navigated(() => app.page.keyboard.press("F5"));
  expect(origin.requestsTo("/")).toHaveLength(2);
  await expect.poll(() => inPage(app, () => document.hasFocus())).toBe(true);
  await app.page.keyboard.press("Control+l");
  await expect(app.address).toBeFocused();
});

for (const before of ["Reload", "Site information"] as const) {
  test(`the first touch of the page after ${before} is the page's`, async ({ app, origin }) => {
    const style = "position:fixed;inset:0";
    origin.page("/", `<button style="${style}" onclick="this.textContent = 'Tapped'">Untapped</button>`);
    await app.goto(`${origin.origin}/`);
    const button = app.page.getByRole("button", { name: before });
    if (before === "Reload") await app.navigated(() => button.tap());
    else {
      await button.tap();
      await expect(app.page.getByRole("dialog", { name: before })).toBeVisible();
      await app.page.keyboard.press("Escape");
      await expect(app.page.getByRole("dialog")).toBeHidden();
    }
    await app.drawn();
    const box = await app.page.locator('iframe[title="Page"]').boundingBox();
    await app.page.touchscreen.tap((box?.x ?? 0) + 20, (box?.y ?? 0) + 20);
    await expect(app.frame().getByRole("button", { name: "Tapped", exact: true })).toBeVisible();
    // It would be taken a moment later.
    await app.page.waitForTimeout(100);
    await expect(app.address).not.toBeFocused();
    await expect(app.page.getByRole("button", { name: "Cancel" })).toHaveCount(0);
  });
}
