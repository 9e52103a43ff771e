import { expect, SLOW_LINK, test } from "../fixtures/browser.ts";
import { expectSameContent, type PageContent, settledContent } from "../fixtures/compare.ts";
import { REAL_SITES } from "../fixtures/real-sites/origins.ts";
import { madeByOthers } from "../fixtures/test-origin/connection-owner.ts";

/** The most that a session may have. */
const CHANNELS = 6;

/** On Deno, too, the kind that asks most of an edge. */
const TAGS: ReadonlyMap<string, string[]> = new Map([
  ["single-page app that fetches (Swagger UI)", ["@deno", "@long"]],
  ["slide deck with web fonts (impress.js)", ["@long"]],
  ["slide deck (reveal.js)", ["@long"]],
  ["documentation set (Spectre.css)", ["@long"]],
]);

test.use({ linkSpeed: SLOW_LINK });

for (const [name, start] of Object.entries(REAL_SITES)) {
  test(`the ${name} is the same in the app as directly`, { tag: TAGS.get(name) ?? [] }, async ({
    app,
    direct,
    network,
    link,
    edge,
  }) => {
    const site = await start();
    const wanted: PageContent[] = [];
    await direct.page.goto(site.entry);
    wanted.push(await settledContent(direct.page));
    for (const step of site.steps) {
      const loaded = step.navigates ? direct.page.waitForEvent("load") : undefined;
      await step.act(direct.page);
      await loaded;
      wanted.push(await settledContent(direct.page, wanted.at(-1)));
    }
    await direct.page.close();
    await direct.page.context().close();
    for (const origin of site.origins) {
      await expect.poll(() => origin.connections.every(({ closed }) => closed)).toBe(true);
      origin.forget();
    }

    await app.goto(site.entry);
    await expectSameContent(app, wanted[0]);
    for (const [index, step] of site.steps.entries()) {
      const act = (): Promise<void> => step.act(app.frame());
      await (step.navigates ? app.navigated(act) : act());
      await expectSameContent(app, wanted[index + 1]);
    }

    expect(network.consoleErrors.length, network.consoleErrors.join("\n")).toBeLessThanOrEqual(
      direct.network.consoleErrors.length,
    );
    // As many channels as pay on such a link, all of one session, and no socket of a page's own.
    const { sockets, sessions } = await app.stats();
    expect(sessions).toBe(1);
    expect(sockets).toBeLessThanOrEqual(CHANNELS);
    // The browser knows of one before the link has its request.
    await expect.poll(() => link.webSockets - network.webSockets.length).toBe(0);
    expect(network.webSockets.filter((url) => !url.endsWith("/.ropeway/tunnel"))).toEqual([]);
    expect(network.leaks("localhost")).toEqual([]);
    const onLink = new Set(link.requests.map(({ path }) => path));
    for (const origin of site.origins) {
      expect(origin.connections.length).toBeGreaterThan(0);
      expect(madeByOthers(edge.pid, origin.connections)).toEqual([]);
      expect(origin.requests.filter(({ url }) => onLink.has(url))).toEqual([]);
    }
    await site.close();
  });
}
