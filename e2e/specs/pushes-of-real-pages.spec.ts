import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { makeSite, REAL_SITES } from "../bench/sites/make-sites.ts";
import { expect, SLOW_LINK, test } from "../fixtures/browser.ts";
import { sendAsset, typeOf } from "../fixtures/real-sites/package-files.ts";
import { startTestOrigin, type TestOrigin } from "../fixtures/test-origin/test-origin.ts";

const SITES = fileURLToPath(new URL("../../dist/bench/sites", import.meta.url));
/** Share of what the edge asks for that a browser asks for, too. */
const OF_USE = 0.9;

test.use({ linkSpeed: SLOW_LINK, viewport: { width: 412, height: 915 } });

for (const [number, name] of REAL_SITES.entries()) {
  test(`what is pushed of ${name} on a first visit is what a browser asks for`, { tag: "@long" }, async ({
    app,
    direct,
  }) => {
    const site = await makeSite(SITES, name);
    const hosts = new Map<string, TestOrigin>();
    const moved = (text: string): string =>
      [...hosts].reduce((rest, [host, { origin }]) => rest.replaceAll(`https://${host}`, origin), text);
    for (const [index, { name: host, root }] of site.hosts.entries()) {
      const fallback: Parameters<TestOrigin["route"]>[1] = async (exchange) => {
        const path = exchange.request.url.replace(/\/$/, "/index.html");
        const content = await readFile(join(root, path)).catch(() => null);
        if (content === null) return exchange.reply(404, {}, "");
        const type = typeOf(path);
        sendAsset(exchange, type, /^text/.test(type) ? moved(content.toString("utf8")) : content);
      };
      hosts.set(host, await startTestOrigin({ ip: `127.0.0.${100 + 10 * number + index}`, fallback }));
    }
    const asked = async (): Promise<Map<string, number>> => {
      let before = -1;
      const count = (): number => [...hosts.values()].reduce((sum, { requests }) => sum + requests.length, 0);
      await expect
        .poll(
          () => {
            const isStill = count() === before;
            before = count();
            return isStill;
          },
          { intervals: [2_000] },
        )
        .toBe(true);
      const seen = [...hosts.values()].flatMap(({ origin, requests }) =>
        requests.map(({ url, sentBytes }) => [origin + url, sentBytes] as const),
      );
      for (const origin of hosts.values()) origin.forget();
      const urls = seen.map(([url]) => url);
      expect(urls.filter((url, at) => urls.indexOf(url) !== at)).toEqual([]);
      return new Map(seen);
    };

    await direct.page.setViewportSize({ width: 412, height: 800 });
    await direct.page.goto(moved(site.url));
    const wanted = await asked();
    await direct.page.context().close();
    const before = await app.stats();
    await app.goto(moved(site.url));
    const got = await asked();
    // Where the page was first, its request has taken the edge's response: that is no claim, and nothing came twice.
    const { pushes, pushesClaimed } = await app.stats();
    const inVain = [...got].filter(([url]) => !wanted.has(url));
    const bytes = (of: Iterable<readonly [string, number]>): number => [...of].reduce((sum, [, each]) => sum + each, 0);
    const share = 1 - bytes(inVain) / bytes(got);
    console.log(
      `${name}: pushed ${pushes - before.pushes}, claimed ${pushesClaimed - before.pushesClaimed}; ` +
        `${(100 * share).toFixed(1)} % of ${bytes(got)} bytes of use`,
      inVain.map(([url]) => url),
    );
    expect(share).toBeGreaterThanOrEqual(OF_USE);
    for (const origin of hosts.values()) await origin.close();
  });
}
