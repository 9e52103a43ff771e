import { adCacheControl, addAdNetwork } from "./ad-network.ts";
import { packageText } from "./package-content.ts";
import { ornamentOfSize, photoGifOfSize } from "./pictures/gif.ts";
import { photoOfSize } from "./pictures/photos.ts";
import { allFiles, type SiteDraft, SiteFiles } from "./site-draft.ts";
import { escapeText, type Product, placesAt, product } from "./text/news-text.ts";

const HOST = "www.meller-and-daughters.test";
const IMAGE_HOST = "img.meller-and-daughters.test";
const AD_HOST = "track.offerlane.test";

const DEPARTMENTS = ["Kitchen", "Workshop", "Garden", "Travel", "Writing", "Children", "Boats", "Last pieces"];
const PRODUCTS = 38;

/** Products of the day: larger pictures than the rest. */
const FEATURED = 4;

/**
 * A shop's page of the early 2000s: a picture, price and form for each product. Each edit changes a third of the
 * products, the banner and the script, which comes under a new name.
 */
export async function shop(version: number): Promise<SiteDraft> {
  const site = new SiteFiles();
  const names = placesAt(HOST, PRODUCTS, version);
  const products = names.map(product);
  const pictures = await Promise.all(
    products.map(async ({ id }, index) =>
      site.add(
        `${IMAGE_HOST}/goods/${id}.jpg`,
        await photoOfSize(`goods ${names[index]}`, index < FEATURED ? 5200 : 1700 + ((index * 397) % 1900), {
          aspect: 1,
          quality: 60,
        }),
      ),
    ),
  );
  const buttons = await Promise.all(
    DEPARTMENTS.map(async (department, index) => {
      const place = `${IMAGE_HOST}/tabs/${index + 1}.gif`;
      return site.add(place, await ornamentOfSize(place, 480 + department.length * 40));
    }),
  );
  const logo = site.add(`${IMAGE_HOST}/logo.gif`, await photoGifOfSize("shop logo", 3600, 3.2));
  const basket = site.add(`${IMAGE_HOST}/basket.gif`, await ornamentOfSize("shop basket", 380, 1));
  const shelf = site.add(`${IMAGE_HOST}/shelf.gif`, await ornamentOfSize("shop shelf", 260, 6));
  const styles = [
    site.add(`${HOST}/css/reset.css`, await packageText("bootstrap/dist/css/bootstrap-reboot.min.css")),
    site.add(`${HOST}/css/shop.css`, shopStyle(shelf)),
  ];
  const scripts = [
    site.add(`${HOST}/js/store.js`, await packageText("idb/build/umd.js")),
    site.add(`${HOST}/js/basket-${7 + version}.js`, shopScript(7 + version)),
  ];
  const ads = await addAdNetwork(site, AD_HOST, [6800], version);
  site.add(
    `${HOST}/index.html`,
    `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="keywords" content="${[...new Set(products.map(({ name }) => name.toLowerCase()))].map(escapeText).join(", ")}">
<title>Meller &amp; Daughters, dealers in useful things</title>
<link rel="icon" href="data:,">
${styles.map((style) => `<link rel="stylesheet" type="text/css" href="${style}">`).join("\n")}
</head>
<body>
<div class="head"><a href="/"><img src="${logo}" width="192" height="60" border="0" alt="Meller &amp; Daughters"></a>
<a class="basket" href="/basket"><img src="${basket}" width="20" height="20" border="0" alt="Basket"> <span id="count">0</span></a></div>
<ul class="tabs">
${DEPARTMENTS.map((name, index) => `<li><a href="/departments/${index + 1}"><img src="${buttons[index]}" width="60" height="20" border="0" alt="">${name}</a></li>`).join("\n")}
</ul>
<div class="ad" data-ad="${ads.places[0]}"></div>
<div class="goods">
${products.map((item, index) => productHtml(item, pictures[index] ?? "", index < FEATURED)).join("\n")}
</div>
<p class="foot">Prices in crowns, with tax. Orders before noon leave the same day.</p>
${[...scripts, ads.script].map((script) => `<script type="text/javascript" src="${script}"></script>`).join("\n")}
</body>
</html>
`,
  );
  return {
    document: `${HOST}/index.html`,
    files: site.files,
    cacheControl: {
      [HOST]: [
        { path: "/js/*", value: "max-age=86400" },
        { path: "/css/*", value: "max-age=86400" },
        ...allFiles("private, no-cache"),
      ],
      [IMAGE_HOST]: allFiles("max-age=86400"),
      ...adCacheControl(AD_HOST),
    },
    depth: 3,
  };
}

function productHtml({ id, name, price, description }: Product, picture: string, featured: boolean): string {
  const side = featured ? 120 : 72;
  return `<div class="item${featured ? " featured" : ""}" id="p${id}">
<a href="/goods/${id}?ref=front"><img src="${picture}" width="${side}" height="${side}" border="0" alt="${escapeText(name)}"></a>
<h3><a href="/goods/${id}?ref=front">${escapeText(name)}</a></h3>
<p class="text">${escapeText(description)}</p>
<p class="price"><b>${price}</b> kr <span class="stock">${(Number(id) % 23) + 1} in stock</span></p>
<form method="post" action="/basket/add"><input type="hidden" name="item" value="${id}"><input type="hidden" name="token" value="${(Number(id) * 48_271).toString(36)}"><select name="amount" aria-label="Amount"><option>1</option><option>2</option><option>3</option><option>4</option></select> <input type="submit" value="Into the basket"></form>
</div>`;
}

function shopStyle(shelf: string): string {
  return `/* Shop window. */
body { background: #fffdf8; color: #222; font: 13px/1.4 Tahoma, Geneva, sans-serif; margin: 0 auto; max-width: 780px; padding: 6px; }
a { color: #21536b; text-decoration: none; }
a:hover { text-decoration: underline; }
.head { align-items: center; border-bottom: 2px solid #21536b; display: flex; justify-content: space-between; padding: 4px 0; }
.basket { border: 1px solid #c9b98c; padding: 3px 8px; }
.tabs { display: flex; list-style: none; margin: 6px 0; overflow-x: auto; padding: 0; }
.tabs li { font-size: 11px; padding: 0 5px; text-align: center; white-space: nowrap; }
.tabs img { display: block; margin: 0 auto 2px; }
.goods { display: grid; gap: 8px; grid-template-columns: repeat(auto-fill, minmax(170px, 1fr)); }
.item { background: #fff url("${shelf}") repeat-x bottom; border: 1px solid #e4dcc4; padding: 6px 6px 10px; }
.item.featured { border-color: #c08a2b; }
.item h3 { font: bold 13px/1.25 Georgia, serif; margin: 4px 0; }
.item .text { color: #555; font-size: 11px; margin: 0 0 4px; }
.item .price b { color: #8a1f11; font-size: 15px; }
.item .stock { color: #6b7f3a; font-size: 10px; }
.item select, .item input { font-size: 11px; }
.ad { margin: 6px 0; min-height: 67px; text-align: center; }
.foot { border-top: 1px solid #ccc; color: #777; font-size: 11px; margin: 14px 0; padding-top: 6px; }
`;
}

function shopScript(release: number): string {
  return `/* Basket, release ${release}. */
(function () {
  var release = ${release};
  var amount = 0;
  var count = document.getElementById("count");
  function show() { count.firstChild.nodeValue = String(amount); }
  function added(event) {
    var form = event.target;
    if (form.action.indexOf("/basket/add") < 0) return;
    event.preventDefault();
    amount += Number(form.amount.value);
    try { sessionStorage.setItem("basket", release + ":" + amount); } catch (full) { count.title = String(full); }
    show();
  }
  try { amount = Number((sessionStorage.getItem("basket") || "0:0").split(":")[1]); } catch (closed) { amount = 0; }
  document.addEventListener("submit", added);
  show();
})();
`;
}
