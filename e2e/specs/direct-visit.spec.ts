import { expect, test } from "../fixtures/browser.ts";
import { readContent, settledContent } from "../fixtures/compare.ts";
import { REAL_SITES } from "../fixtures/real-sites/origins.ts";

// The sites have to work, and to look the same each time, before a visit through the app can be compared with them.
for (const [name, start] of Object.entries(REAL_SITES)) {
  test(`a direct visit to the ${name} works and stays on this machine`, async ({ direct }) => {
    const site = await start();
    const { page, network } = direct;
    await page.goto(site.entry);
    await expect.poll(async () => (await readContent(page)).text).toContain(site.expectText);
    const first = await settledContent(page);
    expect(first.text).toContain(site.expectText);
    expect(first.images.filter(({ width }) => width > 0).length).toBeGreaterThanOrEqual(site.expectImages);
    const texts = new Set([first.text]);
    let last = first;
    for (const step of site.steps) {
      const loaded = step.navigates ? page.waitForEvent("load") : undefined;
      await step.act(page);
      await loaded;
      last = await settledContent(page, last);
      texts.add(last.text);
    }
    expect(texts.size).toBe(site.steps.length + 1);
    const hosts = network.requests.filter(({ url }) => url.startsWith("http")).map(({ url }) => new URL(url).origin);
    const known = site.origins.map(({ origin }) => origin);
    expect(hosts.filter((host) => !known.includes(host))).toEqual([]);
    for (const origin of site.origins) expect(origin.requests.length, origin.origin).toBeGreaterThan(0);
    await site.close();
  });
}
