import { photoGifOfSize } from "./pictures/gif.ts";
import { allFiles, type SiteDraft, type SiteFiles } from "./site-draft.ts";

/** Transparent GIF of one pixel, as visit counters send it. */
const COUNTER_PIXEL = Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64");

/**
 * Adds a host with a script that fills the page's `[data-ad]` places with banners, and a counting pixel. Banners
 * change at every version, the script does not: it reads the campaign from the place.
 *
 * @param banners sizes in bytes.
 * @returns what the page puts into `data-ad` of each place, and the address of the script.
 */
export async function addAdNetwork(
  site: SiteFiles,
  host: string,
  banners: readonly number[],
  version: number,
): Promise<{ readonly script: string; readonly places: readonly string[] }> {
  const places = await Promise.all(
    banners.map(async (bytes, index) => {
      const campaign = `c${1040 + version * banners.length + index}`;
      site.add(`${host}/banners/${campaign}.gif`, await photoGifOfSize(`${host}/${campaign}`, bytes, 3.6));
      return campaign;
    }),
  );
  site.add(`${host}/count.gif`, COUNTER_PIXEL);
  return { script: site.add(`${host}/serve.js`, adScript(host)), places };
}

export function adCacheControl(host: string): SiteDraft["cacheControl"] {
  return {
    [host]: [
      { path: "*.js", value: "max-age=3600" },
      { path: "/count.gif", value: "no-store" },
      ...allFiles("private, max-age=300"),
    ],
  };
}

function adScript(host: string): string {
  return `/* Banner delivery: one creative for each place that the page marks. */
(function () {
  var server = "https://${host}";
  var places = document.querySelectorAll("[data-ad]");
  function deliver(place) {
    var link = document.createElement("a");
    var banner = new Image();
    banner.alt = "Advertisement";
    banner.width = 234;
    banner.height = 65;
    banner.onerror = function () { place.style.display = "none"; };
    banner.src = server + "/banners/" + place.getAttribute("data-ad") + ".gif";
    link.href = server + "/click/" + place.getAttribute("data-ad");
    link.rel = "nofollow";
    link.appendChild(banner);
    place.appendChild(link);
  }
  for (var index = 0; index < places.length; index++) deliver(places[index]);
  var pixel = new Image(1, 1);
  pixel.alt = "";
  pixel.src = server + "/count.gif";
  document.body.appendChild(pixel);
})();
`;
}
