import type { Locator, Page } from "@playwright/test";
import { expect, test } from "../fixtures/browser.ts";

test("a page can be opened, left and reached with the keyboard alone", async ({ app, origin }) => {
  origin.page("/", `<a href="/next">Next</a>`, "First page");
  origin.page("/next", "<p>Second page</p>", "Second page");
  const { keyboard } = app.page;
  await keyboard.press("Control+l");
  await expect(app.address).toBeFocused();
  await app.navigated(async () => {
    await keyboard.type(`${origin.origin}/`);
    await keyboard.press("Enter");
  });
  const link = app.frame().getByRole("link", { name: "Next" });
  for (let presses = 0; presses < 20; presses++) {
    if (await link.evaluate((element) => element === document.activeElement && document.hasFocus())) break;
    await keyboard.press("Tab");
  }
  await expect(link).toBeFocused();
  await app.navigated(() => keyboard.press("Enter"));
  await expect(app.frame().getByText("Second page")).toBeVisible();
  await app.page.getByRole("button", { name: "Back", exact: true }).focus();
  await keyboard.press("Enter");
  await expect(app.frame().getByRole("link", { name: "Next" })).toBeVisible();
});

test("everything that can be focused has a name, and is large enough for a thumb", async ({ app }) => {
  const nameless = await app.page.locator("button:visible, a[href]:visible, input:visible").evaluateAll((elements) =>
    elements
      .map((element) => {
        const { width, height } = element.getBoundingClientRect();
        const labels = [...((element as HTMLInputElement).labels ?? [])].map((label) => label.textContent).join("");
        const name = element.getAttribute("aria-label") ?? (element.textContent?.trim() || labels);
        return { html: element.outerHTML.slice(0, 120), named: Boolean(name), width, height };
      })
      .filter(({ named, width, height }) => !named || width < 24 || height < 24),
  );
  expect(nameless).toEqual([]);
});

test("the app has landmarks, a language, and says aloud what happens", async ({ app, origin }) => {
  origin.page("/", "<p>Hello</p>", "Spoken title");
  await expect(app.page.locator("html")).toHaveAttribute("lang", "en");
  await expect(app.page.getByRole("main")).toBeVisible();
  await expect(app.page.getByRole("navigation").first()).toBeVisible();
  await app.goto(`${origin.origin}/`);
  // Of the page, of the link, and of the message in the bar: none is silent while another stands.
  const told = app.page.getByRole("status");
  await expect(told).toHaveText(["Spoken title loaded", "", ""]);
  // A title that changes later, as those that count messages do, is no news.
  await (await app.content()).evaluate(() => {
    document.title = "(1) Spoken title";
  });
  await expect(app.page).toHaveTitle("(1) Spoken title");
  await expect(told).toHaveText(["Spoken title loaded", "", ""]);
  await app.goto("http://nowhere.invalid/");
  await expect(told).toHaveText(["", "", /^nowhere\.invalid did not open/]);
});

test("nothing in the shell scrolls sideways, in light or dark, also with large text", async ({ app }) => {
  for (const colorScheme of ["light", "dark"] as const) {
    await app.page.emulateMedia({ colorScheme });
    await app.page.locator("html").evaluate((html) => {
      html.style.fontSize = "200%";
    });
    const sideways = await app.page.locator("html").evaluate((html) => html.scrollWidth - html.clientWidth);
    expect(sideways).toBe(0);
    // The picture goes below the text.
    const [text, cabin] = await Promise.all(
      [".saved", ".ridge-cabin"].map((each) => app.page.locator(each).boundingBox()),
    );
    expect(cabin?.y ?? 0).toBeGreaterThan((text?.y ?? 0) + (text?.height ?? 0));
  }
});

test("the bar shows the name of the site, with Forward and with large text", async ({ app, origin }) => {
  const { page } = app;
  const { host } = new URL(origin.origin);
  for (const path of ["/", "/next"]) origin.page(path, "<p>Here</p>");
  for (const path of ["/", "/next"]) await app.goto(origin.origin + path);
  await page.getByRole("button", { name: "Back", exact: true }).click();
  await expect(page.getByRole("button", { name: "Forward" })).toBeVisible();
  const name = page.locator(".address-host");
  const cut = () => name.evaluate((element) => element.scrollWidth - element.clientWidth);
  await expect(name).toHaveText(host);
  expect(await cut()).toBeLessThanOrEqual(0);
  // As a browser's own zoom of 200 % does.
  await page.setViewportSize({ width: 206, height: 458 });
  await expect(page.getByRole("button", { name: "Forward" })).toBeHidden();
  await expect(page.getByRole("button", { name: "Home" })).toBeHidden();
  expect(await name.evaluate((element) => element.clientWidth)).toBeGreaterThan(50);
  // On a tablet nothing of the menu lies below its end.
  await page.setViewportSize({ width: 1024, height: 768 });
  await page.getByRole("button", { name: "Menu" }).click();
  const rows = page.getByRole("dialog", { name: "Menu" }).locator(".menu-rows > li");
  await expect(rows.nth(9)).toBeAttached();
  for (const row of await rows.all()) await expect(row).toBeInViewport({ ratio: 1 });
});

test("the person's colours and text size count, numbers keep their order, and settings lie in groups", async ({
  app,
  origin,
}) => {
  const styleOf = (selector: string, property: string) =>
    app.page
      .locator(selector)
      .first()
      .evaluate((element, name) => getComputedStyle(element).getPropertyValue(name), property);
  origin.page("/", "<p>Here</p>");
  await app.goto(`${origin.origin}/`);
  expect(await styleOf(".address-host bdi", "direction")).toBe("ltr");
  await app.page.emulateMedia({ forcedColors: "active" });
  await app.page.locator("html").evaluate((html) => {
    html.style.fontSize = "200%";
  });
  await app.page.getByRole("button", { name: "Menu" }).click();
  await app.page.getByRole("button", { name: "Settings" }).click();
  for (const edged of ["dialog.sheet", ".segments", ".address-pill"]) {
    expect([edged, await styleOf(edged, "border-top-style")]).toEqual([edged, "solid"]);
  }
  const [chosen, other] = [".segment input:checked + span", ".segment input:not(:checked) + span"];
  expect(await styleOf(chosen, "background-color")).not.toBe(await styleOf(other, "background-color"));
  const [on, off] = ['[aria-checked="true"] > .switch', '[aria-checked="false"] > .switch'];
  expect(await styleOf(on, "background-color")).toBe(await styleOf(chosen, "background-color"));
  expect(await styleOf(off, "background-color")).not.toBe(await styleOf(on, "background-color"));
  for (const [text, size] of [
    [".segment", "32px"],
    [".sheet h2", "40px"],
  ] as const) {
    expect([text, await styleOf(text, "font-size")]).toEqual([text, size]);
  }

  const sheet = app.page.getByRole("dialog", { name: "Settings" });
  const groups = ["Looks and search", "Data", "Without a signal", "On this phone", "Your edge", "About Ropeway"];
  await expect(sheet.getByRole("heading", { level: 3 })).toHaveText(groups);
  await expect(sheet.getByRole("img", { name: /^Data of the last 30 days, .+B on the largest$/ })).toBeVisible();
  await expect(sheet.locator(".data-axis span")).toHaveText([/^\d.*B$/, /^\d.*B$/, "0"]);
  await expect(sheet.locator(".data-span span")).toHaveText(["29 days ago", "Today"]);
  await expect(sheet.getByText(/^Version \d+\.\d+\.\d+\. /)).toBeVisible();
  await sheet.getByText("Help", { exact: true }).click();
  await expect(sheet.getByText("See “Your edge” above")).toBeVisible();
});

test("tabs, a held link, a site's questions and downloads are used with the keyboard alone @long", async ({
  app,
  context,
  origin,
}) => {
  const { page } = app;
  const { keyboard } = page;
  await context.grantPermissions(["geolocation"], { origin: app.base });
  origin.page(
    "/first",
    `<a href="/second">On</a> <button>Where</button> <a href="/noise/1500000?name=tide.bin">File</a><p></p><script>
      document.querySelector("button").onclick = () => navigator.geolocation.getCurrentPosition(() => {});
      navigator.permissions.query({ name: "geolocation" }).then((status) => {
        status.onchange = () => { document.querySelector("p").textContent = status.state; };
      });
    </script>`,
    "First",
  );
  origin.page("/second", "<p>Here</p>", "Second");
  const press = presserOf(page);
  const dialog = page.getByRole("dialog");
  const tabs = page.getByRole("button", { name: /^Tabs:/ });
  await keyboard.press("Control+l");
  await app.navigated(async () => {
    await keyboard.type(`${origin.origin}/first`);
    await keyboard.press("Enter");
  });

  await press(app.frame().getByRole("link", { name: "On" }), "ContextMenu");
  await press(dialog.getByRole("button", { name: "Open link in the background" }));
  await expect(tabs).toHaveText("2");
  await press(tabs);
  await press(dialog.getByRole("button", { name: "Arrange" }));
  await press(dialog.getByRole("button", { name: "Move First down" }));
  await expect(dialog.locator(".row-title")).toHaveText(["Second", "First"]);
  await press(dialog.getByRole("button", { name: "Arrange" }));
  await press(dialog.locator(".tab-main").first());
  await expect(app.frame().getByText("Here")).toBeVisible();
  await press(tabs);
  await press(dialog.getByRole("button", { name: "Close Second" }));
  await keyboard.press("Escape");
  await expect(tabs).toHaveCount(0);
  await expect(app.address).toHaveValue(`${origin.origin}/first`);

  const bar = page.locator(".notice-bar");
  await press(app.frame().getByRole("button", { name: "Where" }));
  await expect(bar).toContainText("wants to know where this phone is");
  await press(bar.getByRole("button", { name: "Allow" }));
  await expect(app.frame().getByText("granted")).toBeVisible();

  await press(app.frame().getByRole("link", { name: "File" }));
  await expect(bar).toContainText("is downloaded");
  await press(bar.getByRole("button", { name: "Show" }));
  const saved = page.waitForEvent("download");
  await press(dialog.getByRole("button", { name: "Save tide.bin" }));
  await saved;
  await press(dialog.getByRole("button", { name: "Delete tide.bin" }));
  await expect(dialog.getByText("Files of more than 1 MB")).toBeVisible();
  await keyboard.press("Escape");
  await expect(dialog).toHaveCount(0);
});

test("a page that takes the focus does not take what is typed into the address box", async ({ app, origin }) => {
  origin.page("/", "<p>Taker</p><input>");
  await app.goto(`${origin.origin}/`);
  const { keyboard } = app.page;
  const content = await app.content();
  const take = () => {
    window.focus();
    document.querySelector("input")?.focus();
  };
  await app.address.focus();
  await keyboard.type("harbour");
  await content.evaluate(take);
  // It is taken and given back.
  await app.page.waitForTimeout(300);
  await expect(app.address).toBeFocused();
  await keyboard.type(" lights");
  await expect(app.address).toHaveValue("harbour lights");

  await content.evaluate(`setInterval(${take}, 10)`);
  await app.page.waitForTimeout(1_000);
  await expect(app.address).toHaveValue("harbour lights");
  await app.page.getByRole("button", { name: "Cancel" }).click();
  await expect(app.address).toHaveValue(`${origin.origin}/`);
  await expect(app.frame().locator("input")).toHaveValue("");
});

for (const way of ["touch", "mouse"] as const) {
  test(`by ${way}, the first tap on the page ends the editing of the address, the next one is the page's`, async ({
    app,
    origin,
  }) => {
    const style = "position:fixed;inset:0";
    origin.page("/", `<button style="${style}" onclick="this.textContent = 'Tapped'">Untapped</button>`);
    await app.goto(`${origin.origin}/`);
    const box = await app.page.locator('iframe[title="Page"]').boundingBox();
    // Above what is suggested for an empty box, and for anything else.
    const [x, y] = [(box?.x ?? 0) + 20, (box?.y ?? 0) + 20];
    const tap = async () => {
      await app.drawn();
      await (way === "touch" ? app.page.touchscreen.tap(x, y) : app.page.mouse.click(x, y));
    };

    await app.address.fill("harbour");
    await tap();
    await expect(app.address).toHaveValue(`${origin.origin}/`);
    await expect(app.address).not.toBeFocused();
    await expect(app.frame().getByRole("button", { name: "Untapped" })).toBeVisible();
    await tap();
    await expect(app.frame().getByRole("button", { name: "Tapped", exact: true })).toBeVisible();
  });
}

test("Tab leads out of the address box to the page, and Escape leaves it", async ({ app, origin }) => {
  origin.page("/", '<a href="/next">Next</a>');
  await app.goto(`${origin.origin}/`);
  const { keyboard } = app.page;
  const link = app.frame().getByRole("link", { name: "Next" });

  await app.address.focus();
  await keyboard.type("harbour");
  for (let presses = 0; presses < 20; presses++) {
    if (await link.evaluate((element) => element === document.activeElement && document.hasFocus())) break;
    await keyboard.press("Tab");
  }
  await expect(link).toBeFocused();
  await expect(app.address).toHaveValue(`${origin.origin}/`);

  const pageFrame = app.page.locator('iframe[title="Page"]');
  for (const before of [pageFrame, app.page.getByRole("button", { name: "Menu" })]) {
    await before.focus();
    await app.address.focus();
    await keyboard.type("harbour");
    await keyboard.press("Escape");
    await expect(app.address).toHaveValue(`${origin.origin}/`);
    await keyboard.press("Escape");
    await expect(before).toBeFocused();
  }
});

test("Escape out of a sheet gives the focus back to what had it", async ({ app, origin }) => {
  origin.page("/", '<a href="/next">Next</a>');
  await app.goto(`${origin.origin}/`);
  const { page } = app;
  const { keyboard } = page;
  const dialog = page.getByRole("dialog");
  const closes = async (before: Locator) => {
    await expect(dialog).toBeVisible();
    expect(await page.evaluate(() => document.activeElement?.closest("dialog") !== null)).toBe(true);
    await keyboard.press("Escape");
    await expect(dialog).toHaveCount(0);
    await expect(before).toBeFocused();
  };
  for (const name of ["Menu", "Site information"]) {
    const button = page.getByRole("button", { name });
    await button.press("Enter");
    await closes(button);
  }
  const menu = page.getByRole("button", { name: "Menu" });
  for (const name of ["Settings", "Downloads", "History", "Bookmarks"]) {
    await menu.press("Enter");
    await dialog.getByRole("button", { name, exact: true }).press("Enter");
    await expect(page.getByRole("dialog", { name })).toBeVisible();
    await closes(menu);
  }
  await menu.press("Enter");
  await dialog.getByRole("button", { name: "Settings" }).press("Enter");
  const devices = dialog.getByRole("button", { name: "Paired devices" });
  await devices.press("Enter");
  await expect(page.getByRole("dialog", { name: "Devices" })).toBeVisible();
  await keyboard.press("Escape");
  await expect(page.getByRole("dialog", { name: "Settings" })).toBeVisible();
  await closes(menu);
});

test("a window, a window that nobody asked for, and a failure are used with the keyboard alone @long", async ({
  app,
  origin,
}) => {
  const { page } = app;
  const press = presserOf(page);
  const go = (path: string) =>
    app.navigated(async () => {
      await page.keyboard.press("Control+l");
      await page.keyboard.type(origin.origin + path);
      await page.keyboard.press("Enter");
    });
  origin.page(
    "/list",
    `<a target=_blank rel=opener href="/own">Own</a> <a href="http://nowhere.invalid/">Nowhere</a>`,
    "List",
  );
  origin.page("/unasked", `<script>window.shown = open("/own")</script><p>Page</p>`);
  origin.page("/own", "<p>A window</p>");
  const window = app.frame().getByText("A window");
  const bar = page.locator(".notice-bar");
  await go("/list");
  await press(app.frame().getByRole("link", { name: "Own" }));
  await expect(window).toBeVisible();
  await press(page.locator(".window-row").getByRole("button", { name: "Close" }));
  await expect(app.frame().getByRole("link", { name: "Own" })).toBeVisible();

  await app.sparesReady();
  await press(app.frame().getByRole("link", { name: "Nowhere" }));
  await expect(bar).toHaveText(/did not open/);
  await press(bar.getByRole("button", { name: "Close" }));
  await expect(bar).toHaveCount(0);

  await go("/unasked");
  await expect(bar).toContainText("wanted to open a window");
  await press(bar.getByRole("button", { name: "Open", exact: true }));
  await expect(window).toBeVisible();
  await press(page.locator(".window-row").getByRole("button", { name: "Close" }));
  await expect(app.frame().getByText("Page")).toBeVisible();
});

test("a message in the bar that the keyboard closes gives the focus back", async ({ app, origin }) => {
  const { page } = app;
  const press = presserOf(page);
  const bar = page.locator(".notice-bar");
  origin.page("/", `<a href="http://nowhere.invalid/">Nowhere</a>`, "Stays");
  await app.goto(`${origin.origin}/`);
  await app.sparesReady();
  const link = app.frame().getByRole("link", { name: "Nowhere" });
  await press(link);
  await expect(bar).toHaveText(/did not open/);
  await press(bar.getByRole("button", { name: "Close" }));
  await expect(bar).toHaveCount(0);
  await expect.poll(() => link.evaluate(() => document.hasFocus())).toBe(true);

  await press(page.getByRole("button", { name: "Home" }));
  await press(page.getByRole("button", { name: "Forget all" }));
  await expect(bar.getByRole("button", { name: "Undo" })).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(bar).toHaveCount(0);
  await expect(page.getByRole("button", { name: "Menu" })).toBeFocused();
});

/** Two pages; on the first a link to the second, and one to `url`. */
const pdfOf = (url: string) => `%PDF-1.4
1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj
2 0 obj << /Type /Pages /Count 2 /Kids [3 0 R 4 0 R] >> endobj
3 0 obj << /Type /Page /Parent 2 0 R /MediaBox [0 0 200 900] /Annots [
  << /Type /Annot /Subtype /Link /Rect [20 800 180 820] /Dest [4 0 R /Fit] >>
  << /Type /Annot /Subtype /Link /Rect [20 760 180 780] /A << /S /URI /URI (${url}) >> >> ] >> endobj
4 0 obj << /Type /Page /Parent 2 0 R /MediaBox [0 0 200 900] /Annots [
  << /Type /Annot /Subtype /Link /Rect [20 800 180 820] /A << /S /URI /URI (${url}?second) >> >> ] >> endobj
trailer << /Root 1 0 R >>
`;

test("a PDF's size and links, and the menu's Reader and Print, are used with the keyboard alone @long", async ({
  app,
  origin,
}) => {
  const { page } = app;
  const { keyboard } = page;
  // Closed shadow trees are open to the test.
  await page.addInitScript(() => {
    const { attachShadow } = Element.prototype;
    if (attachShadow.name === "opened") return;
    Element.prototype.attachShadow = function opened(init) {
      return attachShadow.call(this, { ...init, mode: "open" });
    };
  });
  const press = presserOf(page);
  const go = (path: string) =>
    app.navigated(async () => {
      await keyboard.press("Control+l");
      await keyboard.type(origin.origin + path);
      await keyboard.press("Enter");
    });
  const text = "The harbour lay quiet, and the boats moved a little at their ropes. ".repeat(6);
  origin.page(
    "/article",
    `<main><article><h1>Harbour</h1>${`<p>${text}</p>`.repeat(6)}</article></main><script>
      addEventListener("beforeprint", () => { document.querySelector("h1").textContent = "Printed"; });
    </script>`,
    "Harbour",
  );
  origin.route("/book.pdf", ({ reply }) =>
    reply(200, { "content-type": "application/pdf" }, pdfOf(`${origin.origin}/article`)),
  );

  await go("/book.pdf");
  const pages = app.frame().getByRole("region", { name: /^Page/ });
  const width = async () => Math.round((await pages.first().boundingBox())?.width ?? 0);
  const links = app.frame().locator("a.link");
  await expect(links).not.toHaveCount(0);
  const whole = await width();
  await press(app.frame().getByRole("button", { name: "Larger" }));
  await expect.poll(width).toBeGreaterThan(whole);
  await press(app.frame().getByRole("button", { name: "As wide as the window" }));
  await expect.poll(width).toBe(whole);
  await keyboard.press("-");
  await expect.poll(width).toBeLessThan(whole);
  await keyboard.press("0");
  await press(app.frame().getByRole("link", { name: "Within this file" }));
  await expect(pages.nth(1)).toBeInViewport();
  await expect(links).toHaveCount(3);
  // On from there.
  await keyboard.press("Tab");
  await expect(links.nth(2)).toBeFocused();
  await app.navigated(() => keyboard.press("Enter"));
  await expect(app.address).toHaveValue(/article\?second$/);

  const choose = async (name: string) => {
    await press(page.getByRole("button", { name: "Menu" }));
    await press(page.getByRole("dialog", { name: "Menu" }).getByRole("button", { name }));
  };
  await choose("Reader");
  const reader = app.frame().getByRole("dialog", { name: /^Reader:/ });
  await press(reader.getByRole("button", { name: "Larger" }));
  await keyboard.press("Escape");
  await expect(reader).toHaveCount(0);
  await choose("Print");
  await expect(app.frame().getByRole("heading", { name: "Printed" })).toBeVisible();
});

/** Goes by Tab until it has the focus, and presses it: back to the bar, since no browser without a window leaves a page's end. */
function presserOf(page: Page) {
  const { keyboard } = page;
  return async (what: Locator, key = "Enter"): Promise<void> => {
    const isThere = () =>
      what.evaluate((element) => {
        const { activeElement } = element.getRootNode() as Document | ShadowRoot;
        return element === activeElement && document.hasFocus();
      });
    // Buttons that a page could put under a finger rest first.
    await expect(what).toBeEnabled();
    const step = (await what.evaluate((element) => element.closest(".bar-host") !== null)) ? "Shift+Tab" : "Tab";
    for (let presses = 0; presses < 60 && !(await isThere()); presses++) await keyboard.press(step);
    await expect(what).toBeFocused();
    await keyboard.press(key);
  };
}
