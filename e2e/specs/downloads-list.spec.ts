/** The app's own list of downloads: files that sites send, from the first byte to the browser's own folder. */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import type { Locator, Page } from "@playwright/test";
import { encodePng } from "../demo/png.ts";
import { test as alone, expect, testInOneApp as test } from "../fixtures/browser.ts";
import { noise, noiseHash } from "../fixtures/test-origin/noise.ts";
import type { TestOrigin } from "../fixtures/test-origin/test-origin.ts";

async function fileHash(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const part of createReadStream(path)) hash.update(part as Buffer);
  return hash.digest("hex");
}

async function openList(page: Page): Promise<Locator> {
  await page.getByRole("button", { name: "Menu" }).click();
  await page.getByRole("button", { name: "Downloads" }).click();
  return page.getByRole("dialog", { name: "Downloads" });
}

/** Has the browser save a file of the list. @returns its name and hash. */
async function save(page: Page, name: string): Promise<[name: string, hash: string]> {
  const started = page.waitForEvent("download");
  await page
    .getByRole("dialog")
    .getByRole("button", { name: `Save ${name}` })
    .click();
  const download = await started;
  return [download.suggestedFilename(), await fileHash(await download.path())];
}

/** Has the app share into a list of names, types and hashes: browsers without a screen share nothing. */
async function watchShares(page: Page): Promise<() => Promise<unknown>> {
  await page.evaluate(() => {
    const shared: unknown[] = [];
    const hash = async (file: File) => {
      const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", await file.arrayBuffer()));
      return [...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("");
    };
    Object.assign(navigator, {
      canShare: ({ files = [] }: ShareData) => files.length === 1,
      share: async ({ files = [] }: ShareData) => {
        for (const file of files) shared.push([file.name, file.type, await hash(file)]);
      },
    });
    Object.assign(window, { shared });
  });
  return () => page.evaluate(() => Reflect.get(window, "shared"));
}

/** A file `/tide.bin` of so many bytes, in ranges too, that comes no further than the test lets it. */
function serveFile(origin: TestOrigin, size: number) {
  const file = { size, etag: '"v1"', most: size, goOn: () => {} };
  origin.page("/", '<p>Shelf</p><a href="/tide.bin">Tide</a>', "Shelf");
  origin.route("/tide.bin", async ({ request, response, write }) => {
    const { size, etag } = file;
    const [, from] = /^bytes=(\d+)-/.exec(request.headers.range ?? "") ?? [];
    const start = from !== undefined && request.headers["if-range"] === etag ? Number(from) : 0;
    const fields = { "content-type": "application/zip", "content-disposition": "attachment", etag };
    if (start === 0) response.writeHead(200, { ...fields, "content-length": size });
    else
      response.writeHead(206, {
        ...fields,
        "content-length": size - start,
        "content-range": `bytes ${start}-${size - 1}/${size}`,
      });
    let at = start;
    for (const chunk of noise(start, size)) {
      while (at >= file.most) {
        await new Promise<void>((resolve) => {
          file.goOn = resolve;
        });
      }
      at += chunk.length;
      if (!(await write(chunk))) return;
    }
    response.end();
  });
  return file;
}

/** Forgets the site of the page shown, and sees that the list is empty. */
async function forgetWithFiles(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Menu" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Site information" }).click();
  await page.getByRole("button", { name: "Forget this site" }).click();
  await page.getByRole("button", { name: "Forget", exact: true }).click();
  await page.keyboard.press("Escape");
  await expect((await openList(page)).getByText("Files of more than 1 MB")).toBeVisible();
  await page.keyboard.press("Escape");
}

test("a large file comes into the list, from there to the phone, and goes with its site @long", async ({
  app,
  origin,
}) => {
  serveFile(origin, 3_000_000);
  await app.goto(`${origin.origin}/`);
  await app.frame().getByRole("link").click();
  const bar = app.page.getByRole("navigation", { name: "Browser" });
  await expect(bar.getByText("tide.bin\u2069 is downloaded")).toBeVisible();
  await expect(app.frame().getByText("Shelf")).toBeVisible();
  await bar.getByRole("button", { name: "Show" }).click();
  const list = app.page.getByRole("dialog", { name: "Downloads" });
  await expect(list.getByText("3.0 MB, application/zip")).toBeVisible();
  expect(await save(app.page, "tide.bin")).toEqual(["tide.bin", noiseHash(3_000_000)]);
  await app.page.keyboard.press("Escape");
  await forgetWithFiles(app.page);
});

test("what the list alone has of a file goes with its site, too", async ({ app, origin }) => {
  serveFile(origin, 3_000_000);
  await app.goto(`${origin.origin}/`);
  await app.frame().getByRole("link").click();
  const bar = app.page.getByRole("navigation", { name: "Browser" });
  await expect(bar.getByText("tide.bin\u2069 is downloaded")).toBeVisible();
  await bar.getByRole("button", { name: "Dismiss" }).click();
  // So it is where a file was only asked about, or did not fit.
  await app.page.evaluate(async () => {
    const root = await navigator.storage.getDirectory();
    await root.removeEntry("downloads", { recursive: true });
  });
  await forgetWithFiles(app.page);
});

test("a file that is paused goes on by a range, or begins anew where it has changed @long", async ({ app, origin }) => {
  const file = serveFile(origin, 3_000_000);
  file.most = 1_500_000;
  await app.goto(`${origin.origin}/`);
  await app.frame().getByRole("link").click();
  const list = await openList(app.page);
  await expect(list.getByText(/^1\.[56] MB of 3\.0 MB/)).toBeVisible();
  await list.getByRole("button", { name: "Pause tide.bin" }).click();
  await expect(list.getByText(/^1\.[56] MB of 3\.0 MB, paused$/)).toBeVisible();
  file.most = 2_000_000;
  await list.getByRole("button", { name: "Resume tide.bin" }).click();
  await expect(list.getByText(/^2\.[01] MB of 3\.0 MB/)).toBeVisible();
  await list.getByRole("button", { name: "Pause tide.bin" }).click();
  const [first, second] = origin.requestsTo("/tide.bin");
  expect([first?.headers.range, second?.headers["if-range"]]).toEqual([undefined, '"v1"']);
  expect(second?.headers.range).toMatch(/^bytes=1[56]\d{5}-2999999$/);

  Object.assign(file, { size: 2_500_000, etag: '"v2"', most: 2_500_000 });
  await list.getByRole("button", { name: "Resume tide.bin" }).click();
  await expect(list.getByText(/^2\.5 MB, application\/zip\. Begun anew/)).toBeVisible();
  expect(await save(app.page, "tide.bin")).toEqual(["tide.bin", noiseHash(2_500_000)]);
  await list.getByRole("button", { name: "Delete tide.bin" }).click();
  await app.page.keyboard.press("Escape");
});

test("a downloaded picture and a text open in tabs; what could run scripts does not", async ({ app, origin }) => {
  const picture = encodePng({ width: 24, height: 24, palette: [0xc81e1e], pixels: new Uint8Array(24 * 24) });
  const files: Readonly<Record<string, readonly [type: string, content: string | Buffer]>> = {
    "red.png": ["application/octet-stream", picture],
    "notes.txt": ["text/plain; charset=iso-8859-1", Buffer.from("Gr\u00fc\u00dfe <b>", "latin1")],
    "trap.html": ["text/html", "<script>document.title = 'ran'</script>"],
  };
  const links = Object.keys(files).map((name) => `<a href="/${name}">${name}</a> `);
  origin.page("/", `<p>Shelf</p>${links.join("")}`, "Shelf");
  for (const [name, [type, content]] of Object.entries(files))
    origin.route(`/${name}`, ({ response }) => {
      // Of no length that anybody knows.
      response.writeHead(200, {
        "content-type": type,
        "content-disposition": "attachment",
        "cache-control": "no-store",
      });
      response.write(content);
      response.end();
    });
  await app.goto(`${origin.origin}/`);
  const bar = app.page.getByRole("navigation", { name: "Browser" });
  for (const name of Object.keys(files)) {
    await app.frame().getByRole("link", { name }).click();
    await expect(bar.getByText(`${name}\u2069 is downloaded`)).toBeVisible();
  }
  const open = async (name: string) =>
    (await openList(app.page)).getByRole("button", { name: `Open ${name}`, exact: true }).click();
  const back = async () => {
    await app.page.evaluate(() => history.back());
    await expect(app.frame().getByText("Shelf")).toBeVisible();
  };
  await open("red.png");
  // The list has told what the news did.
  await expect(bar.getByText("is downloaded")).toHaveCount(0);
  await expect(app.frame().getByRole("img")).toHaveJSProperty("naturalWidth", 24);
  await expect(app.address).toHaveValue(`${origin.origin}/red.png`);
  await back();
  await open("notes.txt");
  await expect(app.frame().getByText("Gr\u00fc\u00dfe <b>")).toBeVisible();
  await back();
  const list = await openList(app.page);
  await expect(list.getByRole("button", { name: "Save trap.html" })).toBeVisible();
  await expect(list.getByRole("button", { name: "Open trap.html" })).toHaveCount(0);
  for (const name of Object.keys(files)) {
    await list.getByRole("button", { name: `Delete ${name}` }).click();
    expect(origin.requestsTo(`/${name}`)).toHaveLength(1);
  }
  await app.page.keyboard.press("Escape");
});

alone(
  "a file comes whole through cuts of the link, and an end of the app in its middle",
  async ({ app, origin, link }) => {
    const SIZE = 9_000_000;
    const file = serveFile(origin, SIZE);
    file.most = 2_000_000;
    await app.goto(`${origin.origin}/`);
    await app.frame().getByRole("link").click();
    const list = await openList(app.page);
    for (const most of [3_100_000, 4_700_000, 6_300_000]) {
      await expect(list.getByRole("progressbar")).toHaveJSProperty("value", Math.ceil(file.most / 65_536) * 65_536);
      file.most = most;
      file.goOn();
      link.cut();
    }
    await expect(list.getByText(/^6\.[34] MB of 9\.0 MB/)).toBeVisible();
    await app.page.close();
    file.most = SIZE;
    const again = await app.openAnother();
    const shared = await watchShares(again.page);
    const rest = await openList(again.page);
    await expect(rest.getByText("9.0 MB, application/zip")).toBeVisible();
    await rest.getByRole("button", { name: "Share tide.bin" }).click();
    await expect.poll(shared).toEqual([["tide.bin", "application/zip", noiseHash(SIZE)]]);
    expect(await save(again.page, "tide.bin")).toEqual(["tide.bin", noiseHash(SIZE)]);
    const [first, second, ...others] = origin.requestsTo("/tide.bin");
    expect([first?.headers.range, second?.headers["if-range"], others]).toEqual([undefined, '"v1"', []]);
    expect(second?.headers.range).toMatch(/^bytes=[2-6]\d{6}-8999999$/);
  },
);
