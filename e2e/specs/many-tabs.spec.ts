/** Twenty tabs: memory, the time to switch, and that all are there again. The figures are printed, not judged. */
import { readdirSync, readFileSync } from "node:fs";
import { type AppPage, expect, test } from "../fixtures/browser.ts";
import { REAL_SITES } from "../fixtures/real-sites/origins.ts";

const TABS = 20;

/** Megabytes (PSS) of the browser that this process has started, with all of its processes. */
function memory(): number {
  const parents = new Map<number, number>();
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
      parents.set(Number(pid), Number(stat.slice(stat.lastIndexOf(")") + 4).split(" ")[0]));
    } catch {
      // It has ended.
    }
  }
  const isOurs = (pid: number): boolean => pid === process.pid || (pid > 1 && isOurs(parents.get(pid) ?? 0));
  let kilobytes = 0;
  for (const pid of parents.keys()) {
    if (pid === process.pid || !isOurs(pid)) continue;
    try {
      if (!readFileSync(`/proc/${pid}/cmdline`, "latin1").includes("chrom")) continue;
      kilobytes += Number(/^Pss: +(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "latin1"))?.[1] ?? 0);
    } catch {
      // Likewise.
    }
  }
  return Math.round(kilobytes / 1000);
}

async function turnTo(app: AppPage, at: number): Promise<number> {
  await app.page.getByRole("button", { name: /^Tabs:/ }).click();
  const rows = app.page.getByRole("dialog", { name: /tabs$/ }).locator(".tab-main");
  const address = (await rows.nth(at).locator(".row-hint").textContent()) ?? "";
  const begun = Date.now();
  await rows.nth(at).click();
  await expect(app.address).toHaveValue(new RegExp(address));
  await expect(app.page.locator("html")).toHaveAttribute("data-page", "loaded");
  await expect
    .poll(async () => (await app.content()).evaluate(() => document.body.textContent.length))
    .toBeGreaterThan(20);
  return Date.now() - begun;
}

for (const gigabytes of [2, 4, 8])
  test(`twenty tabs of ten sites on a phone that tells of ${gigabytes} GB @long`, async ({ app, context, edge }) => {
    test.setTimeout(600_000);
    const tells = (memory: number) => Object.defineProperty(Navigator.prototype, "deviceMemory", { value: memory });
    await context.addInitScript(tells, gigabytes);
    await app.page.reload();
    await app.watchLoads();
    const sites = [];
    for (const start of [...Object.values(REAL_SITES), ...Object.values(REAL_SITES)].slice(0, 10))
      sites.push(await start());
    const figures: string[] = [`nothing open ${memory()} MB`];
    for (let count = 1; count <= TABS; count++) {
      if (count > 1) {
        await app.page.getByRole("button", { name: "Menu" }).click();
        await app.page.getByRole("button", { name: "New tab" }).click();
      }
      await app.goto(sites[(count - 1) % sites.length]?.entry ?? "");
      await app.page.waitForTimeout(1_000);
      if ([1, 5, TABS].includes(count)) figures.push(`${count} tabs ${memory()} MB`);
    }
    const frames = await app.page.evaluate(
      () => document.querySelector(".frame-host")?.shadowRoot?.querySelectorAll("iframe").length,
    );
    figures.push(`${frames} frames`);
    const kept = [await turnTo(app, TABS - 2), await turnTo(app, TABS - 1), await turnTo(app, TABS - 2)];
    const back = [await turnTo(app, 0), await turnTo(app, 1), await turnTo(app, 2)];
    figures.push(`to a tab that was kept ${kept} ms, to one that comes back ${back} ms`);
    const address = await app.address.inputValue();

    const crashing = await context.newCDPSession(app.page);
    void crashing.send("Page.crash").catch(() => {});
    await app.page.waitForEvent("crash");
    await app.page.close();
    const again = await app.openAnother();
    await expect(again.page.getByRole("button", { name: `Tabs: ${TABS}` })).toBeVisible();
    await expect(again.address).toHaveValue(address);
    await expect(again.page.locator("html")).toHaveAttribute("data-page", "loaded");
    console.log(figures.join("; "), edge.url.slice(0, 4));
  });
