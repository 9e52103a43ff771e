/** "Find in page": the app's own search, in all of the page that is shown. */
import type { Frame, Page } from "@playwright/test";
import { type AppPage, expect, testInOneApp as test } from "../fixtures/browser.ts";
import { test as oneHost } from "../fixtures/one-host.ts";

/** Texts that are marked, and the one that the person is at. */
const marked = (frame: Frame) =>
  frame.evaluate(() => {
    const texts = (name: string) => [...(CSS.highlights.get(name) ?? [])].map(String);
    return { all: texts("ropeway-found"), here: texts("ropeway-found-here") };
  });

const field = (page: Page) => page.getByRole("textbox", { name: "Find in page" });
const count = (page: Page) => page.getByRole("search").locator("output");

async function openByMenu({ page }: AppPage): Promise<void> {
  await page.getByRole("button", { name: "Menu" }).click();
  await page.getByRole("button", { name: "Find in page" }).click();
  await expect(field(page)).toBeFocused();
}

async function search({ page }: AppPage, text: string, found: string): Promise<void> {
  await field(page).fill(text);
  await expect(count(page)).toHaveText(found);
}

test.afterEach(async ({ app: { page } }) => {
  if (await field(page).isVisible()) await field(page).press("Escape");
});

test("the menu and the keys open it, Enter steps, and Escape gives the focus back", async ({ app, origin }) => {
  const { page } = app;
  origin.page(
    "/",
    `<title>Harbour</title><p>Boat one</p><p style="margin-top: 3000px">A second bo<b>at</b></p><input><p>The third boat</p>`,
  );
  await app.goto(`${origin.origin}/`);
  const frame = await app.content();
  await openByMenu(app);
  await expect(page.getByRole("textbox", { name: "Address" })).toBeHidden();
  await search(app, "BOAT", "1 of 3");
  await expect.poll(() => marked(frame)).toEqual({ all: ["Boat", "bo", "at", "boat"], here: ["Boat"] });
  await page.keyboard.press("Enter");
  await expect(count(page)).toHaveText("2 of 3");
  await expect.poll(() => marked(frame).then(({ here }) => here)).toEqual(["bo", "at"]);
  await expect(app.frame().getByText("A second")).toBeInViewport();
  await page.getByRole("button", { name: "Next match" }).click();
  await page.getByRole("button", { name: "Next match" }).click();
  await expect(count(page)).toHaveText("1 of 3");
  await field(page).press("Shift+Enter");
  await expect(count(page)).toHaveText("3 of 3");
  await search(app, "boats", "No matches");
  await page.getByRole("button", { name: "Close find" }).click();
  await expect(field(page)).toBeHidden();
  await expect.poll(() => marked(frame)).toEqual({ all: [], here: [] });

  await app.frame().locator("input").click();
  await page.keyboard.press("Control+f");
  await search(app, "third", "1 of 1");
  // The frame has the focus before the page hears that the search is over. The other way round Chromium takes the focus from
  // the page's field, which gets it again then.
  const isFirst = await page.evaluateHandle(() => {
    const { focus } = HTMLElement.prototype;
    const seen: boolean[] = [];
    HTMLElement.prototype.focus = function (this: HTMLElement) {
      if (this.localName === "iframe") seen.push(document.querySelector(".find-bar") !== null);
      return focus.call(this);
    };
    return seen;
  });
  await field(page).press("Escape");
  await expect.poll(() => frame.evaluate(() => document.hasFocus())).toBe(true);
  expect((await isFirst.jsonValue())[0]).toBe(true);
  await page.keyboard.type("typed");
  await expect(app.frame().locator("input")).toHaveValue("typed");
  const menu = page.getByRole("button", { name: "Menu" });
  await menu.focus();
  await page.keyboard.press("Control+f");
  await field(page).press("Escape");
  await expect(menu).toBeFocused();
  // On the start page there is nothing to search.
  await page.getByRole("button", { name: "Home" }).click();
  await expect(page.getByRole("search", { name: "Find in page" })).toBeHidden();
  await page.keyboard.press("Control+f");
  await expect(field(page)).toBeHidden();
});

test("all that is shown is searched, as people read it, and what can be opened is", async ({ app, origin }) => {
  const { page } = app;
  origin.page(
    "/",
    `<style>.none { display: none } .hidden { visibility: hidden } .skipped { content-visibility: hidden }</style>
    <p>Crème   <i>brû</i>l&eacute;e, CREME
      BRULEE</p><p>creme</p><p>brulee</p><script>const word = "creme brulee";</script><p class="none">creme brulee</p>
    <p class="hidden">creme brulee</p><div class="skipped">creme brulee</div><select><option>creme brulee</select>
    <form><input name="firstChild"><input name="parentNode"><input name="shadowRoot"><b>Creme Brule&#x301;e</b></form>
    <details><summary>Recipe</summary><p id="secret">the secret of a creme brulee</p></details>
    <div hidden="until-found" id="until">until creme brulee</div><x-box>creme brulee</x-box>
    <p>Straße, “quoted”, ﬁsh, İstanbul, か, が</p>
    <script>
      document.querySelector("#until").addEventListener("beforematch", ({ target }) => { target.title = "opened"; });
      const root = document.querySelector("x-box").attachShadow({ mode: "open" });
      root.innerHTML = "<p>in the shadow: creme brulee</p><slot></slot><iframe></iframe><iframe srcdoc='creme brulee'></iframe>";
      root.querySelector("iframe").contentDocument.body.append("creme brulee");
    </script>`,
  );
  await app.goto(`${origin.origin}/`);
  const frame = await app.content();
  await openByMenu(app);
  await search(app, "creme brulee", "1 of 9");
  expect((await marked(frame)).all.join("").replace(/\s+/g, " ")).toContain("Crème brûlée");
  await expect(app.frame().locator("#secret")).toBeHidden();
  for (const at of [2, 3, 4]) {
    await field(page).press("Enter");
    await expect(count(page)).toHaveText(`${at} of 9`);
  }
  await expect(app.frame().locator("#secret")).toBeInViewport();
  await field(page).press("Enter");
  await expect(app.frame().locator("#until")).toBeInViewport();
  await expect(app.frame().locator("#until")).toHaveAttribute("title", "opened");
  for (const [text, found] of [
    ["strasse", "1 of 1"],
    ['"quoted"', "1 of 1"],
    ["fish", "1 of 1"],
    ["istanbul", "1 of 1"],
    ["か", "1 of 1"],
    ["", ""],
  ] as const)
    await search(app, text, found);
  await expect.poll(() => marked(frame)).toEqual({ all: [], here: [] });
});

test("frames of the own site and of others are searched, also in shadow trees and behind strict policies", async ({
  app,
  origin,
  otherOrigin,
}) => {
  const { page } = app;
  const strict = { "content-type": "text/html", "content-security-policy": "default-src 'none'; style-src 'none'" };
  origin.page(
    "/",
    `<p>needle here</p><p style="margin-top: 2000px"></p><iframe src="/inner"></iframe><iframe src="${otherOrigin.origin}/far"></iframe>
    <div id="host"></div><p>needle below</p><script>
      document.querySelector("#host").attachShadow({ mode: "open" }).innerHTML =
        "<iframe src='${otherOrigin.origin}/strict'></iframe>";
    </script>`,
  );
  origin.page("/inner", "<p>a needle inside</p>");
  otherOrigin.page("/far", `<p style="margin-top: 1500px">a needle of another site</p>`);
  otherOrigin.route("/strict", ({ reply }) => reply(200, strict, "<p>needle, <b>strictly</b></p>"));
  await app.goto(`${origin.origin}/`);
  await expect(app.frame().frameLocator("iframe").nth(1).getByText("a needle of another")).toBeAttached();
  await expect(app.frame().locator("#host").frameLocator("iframe").getByText("strictly")).toBeAttached();
  await openByMenu(app);
  await search(app, "needle", "1 of 5");
  const step = async (at: number) => {
    await field(page).press("Enter");
    await expect(count(page)).toHaveText(`${at} of 5`);
  };
  await step(2);
  await expect(app.frame().getByText("needle below")).toBeInViewport();
  await step(3);
  await step(4);
  await expect(app.frame().frameLocator("iframe").nth(1).getByText("a needle of another")).toBeInViewport();
  await step(5);
  await search(app, "strictly", "1 of 1");
});

test("a page counts for itself alone, hears nothing of the text, and is searched anew when it changes", async ({
  app,
  origin,
  otherOrigin,
}) => {
  const { page } = app;
  origin.page(
    "/",
    `<p>apple</p><p>apple</p><iframe src="${otherOrigin.origin}/hostile"></iframe><script>
      window.heard = [];
      const hear = ({ data }) => heard.push(JSON.stringify(data));
      addEventListener("message", hear, true);
      addEventListener("message", hear);
    </script>`,
  );
  otherOrigin.page(
    "/hostile",
    `<script>
      addEventListener("message", ({ data }) => { window.id = data?.id; });
      const shell = (0, eval)("top");
      const told = { kind: "matches", count: 1e9, near: 1e9, isDone: true };
      setInterval(() => {
        for (let id = 0; id < 40; id++)
          for (const each of [told, { kind: "there" }, { ...told, count: -5 }, { ...told, count: "9" }])
            shell.postMessage({ tag: "ropeway.1", type: "found", id, told: each }, "*");
      }, 50);
    </script>`,
  );
  await app.goto(`${origin.origin}/`);
  const frame = await app.content();
  await openByMenu(app);
  await field(page).fill("apple");
  await expect(count(page)).toHaveText(/^1 of (?:2|1000\+)$/);
  await field(page).press("Enter");
  await expect(count(page)).toHaveText(/^2 of (?:2|1000\+)$/);
  expect((await marked(frame)).all).toEqual(["apple", "apple"]);
  const heard = await frame.evaluate<string[]>(() => Reflect.get(window, "heard"));
  expect(heard.filter((text) => text.includes("apple"))).toEqual([]);
  await frame.evaluate(() => document.body.insertAdjacentHTML("afterbegin", "<p>green apple</p>"));
  await field(page).fill("green apple");
  await expect.poll(() => marked(frame).then(({ all }) => all)).toEqual(["green apple"]);
});

test("a large page is searched in slices, up to a thousand matches @long", async ({ app, origin }) => {
  const words = "<p>one <b>two</b> three</p>".repeat(8_000);
  origin.page("/", `${words}<p>the last of all</p><pre>${"aaaaaaab".repeat(60_000)}</pre>`);
  await app.goto(`${origin.origin}/`);
  await openByMenu(app);
  await search(app, "two three", "1 of 1000+");
  await search(app, "the last of all", "1 of 1");
  await search(app, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", "No matches");
});

oneHost("pages without scripts are searched by the app", async ({ app, origin }) => {
  const { page } = app;
  origin.page(
    "/",
    `<img name="documentElement"><img name="defaultView"><img name="adoptedStyleSheets"><noscript>A needle</noscript>
    <form><input name="childNodes"><input name="firstChild"><b>needle</b></form><p style="margin-top: 3000px">The last nee<i>dle</i>`,
  );
  await app.goto(`${origin.origin}/`);
  const frame = await app.content();
  await openByMenu(app);
  await search(app, "needle", "1 of 3");
  expect((await marked(frame)).all).toEqual(["needle", "needle", "nee", "dle"]);
  await field(page).press("Shift+Enter");
  await expect(count(page)).toHaveText("3 of 3");
  await expect(app.frame().getByText("The last")).toBeInViewport();
  await field(page).press("Escape");
  await app.frame().locator("body").press("Control+f");
  await search(app, "no needle", "No matches");
  await field(page).press("Escape");
  await expect.poll(() => marked(frame)).toEqual({ all: [], here: [] });
});
