import { PICTURE_BYTES, tilePicture } from "../demo/hundred-fifty.ts";
import { expect, testInOneApp as test } from "../fixtures/browser.ts";

test("a picture is shown as a document of its own", async ({ app, origin }) => {
  origin.route("/tile.png", ({ reply }) => reply(200, { "content-type": "image/png" }, tilePicture(1)));
  await app.goto(`${origin.origin}/tile.png`);
  const picture = app.frame().locator("img");
  await expect(picture).toBeVisible();
  expect(await picture.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(36);
  await expect(app.page.locator("html")).toHaveAttribute("data-page", "loaded");
  expect(origin.requestsTo("/tile.png")[0]?.sentBytes).toBe(PICTURE_BYTES);
});

test("a picture from where nothing may be loaded or run is shown", async ({ app, origin }) => {
  const policy = { "content-type": "image/png", "content-security-policy": "default-src 'none'; sandbox" };
  origin.route("/tile.png", ({ reply }) => reply(200, policy, tilePicture(1)));
  await app.goto(`${origin.origin}/tile.png`);
  const picture = app.frame().locator("img");
  await expect.poll(() => picture.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(36);
});

test("an SVG is shown", async ({ app, origin }) => {
  const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="90" height="60"><text y="20">Drawn</text></svg>';
  origin.route("/drawing.svg", ({ reply }) => reply(200, { "content-type": "image/svg+xml" }, svg));
  await app.goto(`${origin.origin}/drawing.svg`);
  await expect(app.page.locator("html")).toHaveAttribute("data-page", "loaded");
  await expect(app.frame().locator("svg, img")).toBeVisible();
});

for (const [type, text] of [
  ["text/plain; charset=utf-8", "Plain <b>text</b> with süß"],
  ["application/json", '{"plain":"<b>json</b>"}'],
  ["text/plain; charset=iso-8859-1", "caf\u00e9"],
] as const) {
  test(`${type} is shown as text`, async ({ app, origin }) => {
    const body = Buffer.from(text, type.includes("8859") ? "latin1" : "utf8");
    origin.route("/file", ({ reply }) => reply(200, { "content-type": type }, body));
    await app.goto(`${origin.origin}/file`);
    await expect(app.frame().getByText(text)).toBeVisible();
    await expect(app.page.locator("html")).toHaveAttribute("data-page", "loaded");
  });
}

test("what no page shows is handed over as a file", async ({ app, origin }) => {
  origin.page("/", '<p>Shelf</p><a href="/chart.zip">Chart</a>');
  origin.route("/chart.zip", ({ reply }) => reply(200, { "content-type": "application/zip" }, "PK"));
  await app.goto(`${origin.origin}/`);
  const started = app.page.waitForEvent("download");
  await app.frame().getByRole("link", { name: "Chart" }).click();
  const download = await started;
  expect(download.suggestedFilename()).toBe("chart.zip");
  await expect(app.page.locator("html")).toHaveAttribute("data-page", "loaded");
  await expect(app.address).toHaveValue(`${origin.origin}/`);
});

test("pages in an old encoding are read in it", async ({ app, origin }) => {
  const html = Buffer.from(
    '<!doctype html><meta charset="windows-1252"><title>Old</title><p>Gr\u00fc\u00dfe aus K\u00f6ln</p>',
    "latin1",
  );
  origin.route("/meta", ({ reply }) => reply(200, { "content-type": "text/html" }, html));
  origin.route("/header", ({ reply }) => reply(200, { "content-type": "text/html; charset=windows-1252" }, html));
  for (const path of ["/meta", "/header"]) {
    await app.goto(origin.origin + path);
    await expect(app.frame().getByText("Grüße aus Köln")).toBeVisible();
  }
});

for (const policy of ["default-src 'none'; style-src 'unsafe-inline'; sandbox", "sandbox allow-scripts"]) {
  test(`a document with "${policy}" counts as loaded`, async ({ app, origin, otherOrigin }) => {
    const headers = { "content-type": "text/plain; charset=utf-8", "content-security-policy": policy };
    origin.route("/raw/notes.txt", ({ reply }) => reply(200, headers, "Sandboxed notes"));
    otherOrigin.page("/", `<p>Shelf</p><a href="${origin.origin}/raw/notes.txt">Notes</a>`, "Shelf");
    const raw = `${origin.origin}/raw/notes.txt`;
    const html = app.page.locator("html");
    const back = app.page.getByRole("button", { name: "Back", exact: true });

    await app.goto(`${otherOrigin.origin}/`);
    await app.navigated(() => app.frame().getByRole("link").click());
    expect(await app.phase()).toBe("loaded");
    await expect(app.address).toHaveValue(raw);
    await expect(app.page).toHaveTitle(/notes\.txt/);
    await expect(app.frame().getByText("Sandboxed notes")).toBeVisible();

    await app.navigated(() => app.page.getByRole("button", { name: "Reload" }).click());
    await expect(app.address).toHaveValue(raw);
    expect(origin.requestsTo("/raw/notes.txt")).toHaveLength(2);

    await back.click();
    await expect(app.frame().getByText("Shelf")).toBeVisible();
    await expect(app.address).toHaveValue(`${otherOrigin.origin}/`);
    await expect(html).toHaveAttribute("data-page", "loaded");

    await app.page.getByRole("button", { name: "Forward", exact: true }).click();
    await expect(app.frame().getByText("Sandboxed notes")).toBeVisible();
    await expect(app.address).toHaveValue(raw);
    await expect(html).toHaveAttribute("data-page", "loaded");
  });
}

test("a sandboxed document in a frame is not taken for the page", async ({ app, origin }) => {
  const headers = { "content-type": "text/plain", "content-security-policy": "sandbox" };
  origin.route("/raw", ({ reply }) => reply(200, headers, "Sandboxed notes"));
  origin.page("/", '<p>Shelf</p><iframe src="/raw"></iframe>', "Shelf");
  await app.goto(`${origin.origin}/`);
  await expect(app.frame().frameLocator("iframe").getByText("Sandboxed notes")).toBeVisible();
  await expect(app.address).toHaveValue(`${origin.origin}/`);
  await expect(app.page).toHaveTitle(/Shelf/);
});
