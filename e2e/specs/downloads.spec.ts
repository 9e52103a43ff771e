import { createHash } from "node:crypto";
import { createReadStream, readFileSync } from "node:fs";
import { test as alone, expect, testInOneApp as test } from "../fixtures/browser.ts";
import { noiseHash } from "../fixtures/test-origin/noise.ts";

const BIG = 200_000_000;
const EDGE_GROWTH_LIMIT = 64 * 1024 * 1024;
/** Of one of Chromium's renderers: V8 lets tens of megabytes of read chunks pile up before it collects them. */
const PHONE_GROWTH_LIMIT = 96 * 1024 * 1024;

async function fileHash(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const part of createReadStream(path)) hash.update(part as Buffer);
  return hash.digest("hex");
}

/**
 * Resident memory of a process in bytes, what it shares with others counted by halves, thirds and so on (PSS): the
 * browser's processes hand each other memory. 0 where the system does not tell.
 */
function residentBytes(pid: number): number {
  try {
    return Number(/^Pss:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}

test("a download of 200 MB arrives whole, in bounded memory at the edge and on the phone @long", async ({
  app,
  origin,
  edge,
  browser,
}) => {
  // A busy machine takes minutes for it.
  test.setTimeout(600_000);
  origin.page(
    "/",
    `<a href="/noise/${BIG}?name=big.bin">Big file</a><a href="/noise/1000000?name=small.bin">Small file</a>`,
  );
  await app.goto(`${origin.origin}/`);
  const get = async (name: string): Promise<string> => {
    const started = app.page.waitForEvent("download", { timeout: 600_000 });
    await app.frame().getByRole("link", { name }).click();
    // The app's list has it first.
    const save = app.page.getByRole("button", { name: "Save to phone" });
    if (name === "Big file") await save.click({ timeout: 600_000 });
    const download = await started;
    return download.path();
  };
  expect(await fileHash(await get("Small file"))).toBe(noiseHash(1_000_000));

  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send("SystemInfo.getProcessInfo");
  const renderers = processInfo.filter(({ type }) => type === "renderer").map(({ id }) => id);
  const watched = [edge.pid, ...renderers];
  const before = watched.map(residentBytes);
  const peak = [...before];
  const watch = setInterval(() => {
    for (const [index, pid] of watched.entries()) peak[index] = Math.max(peak[index] ?? 0, residentBytes(pid));
  }, 100);
  const path = await get("Big file");
  clearInterval(watch);
  expect(await fileHash(path)).toBe(noiseHash(BIG));

  // Of each process: the edge, and on the phone those of the shell with its tunnel and of the slot.
  for (const [index, bytes] of peak.entries()) {
    const growth = bytes - (before[index] ?? 0);
    const description = `${(growth / 1e6).toFixed(1)} MB`;
    test.info().annotations.push({ type: `memory growth, ${index === 0 ? "edge" : "phone"}`, description });
    expect(growth).toBeLessThan(index === 0 ? EDGE_GROWTH_LIMIT : PHONE_GROWTH_LIMIT);
  }
});

test("a download keeps its name and leaves the page where it is", async ({ app, origin }) => {
  origin.page("/", '<p>Shelf</p><a href="/noise/5000?name=tide-table.bin">Get it</a>');
  await app.goto(`${origin.origin}/`);
  const started = app.page.waitForEvent("download");
  await app.frame().getByRole("link", { name: "Get it" }).click();
  const download = await started;
  expect(download.suggestedFilename()).toBe("tide-table.bin");
  expect(await fileHash(await download.path())).toBe(noiseHash(5000));
  await expect(app.frame().getByText("Shelf")).toBeVisible();
});

test.describe("what yields no document", () => {
  const FILE = "/noise/5000?name=file.bin";

  for (const [what, path] of [
    ["a file", FILE],
    ["a redirect to a file", `/redirect/302?to=${encodeURIComponent(FILE)}`],
    ["a redirect to another site's file", "/elsewhere"],
  ] as const) {
    for (const way of ["by a link", "typed", "in a tab", "in a window"] as const) {
      test(`${what}, ${way}, leaves the page before as it was`, async ({ app, origin, otherOrigin }) => {
        const target = { "in a tab": "target=_blank", "in a window": "target=_blank rel=opener" }[String(way)] ?? "";
        origin.page("/", `<p>Shelf</p><a ${target} href="${path}">Get it</a>`, "Shelf");
        origin.route("/elsewhere", ({ reply }) => reply(302, { location: otherOrigin.origin + FILE }));
        await app.goto(`${origin.origin}/`);
        const started = app.page.waitForEvent("download");
        await app.navigated(async () => {
          if (way === "typed") await app.ask(origin.origin + path);
          else await app.frame().getByRole("link").click();
          expect(await fileHash(await (await started).path())).toBe(noiseHash(5000));
        });
        await expect(app.address).toHaveValue(`${origin.origin}/`);
        await expect(app.page.locator("html")).toHaveAttribute("data-page", "loaded");
        await expect(app.frame().getByText("Shelf")).toBeVisible();
        await expect(app.page.getByRole("button", { name: /^Tabs:/ })).toHaveCount(0);
      });
    }
  }

  alone("a file that is asked for from the start page leads back to that", async ({ app, origin }) => {
    const started = app.page.waitForEvent("download");
    await app.ask(`${origin.origin}/redirect/302?to=${encodeURIComponent(FILE)}`);
    await started;
    await expect(app.page.locator("html")).toHaveAttribute("data-page", "idle");
    await expect(app.address).toHaveValue("");
  });

  test("an answer without content ends the loading", async ({ app, origin }) => {
    origin.page("/", '<p>Shelf</p><a href="/nothing">Count me</a>');
    origin.route("/nothing", ({ reply }) => reply(204, {}));
    await app.goto(`${origin.origin}/`);
    await app.navigated(() => app.frame().getByRole("link").click());
    expect(await app.phase()).toBe("loaded");
    await expect(app.frame().getByText("Shelf")).toBeVisible();
  });
});
