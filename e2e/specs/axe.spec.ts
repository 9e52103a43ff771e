import { readFileSync } from "node:fs";
import AxeBuilder from "@axe-core/playwright";
import type { Page } from "@playwright/test";
import { tilePicture } from "../demo/hundred-fifty.ts";
import { expect, test } from "../fixtures/browser.ts";

type Inside = string | { fromShadowDom: [host: string, element: string] };

/** Of the page that is shown, which is no part of the app: an element of the app's own, however deep. */
const inPage = (selector: Inside): Parameters<AxeBuilder["include"]>[0] => ({
  fromFrames: [{ fromShadowDom: [".frame-host", 'iframe[title="Page"]'] }, selector],
});

const LOOKS = ["light", "dark", "text of 200 %", "right to left"] as const;
type Look = (typeof LOOKS)[number];
const ARABIC: Readonly<Record<string, string>> = JSON.parse(readFileSync("pwa/languages/ar.json", "utf8"));

async function wear(page: Page, look: Look): Promise<void> {
  await page.emulateMedia({ colorScheme: look === "dark" ? "dark" : "light" });
  if (look === "right to left") {
    await page.evaluate(() => localStorage.setItem("ropeway.settings", JSON.stringify({ language: "ar" })));
    await page.reload();
    await expect(page.locator("html")).toHaveAttribute("dir", "rtl");
  }
  if (look !== "text of 200 %") return;
  await page.locator("html").evaluate((html) => {
    html.style.fontSize = "200%";
  });
}

/** @returns of the app's buttons, fields and words those that lie beside the screen, where nobody gets to them. */
const besideScreen = (page: Page) =>
  page.evaluate(() =>
    [...document.querySelectorAll("button, input, a, h2, h3, p, summary")]
      .filter(
        (each) => each.closest(".frame-host, [inert]") === null && each.checkVisibility({ visibilityProperty: true }),
      )
      .map((each) => ({ each, box: each.getBoundingClientRect() }))
      .filter(({ box }) => box.width > 1 && (box.left < -1 || box.right > innerWidth + 1))
      .map(({ each, box }) => `${each.outerHTML.slice(0, 120)} ${Math.round(box.left)} to ${Math.round(box.right)}`),
  );

/** @returns judges all that is shown but the page; or, of the page, the app's own view in it. */
function checksOf(page: Page, look: Look) {
  return async (view: string, inside?: Inside) => {
    // A sheet comes from below; colours are judged once it is there.
    const unfinished = await page.evaluate(async () => {
      // Signs that something goes on (the link, a page that loads) are shown twenty times, for half a minute.
      const ending = document.getAnimations().filter(({ effect }) => effect?.getComputedTiming().iterations === 1);
      const left = new Set(ending);
      const finished = ending.map((each) => each.finished.finally(() => left.delete(each)));
      // Any takes less than a second. The test names those that it would wait for until its end.
      await Promise.race([Promise.allSettled(finished), new Promise((resolve) => setTimeout(resolve, 20_000))]);
      const target = ({ effect }: Animation) => (effect as KeyframeEffect | null)?.target?.className;
      return [...left].map((each) => `${each.playState} at ${each.currentTime} ms of ${target(each)}`);
    });
    expect.soft(unfinished, view).toEqual([]);
    const whole = new AxeBuilder({ page });
    const axe = inside === undefined ? whole.exclude(".frame-host") : whole.include(inPage(inside));
    const { violations, passes } = await (look === "dark" ? axe.withRules("color-contrast") : axe).analyze();
    const found = violations.map(({ id, nodes }) => `${view}: ${id}: ${nodes.map(({ html }) => html).join(" ")}`);
    expect.soft(found).toEqual([]);
    if (look === "light") expect.soft(passes.length, view).toBeGreaterThan(0);
    if (look === "text of 200 %" || look === "right to left") expect.soft(await besideScreen(page), view).toEqual([]);
  };
}

/** Closed shadow trees are open to the test. */
const OPENS = () => {
  const { attachShadow } = Element.prototype;
  if (attachShadow.name === "opened") return;
  Element.prototype.attachShadow = function opened(init) {
    return attachShadow.call(this, { ...init, mode: "open" });
  };
};

const PDF = `%PDF-1.4
1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj
2 0 obj << /Type /Pages /Count 1 /Kids [3 0 R] >> endobj
3 0 obj << /Type /Page /Parent 2 0 R /MediaBox [0 0 200 300] /Resources << /Font << /F 4 0 R >> >> /Contents 5 0 R >> endobj
4 0 obj << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> endobj
5 0 obj << /Length 37 >>
stream
BT /F 18 Tf 20 200 Td (Harbour) Tj ET
endstream endobj
trailer << /Root 1 0 R >>
`;
const FEED = `<rss version="2.0"><channel><title>Ferry</title><link>/</link><description>Times</description>
  <item><title>One</title><link>/one</link><pubDate>Fri, 20 Nov 2026 08:00:00 GMT</pubDate><description>Text</description></item>
  </channel></rss>`;
const SENTENCE =
  "The harbour lay quiet, and the boats, which had come in before the storm, moved a little at their ropes. ";
const ARTICLE = `<main><article><h1>Harbour</h1>${`<p>${SENTENCE.repeat(4)}</p>`.repeat(6)}</article></main>`;

// Nothing but colours differs in the dark.
for (const look of LOOKS) {
  test(`a screen reader's rules find nothing in the app's views, ${look}`, {
    tag: look === "light" ? [] : "@long",
  }, async ({ app, origin }) => {
    origin.page("/", "<p>Hello</p>", "A page");
    const { page } = app;
    const check = checksOf(page, look);
    const t = (text: string) => (look === "right to left" ? ARABIC[text] : undefined) ?? text;
    const menu = (name: string) => async () => {
      await page.getByRole("button", { name: t("Menu") }).click();
      await page
        .getByRole("dialog")
        .getByRole("button", { name: t(name), exact: true })
        .click();
    };
    const close = () => page.keyboard.press("Escape");

    await wear(page, look);
    await check("start page");
    await app.goto(`${origin.origin}/`);
    await check("page");
    await page.getByRole("button", { name: t("Menu") }).click();
    await expect(page.getByRole("dialog", { name: t("Menu") })).toBeVisible();
    await check("menu");
    await close();
    // The first of its kind loads its script: a key that is pressed before would close nothing.
    const sheet = page.locator("dialog.sheet-card[open]");
    for (const name of ["Settings", "History", "Bookmarks", "Downloads", "Site information"]) {
      await menu(name)();
      await expect(sheet).toBeVisible();
      await check(name);
      await close();
    }
    await menu("Settings")();
    await page.getByRole("button", { name: t("Paired devices") }).click();
    await expect(page.getByRole("heading", { name: t("Add a device") })).toBeVisible();
    await check("devices");
    await close();
    await expect(page.getByRole("dialog", { name: t("Settings") })).toBeVisible();
    await close();
    await menu("New tab")();
    await page.getByRole("button", { name: new RegExp(`^${t("Tabs: {count}").split("{")[0]}`) }).click();
    await expect(sheet).toBeVisible();
    await check("tabs");
    await sheet.getByRole("button", { name: t("Arrange") }).click();
    await check("tabs that are arranged");
    await close();
    await app.ask("http://nowhere.invalid/");
    await expect(page.getByRole("heading", { name: t("No site with this name") })).toBeVisible();
    await check("error page");
    await page.getByRole("button", { name: t("Start page") }).click();
  });

  if (look === "right to left") continue;
  test(`nor in those that come with pages, ${look} @long`, async ({ app, origin }) => {
    const { page } = app;
    const { keyboard } = page;
    const check = checksOf(page, look);
    await page.addInitScript(OPENS);
    const serve = (path: string, type: string, body: string | Uint8Array, status = 200) =>
      origin.route(path, ({ reply }) =>
        reply(
          status,
          { "content-type": type, ...(status === 401 && { "www-authenticate": 'Basic realm="Members"' }) },
          body,
        ),
      );
    origin.page(
      "/",
      `<main><a href="/other" target=_blank rel=opener>Link</a> <a href="/noise/1500000?name=tide.bin">File</a> <button>Where</button></main><script>
        document.querySelector("button").onclick = () => navigator.geolocation.getCurrentPosition(() => {});
      </script>`,
      "Harbour",
    );
    origin.page("/other", "<p>Other</p>");
    origin.page("/unasked", `<script>window.shown = open("/other")</script><p>Page</p>`);
    await app.goto(`${origin.origin}/`);
    await wear(page, look);
    await app.address.fill("harb");
    await expect(page.getByRole("option")).toHaveCount(2);
    await check("suggestions");
    for (let presses = 0; presses < 2; presses++) await keyboard.press("Escape");

    const link = app.frame().getByRole("link", { name: "Link" });
    await link.focus();
    await keyboard.press("ContextMenu");
    await expect(page.getByRole("button", { name: "Copy address of link" })).toBeVisible();
    await check("held link");
    await keyboard.press("Escape");
    await keyboard.press("Control+f");
    await page.getByRole("textbox", { name: "Find in page" }).fill("link");
    await expect(page.getByRole("search").locator("output")).toHaveText("1 of 1");
    await check("find");
    await keyboard.press("Escape");
    await app.frame().getByRole("button", { name: "Where" }).click();
    const question = page.locator(".notice-bar").filter({ hasText: "wants to know" });
    await expect(question.getByRole("button", { name: "Allow" })).toBeEnabled();
    await check("question");
    await question.getByRole("button", { name: "Block" }).click();
    await link.click();
    await expect(page.getByText("Window of")).toBeVisible();
    await check("window");
    await page.getByRole("button", { name: "Close", exact: true }).click();
    await (await app.content()).evaluate(() => {
      const publicKey = { challenge: new Uint8Array(16) };
      void navigator.credentials.get({ publicKey }).catch(() => {});
      const made = "<!doctype html><html lang=en><title>Made</title><main aria-label=Made><h1>Made";
      open(URL.createObjectURL(new Blob([made], { type: "text/html" })));
    });
    await expect(page.locator(".notice-bar")).toContainText("A passkey of");
    await check("passkey");
    await expect(app.frame().frameLocator("iframe").getByText("Made")).toBeVisible();
    await check("window of a script", "html");
    await app.frame().getByRole("button", { name: "Close this window" }).click();
    await app.frame().getByRole("link", { name: "File" }).click();
    await page.locator(".notice-bar").getByRole("button", { name: "Show" }).click();
    await expect(page.getByRole("button", { name: "Save tide.bin" })).toBeVisible();
    await check("download");
    await keyboard.press("Escape");
    for (const name of ["Add bookmark", "Bookmarks"]) {
      await page.getByRole("button", { name: "Menu" }).click();
      await page.getByRole("button", { name }).click();
      if (name === "Add bookmark") await keyboard.press("Escape");
    }
    await page.getByRole("button", { name: "Change Harbour" }).click();
    await expect(page.getByRole("combobox", { name: "Folder" })).toBeVisible();
    await check("bookmark that is changed");
    await keyboard.press("Escape");
    await app.ask("http://nowhere.invalid/");
    await expect(page.getByText("did not open").first()).toBeVisible();
    await check("failure");
    await app.goto(`${origin.origin}/unasked`);
    await expect(page.getByText("wanted to open a window").first()).toBeVisible();
    await check("window that waits");
    await app.goto(`${origin.origin}/`);
    await page.getByRole("button", { name: "Site information" }).click();
    await page.getByRole("button", { name: "Open in the browser, past Ropeway" }).click();
    await expect(page.getByRole("dialog", { name: "Open past Ropeway?" })).toBeVisible();
    await check("past Ropeway");
    await keyboard.press("Escape");
    serve("/closed", "text/html", "<!doctype html><p>Not in", 401);
    await app.ask(`${origin.origin}/closed`);
    await expect(page.getByRole("dialog")).toContainText("Members");
    await check("sign-in");
    await keyboard.press("Escape");
    await expect(app.frame().getByText("Not in")).toBeVisible();

    serve("/article", "text/html", `<!doctype html><html lang=en><title>Harbour</title>${ARTICLE}`);
    await app.goto(`${origin.origin}/article`);
    await page.getByRole("button", { name: "Menu" }).click();
    await page.getByRole("button", { name: "Reader" }).click();
    await expect(app.frame().getByRole("dialog", { name: /^Reader:/ })).toBeVisible();
    await check("reader", { fromShadowDom: ["ropeway-reader", "dialog"] });
    serve("/tree", "application/json", `{"a": [1, "two", null, {"b": true}], "site": "https://site.example/"}`);
    serve("/feed", "application/rss+xml", FEED);
    serve("/xml", "application/xml", "<tide at='noon'><!-- low --><height>2</height></tide>");
    serve("/book.pdf", "application/pdf", PDF);
    serve("/tile.png", "image/png", tilePicture(1));
    for (const [path, there] of [
      ["/tree", ".tree"],
      ["/xml", ".tree"],
      ["/feed", ".entries"],
      ["/book.pdf", ".page canvas"],
      ["/tile.png", "img"],
    ] as const) {
      await app.goto(origin.origin + path);
      await expect(app.frame().locator(there).first()).toBeVisible();
      // Where a picture is alone, no landmark is around it.
      await check(path, there === "img" ? there : "body");
    }
  });
}
