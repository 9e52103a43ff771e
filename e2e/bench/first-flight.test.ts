/** Which road the first frames of an app that was closed take, by what its edge's host speaks. */
import { join } from "node:path";
import { expect, it } from "vitest";
import { dist } from "../../scripts/build/paths.ts";
import { missingForLab } from "../lab/lab.ts";
import { delayOnly } from "../lab/profiles.ts";
import { Laboratory } from "./laboratory.ts";
import type { Front } from "./servers/front.ts";
import { makeSite } from "./sites/make-sites.ts";

/** Milliseconds. */
const TIMEOUT = 120_000;

it.runIf(missingForLab().length === 0).each<[Front, string]>([
  // A round trip takes 600 ms. Whatever opens first carries the link: so no WebSocket was open when the edge answered.
  ["http/3", "fetch"],
  ["none", "websocket"],
])(
  "with %s before the edge, an app that was closed is answered by %s",
  { timeout: 2 * TIMEOUT },
  async (front, road) => {
    const directory = join(dist, "bench", "sites");
    const sites = [await makeSite(directory, "static-i"), await makeSite(directory, "static-ii")];
    const options = { sites, edited: [], warmUpSites: sites, replayClasses: [], seed: 1, front };
    const laboratory = await Laboratory.open(options);
    try {
      await laboratory.configure(delayOnly(300), "bbr");
      const roads: (string | null)[] = [];
      const [site] = sites;
      if (site === undefined) throw new Error("Cannot visit a site: there is none");
      await laboratory.observe("ropeway cold", site, TIMEOUT, async (page) => {
        roads.push(await page.page().evaluate(async () => (await window.ropeway.stats()).road));
      });
      expect(roads).toEqual([road]);
    } finally {
      await laboratory.close();
    }
  },
);
