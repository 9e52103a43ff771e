/** Tabs: each keeps its page, its history and what was typed; the phone's way back is the tab's own. */
import { readFile } from "node:fs/promises";
import type { Locator } from "@playwright/test";
import { encodePng } from "../demo/png.ts";
import { type AppPage, expect, test } from "../fixtures/browser.ts";
import { test as withOneHost } from "../fixtures/one-host.ts";
import { recording } from "../fixtures/recording.ts";
import { pageOf, type TestOrigin } from "../fixtures/test-origin/test-origin.ts";

const TITLES = ["First", "Second", "Third"] as const;

function servePages(...origins: readonly TestOrigin[]): void {
  for (const origin of origins)
    for (const title of TITLES)
      origin.page(
        `/${title}`,
        `<script>document.title = "${title}"</script><h1>${title}</h1><input aria-label="Note"><a href="/Second">On</a>` +
          `<div style="height: 3000px"></div>`,
      );
}

const heading = (app: AppPage, title: string) => app.frame().getByRole("heading", { name: title });
const menu = async (app: AppPage, row: string | RegExp) => {
  await app.page.getByRole("button", { name: "Menu" }).click();
  await app.page.getByRole("dialog", { name: "Menu" }).getByRole("button", { name: row }).click();
};
const list = (app: AppPage) => app.page.getByRole("dialog", { name: /tabs?$/ });
const turnTo = async (app: AppPage, title: string) => {
  await app.page.getByRole("button", { name: /^Tabs:/ }).click();
  await list(app).getByRole("button", { name: title }).first().click();
};

/** A link or a picture, by a pen's second button: Chromium has no long press without a screen. */
const hold = async (app: AppPage, held: Locator) => {
  // A sheet, or another tab, may be what was drawn last.
  await app.drawn();
  const box = await held.boundingBox();
  if (box === null) throw new Error("Cannot hold it: it is not shown");
  const at = { x: box.x + box.width / 2, y: box.y + box.height / 2, pointerType: "pen", button: "right" } as const;
  const devtools = await app.page.context().newCDPSession(app.page);
  for (const type of ["mousePressed", "mouseReleased"] as const)
    await devtools.send("Input.dispatchMouseEvent", { type, ...at, clickCount: 1 });
};

test("each tab keeps its page as it is, its own history, and the phone's way back is the tab's", async ({
  app,
  origin,
  otherOrigin,
}) => {
  servePages(origin, otherOrigin);
  await app.goto(`${origin.origin}/First`);
  await app.frame().getByLabel("Note").fill("kept");
  const scroll = async (y: number) => (await app.content()).evaluate((to) => scrollTo(0, to), y);
  const scrolled = async () => (await app.content()).evaluate(() => scrollY);
  await scroll(1_000);
  const { sessions } = await app.stats();
  await menu(app, "New tab");
  await expect(app.page.getByRole("button", { name: "Tabs: 2" })).toBeVisible();
  await app.goto(`${otherOrigin.origin}/First`);
  await app.navigated(() => app.frame().getByRole("link", { name: "On" }).click());
  await app.goto(`${otherOrigin.origin}/Third`);
  await scroll(700);
  // One tunnel serves them all. How many of its six sockets are open depends on how busy it was of late.
  expect(await app.stats()).toMatchObject({ sessions });
  expect((await app.stats()).sockets).toBeLessThanOrEqual(6);

  await turnTo(app, "First");
  await expect(app.frame().getByLabel("Note")).toHaveValue("kept");
  expect(await scrolled()).toBe(1_000);
  await expect(app.address).toHaveValue(`${origin.origin}/First`);
  await app.navigated(() => app.frame().getByRole("link", { name: "On" }).click());
  await expect(heading(app, "Second")).toBeVisible();
  await app.navigated(() => app.page.evaluate(() => history.back()));
  await expect(heading(app, "First")).toBeVisible();

  // Its entries lie before those of the other tab in the browser's own list.
  await turnTo(app, "Third");
  await expect(app.address).toHaveValue(`${otherOrigin.origin}/Third`);
  expect(await scrolled()).toBe(700);
  await app.navigated(() => app.page.getByRole("button", { name: "Back", exact: true }).click());
  await expect(heading(app, "Second")).toBeVisible();
  await app.navigated(() => app.page.evaluate(() => history.back()));
  await expect(heading(app, "First")).toBeVisible();
  await expect(app.address).toHaveValue(`${otherOrigin.origin}/First`);
  for (const title of ["Second", "Third"]) {
    await menu(app, "Forward");
    await expect(heading(app, title)).toBeVisible();
  }

  await turnTo(app, "First");
  await expect(heading(app, "First")).toBeVisible();
});

test("the list shows of each tab the largest picture that the phone has of its page, and asks nobody for it", async ({
  app,
  origin,
  otherOrigin,
}) => {
  let asked = 0;
  const serve = (at: TestOrigin, path: string, caching: string, side: number) =>
    at.route(path, ({ reply }) => {
      asked++;
      const image = encodePng({ width: side, height: side, palette: [0xc81e1e], pixels: new Uint8Array(side * side) });
      reply(200, { "content-type": "image/png", "cache-control": caching }, image);
    });
  serve(origin, "/small.png", "max-age=600", 70);
  serve(otherOrigin, "/boat.png", "max-age=600", 200);
  serve(origin, "/secret.png", "no-store", 200);
  origin.page("/First", `<img src=/small.png> <img src=${otherOrigin.origin}/boat.png>`, "First");
  origin.page("/Second", "<img src=/secret.png>", "Second");
  origin.page("/Third", "No picture", "Third");
  await app.storeReady();
  await app.goto(`${origin.origin}/First`);
  for (const title of ["Second", "Third"]) {
    await menu(app, "New tab");
    await app.goto(`${origin.origin}/${title}`);
  }
  expect(asked).toBe(3);
  await app.page.getByRole("button", { name: "Tabs: 3" }).click();
  const pictures = list(app).getByRole("listitem").locator(".tab-picture");
  const widthOf = (at: number) =>
    pictures
      .nth(at)
      .locator("img")
      .evaluate((img: HTMLImageElement) => img.naturalWidth);
  await expect.poll(() => widthOf(0)).toBe(200);
  await expect(pictures.nth(1)).toHaveText("1");
  await expect(pictures.nth(2)).toHaveText("1");
  await list(app).getByRole("button", { name: "Arrange" }).click();
  await list(app).getByRole("button", { name: "Move First down" }).click();
  await expect.poll(() => widthOf(1)).toBe(200);
  expect(asked).toBe(3);
});

test("tabs are closed, taken back, arranged, and there again after the app was closed", async ({
  app,
  origin,
  otherOrigin,
}) => {
  servePages(origin, otherOrigin);
  await app.goto(`${origin.origin}/First`);
  for (const title of ["Second", "Third"]) {
    await menu(app, "New tab");
    await app.goto(`${otherOrigin.origin}/${title}`);
  }
  const names = list(app).locator(".row-title");
  await app.page.getByRole("button", { name: "Tabs: 3" }).click();
  await list(app).getByRole("button", { name: "Arrange" }).click();
  await list(app).getByRole("button", { name: "Move Third up" }).click();
  await expect(names).toHaveText(["First", "Third", "Second"]);
  await list(app).getByRole("button", { name: "Arrange" }).click();
  await list(app).getByRole("button", { name: "Close First" }).click();
  await expect(names).toHaveText(["Third", "Second"]);
  await list(app).getByRole("button", { name: "Close", exact: true }).click();
  await app.page.locator(".notice-bar").getByRole("button", { name: "Undo" }).click();
  await expect(heading(app, "First")).toBeVisible();

  await app.page.goto(app.base);
  await expect(heading(app, "First")).toBeVisible();
  await app.page.getByRole("button", { name: "Tabs: 3" }).click();
  await expect(names).toHaveText(["First", "Third", "Second"]);
  await list(app).getByRole("button", { name: "Second" }).first().click();
  await expect(heading(app, "Second")).toBeVisible();
  await expect(app.address).toHaveValue(`${otherOrigin.origin}/Second`);
});

/** Has the app share into a list, and read what was copied: browsers without a screen share nothing. */
async function watchShares({ page, base }: AppPage) {
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"], { origin: base });
  await page.evaluate(() => {
    const shared: ShareData[] = [];
    const share = async (data: ShareData) => void shared.push(data);
    Object.defineProperty(navigator, "share", { value: share, configurable: true });
    Object.assign(window, { shared });
  });
  return {
    shared: () => page.evaluate(() => (window as unknown as { readonly shared: readonly ShareData[] }).shared),
    copied: () => page.evaluate(() => navigator.clipboard.readText()),
  };
}

test("links open in tabs by the keys of a desk and by a long press; a tab that a link has opened leads back", async ({
  app,
  origin,
  otherOrigin,
}) => {
  servePages(origin, otherOrigin);
  const square = '<svg xmlns="http://www.w3.org/2000/svg" width="90" height="90"><rect width="90" height="90"/></svg>';
  origin.route("/boat.svg", ({ reply }) => reply(200, { "content-type": "image/svg+xml" }, square));
  origin.page(
    "/links",
    `<a href="${otherOrigin.origin}/First">Other</a> <a href="/Second">Own</a> <input aria-label="Draft">
      <img src="/boat.svg" alt="Boat">`,
  );
  await app.goto(`${origin.origin}/links`);
  await app
    .frame()
    .getByRole("link", { name: "Own" })
    .click({ modifiers: ["Control"] });
  await expect(app.page.getByRole("button", { name: "Tabs: 2" })).toBeVisible();
  await expect(app.address).toHaveValue(`${origin.origin}/links`);
  await app
    .frame()
    .getByRole("link", { name: "Other" })
    .click({ button: "middle", modifiers: ["Shift"] });
  await expect(heading(app, "First")).toBeVisible();
  expect(otherOrigin.requestsTo("/First")[0]?.headers.referer).toBe(`${origin.origin}/`);
  await app.page.evaluate(() => history.back());
  await expect(app.page.getByRole("button", { name: "Tabs: 2" })).toBeVisible();
  await expect(app.address).toHaveValue(`${origin.origin}/links`);

  const holdOther = () => hold(app, app.frame().getByRole("link", { name: "Other" }));
  // No script opens it.
  await app.frame().getByRole("link", { name: "Own" }).dispatchEvent("contextmenu", { pointerType: "touch" });
  await holdOther();
  const sheet = app.page.getByRole("dialog", { name: new URL(otherOrigin.origin).host });
  await sheet.getByRole("button", { name: "Open link in the background" }).click();
  await expect(app.page.getByRole("button", { name: "Tabs: 3" })).toBeVisible();
  await holdOther();
  await expect(sheet).toBeVisible();
  await app.page.keyboard.press("Escape");
  await expect(sheet).toBeHidden();

  // Whatever leaves the app names the real address.
  const { shared, copied } = await watchShares(app);
  const picture = `${origin.origin}/boat.svg`;
  const holdPicture = async (row: string) => {
    await hold(app, app.frame().getByRole("img", { name: "Boat" }));
    await app.page.getByRole("dialog").getByRole("button", { name: row }).click();
  };
  await holdOther();
  await sheet.getByRole("button", { name: "Copy address of link" }).click();
  await expect.poll(copied).toBe(`${otherOrigin.origin}/First`);
  await holdOther();
  await sheet.getByRole("button", { name: "Share link" }).click();
  await holdPicture("Copy address of picture");
  await expect.poll(copied).toBe(picture);
  await holdPicture("Share picture");
  await menu(app, "Share");
  const page = { title: "Test page", url: `${origin.origin}/links` };
  await expect.poll(shared).toEqual([{ url: `${otherOrigin.origin}/First` }, { url: picture }, page]);
  await holdPicture("Open picture in the background");
  await expect(app.page.getByRole("button", { name: "Tabs: 4" })).toBeVisible();
  await expect(app.address).toHaveValue(`${origin.origin}/links`);
  await holdPicture("Open picture in new tab");
  await expect(app.address).toHaveValue(picture);
  await expect(app.page.getByRole("button", { name: "Tabs: 5" })).toBeVisible();
  await app.page.evaluate(() => history.back());
  await expect(app.address).toHaveValue(`${origin.origin}/links`);

  // The page has the focus until the other one is there.
  await app.frame().getByLabel("Draft").fill("kept");
  await holdOther();
  await sheet.getByRole("button", { name: "Open link in new tab" }).click();
  await expect(heading(app, "First")).toBeVisible();
  await turnTo(app, "Test page");
  await expect(app.frame().getByLabel("Draft")).toHaveValue("kept");
});

test("the list of a held link rests at first, and shows no name and password as its site", async ({
  app,
  origin,
  otherOrigin,
}) => {
  const { host } = new URL(otherOrigin.origin);
  origin.page("/", `<a href="http://bank.example%2Flogin:word@${host}/First">Link</a>`);
  await app.goto(`${origin.origin}/`);
  const rests = await app.page.evaluateHandle(() => {
    const seen: boolean[] = [];
    const look = () => {
      const rows = document.querySelector<HTMLElement>("dialog[open] .menu-rows");
      if (rows !== null) seen.push(rows.inert);
    };
    new MutationObserver(look).observe(document.body, { subtree: true, childList: true, attributes: true });
    return seen;
  });
  await hold(app, app.frame().getByRole("link", { name: "Link" }));
  await expect(app.page.getByRole("dialog", { name: `${host}/First` })).toBeVisible();
  await expect.poll(() => rests.evaluate((seen) => [seen[0], seen.at(-1)])).toEqual([true, false]);
  await expect(app.page.getByRole("dialog")).not.toContainText("bank.example");
});

test.describe("a long press", () => {
  let scriptComes = () => {};
  // The script that tells of files comes when the first file is there.
  test.beforeEach(async ({ context }) => {
    const isTold = new Promise<void>((resolve) => {
      scriptComes = resolve;
    });
    await context.route(/\/downloads-sheet-/, async (route) => {
      await isTold;
      await route.continue();
    });
  });

  test("saves a link's target and a picture, as their sites send them", async ({ app, origin, otherOrigin }) => {
    const picture = encodePng({ width: 24, height: 24, palette: [0xc81e1e], pixels: new Uint8Array(24 * 24) });
    servePages(otherOrigin);
    otherOrigin.route("/red", ({ request, reply }) => {
      const { "sec-fetch-dest": asked, "sec-fetch-site": from } = request.headers;
      const isOfPage = asked === "image" && from !== "none";
      reply(isOfPage ? 200 : 403, { "content-type": "image/png", "cache-control": "no-store" }, picture);
    });
    origin.page("/links", `<a href="${otherOrigin.origin}/First">Other</a><p><img src="${otherOrigin.origin}/red">`);
    await app.goto(`${origin.origin}/links`);
    const bar = app.page.getByRole("navigation", { name: "Browser" });
    const held = async (thing: Locator, row: string) => {
      await hold(app, thing);
      await app.page.getByRole("dialog").getByRole("button", { name: row }).click();
    };
    const saved = async (name: string) => {
      await expect(bar.getByText(`${name}\u2069 is downloaded`)).toBeVisible();
      const file = app.page.waitForEvent("download");
      await bar.getByRole("button", { name: "Save to phone" }).click();
      expect((await file).suggestedFilename()).toBe(name);
      return readFile(await (await file).path());
    };
    await held(app.frame().getByRole("img"), "Save picture");
    await expect.poll(() => app.page.evaluate(statesOfFiles)).toEqual(["done"]);
    scriptComes();
    expect(await saved("red.png")).toEqual(Buffer.from(picture));
    await held(app.frame().getByRole("link"), "Save link");
    expect(String(await saved("First.html"))).toContain('<script>document.title = "First"</script>');
    await expect(app.address).toHaveValue(`${origin.origin}/links`);
  });
});

/** In the app: of all files in its list. */
async function statesOfFiles(): Promise<string[]> {
  const name = "ropeway-downloads";
  const isThere = (await indexedDB.databases()).some((each) => each.name === name);
  if (!isThere) return [];
  return new Promise((resolve, reject) => {
    const opened = indexedDB.open(name);
    opened.onerror = () => reject(opened.error);
    opened.onsuccess = () => {
      const records = opened.result.transaction("records").objectStore("records").getAll();
      records.onsuccess = () => {
        opened.result.close();
        resolve(records.result.map(({ state }) => state.kind));
      };
    };
  });
}

test("a page behind goes on, opens nothing, and leads the page in front nowhere", async ({
  app,
  origin,
  otherOrigin,
}) => {
  servePages(otherOrigin);
  origin.page(
    "/busy",
    `<p id="count">0</p><p id="seen"></p><iframe src="${otherOrigin.origin}/part"></iframe><button>Begin</button><script>
      document.onvisibilitychange = () => {
        document.querySelector("#seen").textContent += document.visibilityState + document.hidden + " ";
      };
      let count = 0;
      document.querySelector("button").onclick = () => setInterval(() => {
        document.querySelector("p").textContent = ++count;
        history.pushState(count, "");
        fetch("/phase").then((answer) => answer.text()).then((phase) => {
          if (phase !== "behind") return;
          open("${otherOrigin.origin}/Second");
          const press = { key: "ArrowLeft", altKey: true };
          Reflect.get(window, "to" + "p").postMessage({ tag: "ropeway.1", type: "key", press }, "*");
          // Its tab has no such entries.
          history.go(1);
          history.go(-1000);
        });
        if (count % 5 === 0) location.hash = count;
      }, 100);
    </script>`,
  );
  otherOrigin.page(
    "/part",
    `<p id="part"></p><script>
      document.onvisibilitychange = () => { document.querySelector("#part").textContent += document.visibilityState; };
    </script>`,
  );
  let phase = "in front";
  origin.route("/phase", ({ reply }) =>
    reply(200, { "content-type": "text/plain", "cache-control": "no-store" }, phase),
  );
  await app.goto(`${origin.origin}/busy`);
  await app.frame().getByRole("button", { name: "Begin" }).click();
  await menu(app, "New tab");
  await app.goto(`${otherOrigin.origin}/First`);
  await app.goto(`${otherOrigin.origin}/Third`);
  await app.frame().getByLabel("Note").click();
  phase = "behind";
  const counts = app.page.frames().find((frame) => frame.url().includes("/busy"));
  const counted = async () => Number(await counts?.locator("#count").textContent());
  const before = await counted();
  const asked = () => origin.requestsTo("/phase").length;
  const first = asked();
  await expect.poll(asked).toBeGreaterThan(first + 10);
  expect(otherOrigin.requestsTo("/Second")).toEqual([]);
  await expect(app.address).toHaveValue(`${otherOrigin.origin}/Third`);
  await app.page.getByRole("button", { name: "Back", exact: true }).click();
  await expect(heading(app, "First")).toBeVisible();
  await expect(app.address).toHaveValue(`${otherOrigin.origin}/First`);
  expect(await counted()).toBeGreaterThan(before);
  phase = "in front";
  const last = asked();
  await expect.poll(asked).toBeGreaterThan(last + 2);
  await turnTo(app, "Test page");
  await expect(app.frame().locator("#seen")).toHaveText("hiddentrue visiblefalse ");
  await expect(app.frame().frameLocator("iframe").locator("#part")).toHaveText("hiddenvisible");
});

test("a page behind is heard on, though the phone has room for no other; that comes back without a link @long", async ({
  app,
  context,
  link,
  origin,
  otherOrigin,
}) => {
  const tells = (memory: number) => Object.defineProperty(Navigator.prototype, "deviceMemory", { value: memory });
  await context.addInitScript(tells, 2);
  await app.page.reload();
  await app.watchLoads();
  await app.storeReady();
  servePages(otherOrigin);
  otherOrigin.route("/First", ({ page }) => page(pageOf("First", "<h1>First</h1>"), { "cache-control": "max-age=0" }));
  origin.route("/tone.wav", ({ reply }) => reply(200, { "content-type": "audio/wav" }, recording(60)));
  origin.page(
    "/radio",
    `<p>0</p><button onclick="start()">Play</button><script>
      const radio = new Audio("/tone.wav");
      radio.ontimeupdate = () => { document.querySelector("p").textContent = radio.currentTime; };
      const start = () => radio.play();
    </script>`,
  );
  await app.goto(`${origin.origin}/radio`);
  await app.frame().getByRole("button", { name: "Play" }).click();
  await expect(app.frame().locator("p")).not.toHaveText("0");
  for (const name of ["First", "Second", "Third"]) {
    await menu(app, "New tab");
    await app.goto(`${otherOrigin.origin}/${name}`);
  }
  const radio = app.page.frames().find((frame) => frame.url().includes("/radio"));
  const time = async () => Number(await radio?.locator("p").textContent());
  const before = await time();
  await expect.poll(time).toBeGreaterThan(before + 1);
  const frames = () =>
    app.page.evaluate(() => document.querySelector(".frame-host")?.shadowRoot?.querySelectorAll("iframe").length);
  expect(await frames()).toBe(3);

  link.offline();
  await context.setOffline(true);
  await turnTo(app, "First");
  await expect(heading(app, "First")).toBeVisible();
  await expect(app.address).toHaveValue(`${otherOrigin.origin}/First`);
  expect(otherOrigin.requestsTo("/First")).toHaveLength(1);
});

test("a page behind does not hear what is typed in the page in front", async ({ app, origin, otherOrigin }) => {
  servePages(otherOrigin);
  origin.page(
    "/thief",
    `<p></p><input><script>
      onkeydown = ({ key }) => { document.querySelector("p").textContent += key };
      const realm = document.body.appendChild(document.createElement("iframe")).contentWindow;
      const take = () => realm.HTMLElement.prototype.focus.call(document.querySelector("input"));
    </script>`,
  );
  await app.goto(`${origin.origin}/thief`);
  await menu(app, "New tab");
  await app.goto(`${otherOrigin.origin}/First`);
  const note = app.frame().getByLabel("Note");
  const thief = app.page.frames().find((frame) => frame.url().includes("/thief"));
  await note.press("a");
  await thief?.evaluate(() => document.querySelector("input")?.focus());
  await app.page.keyboard.type("b");
  await expect(note).toHaveValue("ab");
  expect(await thief?.locator("p").textContent()).toBe("");

  // By ways that are not told before, it takes it once.
  await thief?.evaluate("take()");
  const frames = () =>
    app.page.evaluate(() => document.querySelector(".frame-host")?.shadowRoot?.querySelectorAll("iframe").length);
  await expect.poll(frames).toBe(1);
  await expect.poll(() => note.evaluate(() => document.hasFocus())).toBe(true);
  await note.press("End");
  await app.page.keyboard.type("c");
  await expect(note).toHaveValue("abc");
});

withOneHost(
  "without scripts, tabs have one frame in turns, each with its page, its history and its place",
  async ({ app, origin, otherOrigin }) => {
    for (const site of [origin, otherOrigin])
      for (const title of TITLES)
        site.page(
          `/${title}`,
          `<h1>${title}</h1><a href="${otherOrigin.origin}/Third">On</a><p style="height: 3000px">`,
        );
    await app.goto(`${origin.origin}/First`);
    await app.goto(`${origin.origin}/Second`);
    await app.frame().getByRole("link", { name: "On" }).dispatchEvent("contextmenu", { pointerType: "touch" });
    await app.page.getByRole("button", { name: "Open link in the background" }).click();
    await expect(app.page.getByRole("button", { name: "Tabs: 2" })).toBeVisible();
    await app.page.getByRole("button", { name: /^Tabs:/ }).click();
    await list(app)
      .getByRole("button", { name: new URL(otherOrigin.origin).host })
      .first()
      .click();
    await expect(heading(app, "Third")).toBeVisible();
    await expect(app.address).toHaveValue(`${otherOrigin.origin}/Third`);

    await app.page.getByRole("button", { name: /^Tabs:/ }).click();
    await list(app)
      .getByRole("button", { name: new URL(origin.origin).host })
      .first()
      .click();
    await expect(heading(app, "Second")).toBeVisible();
    await app.navigated(() => app.page.evaluate(() => history.back()));
    await expect(heading(app, "First")).toBeVisible();
    await expect(app.address).toHaveValue(`${origin.origin}/First`);
  },
);
