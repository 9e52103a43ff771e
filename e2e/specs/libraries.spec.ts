/** Widely used libraries that read where they are: the log and the document of a page of each, directly and in the app. */
import type { Frame, Page } from "@playwright/test";
import { expect, testInOneApp as test } from "../fixtures/browser.ts";
import { LIBRARY_PAGES } from "../fixtures/libraries/library-pages.ts";
import { startLibrarySites } from "../fixtures/libraries/library-sites.ts";

interface Outcome {
  readonly log: readonly string[];
  readonly document: string;
}

async function outcomeOf(frame: Page | Frame): Promise<Outcome> {
  // A rejection of the page's own script ends its log, too.
  await frame.waitForFunction("/^(?:done|rejected .*)$/.test(log.at(-1))");
  return { log: (await frame.evaluate("log")) as string[], document: (await frame.evaluate("shown()")) as string };
}

const OFTEN = ["jquery", "turbo", "backbone", "axios"];
const SELDOM = Object.keys(LIBRARY_PAGES).filter((name) => !OFTEN.includes(name));

for (const [names, tag] of [
  [OFTEN, []],
  [SELDOM, ["@long"]],
] as const)
  test(`pages of ${names.join(", ")} see and make the same as directly`, { tag: [...tag] }, async ({ app, direct }) => {
    const { site, origins } = await startLibrarySites();
    for (const name of names) {
      const url = `${site}/${name}?q=1`;
      await direct.page.goto(url);
      const wanted = await outcomeOf(direct.page);
      expect(wanted.log.at(-1), name).toBe("done");
      expect(wanted.log.length, name).toBeGreaterThan(3);
      await app.goto(url);
      const content = await app.content();
      expect(await outcomeOf(content), name).toEqual(wanted);
      const [slot = ""] = new URL(content.url()).hostname.split(".");
      const told = origins.flatMap(({ requests }) => requests.map((each) => JSON.stringify(each)));
      expect(told.filter((text) => text.includes(slot) || text.includes("ropeway"))).toEqual([]);
    }
    await Promise.all(origins.map((origin) => origin.close()));
  });
