import { createHash } from "node:crypto";
import { createReadStream, readFileSync } from "node:fs";
import { expect, test } from "../fixtures/browser.ts";
import { noiseHash } from "../fixtures/noise.ts";

const BIG = 200_000_000;
const GROWTH_LIMIT = 64 * 1024 * 1024;

async function fileHash(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const part of createReadStream(path)) hash.update(part as Buffer);
  return hash.digest("hex");
}

/** Resident memory of a process in bytes; 0 where the system does not tell. */
function residentBytes(pid: number): number {
  try {
    return Number(/^VmRSS:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}

test("a download of 200 MB arrives whole, in bounded memory at the edge and on the phone", async ({
  app,
  origin,
  edge,
  browser,
}) => {
  test.setTimeout(180_000);
  origin.page(
    "/",
    `<a href="/noise/${BIG}?name=big.bin">Big file</a><a href="/noise/1000000?name=small.bin">Small file</a>`,
  );
  await app.goto(`${origin.origin}/`);
  const get = async (name: string): Promise<string> => {
    const started = app.page.waitForEvent("download");
    await app.frame().getByRole("link", { name }).click();
    const download = await started;
    return download.path();
  };
  expect(await fileHash(await get("Small file"))).toBe(noiseHash(1_000_000));

  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send("SystemInfo.getProcessInfo");
  const renderers = processInfo.filter(({ type }) => type === "renderer").map(({ id }) => id);
  const phone = (): number => renderers.reduce((sum, pid) => sum + residentBytes(pid), 0);
  const before = { edge: residentBytes(edge.pid), phone: phone() };
  const peak = { ...before };
  const watch = setInterval(() => {
    peak.edge = Math.max(peak.edge, residentBytes(edge.pid));
    peak.phone = Math.max(peak.phone, phone());
  }, 50);
  const path = await get("Big file");
  clearInterval(watch);
  expect(await fileHash(path)).toBe(noiseHash(BIG));

  const growth = { edge: peak.edge - before.edge, phone: peak.phone - before.phone };
  for (const [side, bytes] of Object.entries(growth)) {
    test.info().annotations.push({ type: `memory growth, ${side}`, description: `${(bytes / 1e6).toFixed(1)} MB` });
  }
  expect(growth.edge).toBeLessThan(GROWTH_LIMIT);
  expect(growth.phone).toBeLessThan(GROWTH_LIMIT);
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
