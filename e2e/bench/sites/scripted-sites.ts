/** Pages that are empty without their scripts: what they show comes from APIs, whose answers nobody may store. */
import { seededRandom, seedOf } from "../../demo/random.ts";
import { packageText } from "./package-content.ts";
import { photoOfSize } from "./pictures/photos.ts";
import { releasedName } from "./real-site-edits.ts";
import { allFiles, FINGERPRINTED, type SiteDraft, SiteFiles } from "./site-draft.ts";
import { placesAt, product, story } from "./text/news-text.ts";

/** What the load event need not wait for: all that scripts ask for. */
const AFTER_LOAD = { files: /\.json$|\.jpg$|\/charts\//, depthBefore: 2 };

/** At the beginning of each page's own script. */
const HELPERS = `const root = document.getElementById("root");
async function get(address) {
  const response = await fetch(address, { headers: { accept: "application/json" } });
  if (!response.ok) throw new Error("Cannot load " + address + ": status " + response.status);
  return response.json();
}
function add(place, name, text, more) {
  const made = Object.assign(document.createElement(name), { textContent: text }, more);
  place.append(made);
  return made;
}
`;

/** The first page of a social network: all posts are other ones each day, of people who have posted before. */
export async function timeline(version: number): Promise<SiteDraft> {
  const [host, media] = ["flockline.test", "media.flockline.test"];
  const site = new SiteFiles();
  const posts = await Promise.all(
    count(12).map(async (place) => {
      const { id, summary: text, topic } = story(`${host}/post/${version}/${place}`, 0);
      const { author } = story(`${host}/author/${place}`, 0);
      const face = await photoOfSize(author, 3_000, { aspect: 1, quality: 70 });
      const avatar = site.add(`${media}/avatars/${place}.jpg`, face);
      const picture = place % 2 === 0 && site.add(`${media}/posts/${id}.jpg`, await photoOfSize(id, 22_000));
      return { id, text, topic, author, avatar, picture };
    }),
  );
  const api = `${host}/api/v1`;
  site.add(`${api}/session.json`, JSON.stringify({ user: posts[0]?.author, timeline: "home", features: count(40) }));
  site.add(`${api}/timelines/home.json`, JSON.stringify(posts));
  site.add(`${api}/notifications.json`, JSON.stringify(posts.slice(6).map(({ id, author }) => ({ id, author }))));
  site.add(`${api}/trends.json`, JSON.stringify(posts.slice(6).map(({ topic }) => topic)));
  const app = `${HELPERS}const session = await get("/api/v1/session.json");
const [posts, news, trends] = await Promise.all([
  get("/api/v1/timelines/" + session.timeline + ".json?limit=12"),
  get("/api/v1/notifications.json?limit=15"),
  get("/api/v1/trends.json"),
]);
add(root, "h1", session.user + ": " + news.length + " new, " + trends.join(", "));
for (const { author, avatar, text, picture } of posts) {
  const card = add(root, "article", "", { className: "card" });
  add(card, "img", "", { src: avatar, width: 48, height: 48 });
  add(card, "b", author);
  add(card, "p", text);
  if (picture) add(card, "img", "", { src: picture, width: 360, height: 240 });
}
`;
  await addShell(site, host, "Flockline", {
    app,
    name: releasedName("app.js", version),
    library: "jquery/dist/jquery.min.js",
  });
  return draft(site, host, { [media]: allFiles(FINGERPRINTED) });
}

/** A shop front: each day a third of its products is new. What is in stock is asked by the products' names. */
export async function storefront(version: number): Promise<SiteDraft> {
  const [host, api, images] = ["fernhill.test", "api.fernhill.test", "images.fernhill.test"];
  const site = new SiteFiles();
  const products = await Promise.all(
    placesAt(host, 24, version).map(async (name) => {
      const { id, ...rest } = product(name);
      const photo = await photoOfSize(name, 14_000, { aspect: 1, quality: 75 });
      return { id, ...rest, picture: site.add(`${images}/goods/${id}.jpg`, photo) };
    }),
  );
  site.add(`${host}/cart.json`, JSON.stringify({ items: [], currency: "kr" }));
  site.add(`${api}/store.json`, JSON.stringify({ collection: "front", countries: count(60), payment: ["card"] }));
  site.add(`${api}/collections/front.json`, JSON.stringify(products));
  const stock = products.map(({ id }) => [id, 1 + (Number(id) % 23)]);
  site.add(`${api}/stock.json`, JSON.stringify(Object.fromEntries(stock)));
  const app = `${HELPERS}const api = "https://${api}/";
const [store, cart] = await Promise.all([get(api + "store.json"), get("/cart.json")]);
const goods = await get(api + "collections/" + store.collection + ".json");
add(root, "h1", goods.length + " things, " + cart.items.length + " in the cart");
const views = goods.map(({ name, price, picture }) => {
  const card = add(root, "div", "", { className: "card" });
  add(card, "img", "", { src: picture, width: 180, height: 180, alt: name });
  add(card, "b", name);
  return add(card, "p", price + " " + cart.currency);
});
const stock = await get(api + "stock.json?ids=" + goods.map(({ id }) => id).join());
goods.forEach(({ id }, place) => add(views[place], "small", " " + stock[id] + " in stock"));
`;
  const library = "bootstrap/dist/js/bootstrap.bundle.min.js";
  await addShell(site, host, "Fernhill", { app, name: releasedName("app.js", version), library });
  return draft(site, host, { [api]: allFiles("no-store"), [images]: allFiles("public, max-age=604800") });
}

const CHARTS = ["requests", "errors", "latency", "memory", "disk", "queue"];

/**
 * What an operator looks at each day, of a program that is not released that often: the page is the same. A report is
 * asked for by its day. At the first two visits there is an incident, of which more is asked for.
 */
export async function dashboard(version: number): Promise<SiteDraft> {
  const host = "dash.quayside.test";
  const site = new SiteFiles();
  const charts = CHARTS.map((name, place) => ({ name, kind: ["line", "bars", "steps"][place % 3] }));
  const report = story(`${host}/report/${version}`, 2);
  const values = (name: string): number[] => {
    const random = seededRandom(seedOf(`${host} ${name} ${version}`));
    return count(288).map(() => Math.round(random() * 1000));
  };
  for (const [place, content] of Object.entries({
    user: { name: report.author, organization: 7 },
    "organizations/7/projects": [{ id: 31, name: "harbour" }],
    "projects/31/layout": { charts, day: `2025-01-${6 + version}` },
    "projects/31/alerts": version < 2 ? [{ incident: 4711 }] : [],
    ...(version < 2 ? { "incidents/4711": story(`${host}/incident`, 3) } : {}),
    "projects/31/report": report,
    ...Object.fromEntries(CHARTS.map((name) => [`projects/31/series/${name}`, values(name)])),
  })) {
    site.add(`${host}/api/${place}.json`, JSON.stringify(content));
  }
  for (const kind of ["line", "bars", "steps"]) site.add(`${host}/assets/charts/${kind}.js`, chartModule(kind));
  const app = `${HELPERS}const user = await get("/api/user.json");
const [project] = await get("/api/organizations/" + user.organization + "/projects.json");
const at = "/api/projects/" + project.id + "/";
const [layout, alerts] = await Promise.all([get(at + "layout.json"), get(at + "alerts.json")]);
add(root, "h1", user.name + ", " + project.name);
for (const { incident } of alerts) get("/api/incidents/" + incident + ".json").then(({ headline }) => add(root, "h2", headline));
for (const { name, kind } of layout.charts) {
  const card = add(root, "figure", name);
  Promise.all([import("/assets/charts/" + kind + ".js"), get(at + "series/" + name + ".json?range=24h")])
    .then(([chart, series]) => chart.draw(card, series));
}
const report = await get(at + "report.json?day=" + layout.day);
add(root, "p", report.headline + ". " + report.summary);
`;
  await addShell(site, host, "Quayside", { app, name: "app.js", library: "idb/build/umd.js" });
  return draft(site, host, {}, 6);
}

function chartModule(kind: string): string {
  return `/* ${kind} */
export function draw(place, series) {
  const most = Math.max(...series);
  const points = series.map((value, at) => (at * 360) / series.length + "," + (120 - (120 * value) / most));
  const part = ${kind === "line" ? `"<polyline fill='none' stroke='teal' points='" + points.join(" ") + "'/>"` : `points.map((point) => "<path stroke='teal' d='M" + point + "v${kind === "bars" ? 120 : 2}'/>").join("")`};
  place.insertAdjacentHTML("beforeend", "<svg width=360 height=120>" + part + "</svg>");
}
`;
}

/** The document with its style sheet and scripts. */
async function addShell(
  site: SiteFiles,
  host: string,
  title: string,
  { app, name, library }: { readonly app: string; readonly name: string; readonly library: string },
): Promise<void> {
  const style = site.add(`${host}/assets/main.css`, await packageText("spectre.css/dist/spectre.min.css"));
  const vendor = site.add(`${host}/assets/vendor.js`, await packageText(library));
  const script = site.add(`${host}/assets/${name}`, app);
  site.add(
    `${host}/index.html`,
    `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${style}">
<script defer src="${vendor}"></script>
<script type="module" src="${script}"></script>
</head>
<body><main id="root"></main></body>
</html>
`,
  );
}

function draft(site: SiteFiles, host: string, others: SiteDraft["cacheControl"], depth = 5): SiteDraft {
  const own = [
    { path: "/assets/*", value: FINGERPRINTED },
    { path: "*.json", value: "no-store" },
    ...allFiles("private, no-cache"),
  ];
  const cacheControl = { [host]: own, ...others };
  return { document: `${host}/index.html`, files: site.files, cacheControl, depth, afterLoad: AFTER_LOAD };
}

function count(most: number): number[] {
  return Array.from({ length: most }, (_, index) => index);
}
