import { escapeText, type Story } from "../text/news-text.ts";

export interface FrontPage {
  readonly title: string;
  readonly host: string;
  readonly imageHost: string;
  readonly adHost: string;
  readonly sections: readonly string[];
  readonly stories: number;
  /** Paragraphs below each story's headline. */
  readonly paragraphs: number;
  /** Sizes in bytes of the photographs of the first stories. */
  readonly photos: readonly number[];
  /** Sizes in bytes of promotional GIFs. */
  readonly promotions: readonly number[];
  readonly bullets: number;
  /** Sizes in bytes. */
  readonly banners: readonly number[];
}

export interface FrontPageParts {
  readonly page: FrontPage;
  readonly version: number;
  readonly stories: readonly Story[];
  /** Addresses, as in the fields below. */
  readonly photos: readonly string[];
  readonly buttons: readonly string[];
  readonly bullets: readonly string[];
  readonly promotions: readonly string[];
  readonly masthead: string;
  readonly styles: readonly string[];
  readonly scripts: readonly string[];
  /** Values of `data-ad`. */
  readonly adPlaces: readonly string[];
}

export function frontPageHtml(parts: FrontPageParts): string {
  const { page, stories, photos, promotions, adPlaces } = parts;
  const hour = String(7 + (parts.version % 16)).padStart(2, "0");
  const withPhotos = stories.slice(0, photos.length);
  const briefs = stories.slice(photos.length);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="description" content="${page.title}: ${page.sections.join(", ").toLowerCase()} from the coast and beyond, every hour">
<meta http-equiv="pics-label" content='(pics-1.1 "labels" gen true for "https://${page.host}/" r (ss 0 sl 0 vs 0))'>
<title>${page.title} - Monday, 6 January, ${hour}:00</title>
<link rel="icon" href="data:,">
${parts.styles.map((style) => `<link rel="stylesheet" type="text/css" href="${style}">`).join("\n")}
</head>
<body>
<!-- masthead -->
<div id="top" class="masthead"><a href="/" name="top"><img src="${parts.masthead}" width="330" height="60" border="0" alt="${page.title}"></a>
<div class="stamp">Updated ${hour}:00 GMT &nbsp;|&nbsp; <span id="clock"></span> &nbsp;|&nbsp; Edition ${418 + parts.version}</div></div>
<div class="ad" data-ad="${adPlaces[0]}"></div>
<table class="sections" cellpadding="0" cellspacing="0" border="0"><tr>
${page.sections.map((section, index) => sectionCell(section, parts.buttons[index] ?? "", index)).join("\n")}
</tr></table>
<!-- lead and pictured stories -->
<div id="lead">
${withPhotos.map((item, index) => pictured(item, photos[index] ?? "", index === 0)).join("\n")}
</div>
<div class="ad" data-ad="${adPlaces[1] ?? ""}"></div>
<!-- briefs -->
<div id="briefs">
${briefs.map((item, index) => brief(item, parts.bullets[index % parts.bullets.length] ?? "")).join("\n")}
</div>
<div class="promotions">
${promotions.map((address, index) => `<a class="promotion" href="/offers/${index + 1}.html"><img src="${address}" border="0" alt="Offer ${index + 1}"></a>`).join("\n")}
</div>
${adPlaces
  .slice(2)
  .map((place) => `<div class="ad" data-ad="${place}"></div>`)
  .join("\n")}
<h2 class="bar">Most read</h2>
<ol class="most-read">
${stories
  .slice(4, 14)
  .map(({ id, headline }) => `<li><a href="/stories/${id}.html?from=mostread">${escapeText(headline)}</a></li>`)
  .join("\n")}
</ol>
<div class="bottom">${page.sections.map((section) => `<a href="/${slug(section)}/">${section}</a>`).join(" | ")} | <a href="/about/">About us</a> | <a href="/privacy/">Privacy</a> | <a href="#top">Back to top</a></div>
${parts.scripts.map((script) => `<script type="text/javascript" src="${script}"></script>`).join("\n")}
</body>
</html>
`;
}

function sectionCell(section: string, button: string, index: number): string {
  return `<td align="center" valign="top"><a href="/${slug(section)}/" onmouseover="window.status='${section}'; return true"><img src="${button}" name="b${index}" width="64" height="21" border="0" alt="${section}"><br>${section}</a></td>`;
}

function pictured({ id, topic, headline, summary, author, paragraphs }: Story, photo: string, lead: boolean): string {
  const size = lead ? 'width="160" height="100"' : 'width="90" height="72"';
  return `<div class="story${lead ? " lead" : ""}" id="s${id}">
<a href="/stories/${id}.html"><img src="${photo}" ${size} align="left" hspace="6" border="0" alt="${topic}"></a>
<div class="kicker">${topic}</div>
<h2><a href="/stories/${id}.html">${escapeText(headline)}</a></h2>
<p class="byline">By ${author}</p>
<p>${escapeText(summary)}</p>
${paragraphs.map((text) => `<p class="more">${escapeText(text)}</p>`).join("\n")}
<p class="tools"><a href="/stories/${id}.html">Full story</a> | <a href="/print/${id}.html">Print</a> | <a href="/mail/${id}.html">Mail to a friend</a></p>
<br clear="all"></div>`;
}

function brief({ id, topic, headline, summary }: Story, bullet: string): string {
  return `<div class="brief"><img src="${bullet}" width="14" height="12" alt="&#149;"> <a href="/stories/${id}.html"><b>${escapeText(headline)}</b></a>
<span class="kicker">${topic}</span> <span class="summary">${escapeText(summary)}</span></div>`;
}

export function frontPageStyle(backgrounds: readonly string[]): string {
  return `/* Front page: masthead, sections, stories, briefs. */
body { background: #fff; color: #111; font: 13px/1.4 Verdana, Geneva, sans-serif; margin: 0 auto; max-width: 760px; padding: 6px; }
a { color: #00386b; text-decoration: none; }
a:visited { color: #4a3a63; }
a:hover { color: #b00020; text-decoration: underline; }
h1, h2, h3 { font-family: Georgia, "Times New Roman", serif; line-height: 1.2; margin: 0 0 3px; }
.masthead { background: #f3f1ea url("${backgrounds[0]}") repeat-x bottom; border-bottom: 3px double #444; padding-bottom: 8px; }
.masthead img { display: block; max-width: 100%; }
.stamp { color: #666; font-size: 11px; padding: 3px 0; }
.sections { border-bottom: 1px solid #999; border-collapse: separate; display: block; font-size: 10px; overflow-x: auto; width: 100%; }
.sections td { padding: 4px 5px; white-space: nowrap; }
.story { border-bottom: 1px dotted #aaa; clear: both; padding: 8px 0; }
.story h2 { font-size: 15px; }
.story.lead h2 { font-size: 21px; }
.story.lead { background: #fbfaf6; }
.kicker { color: #8a1f11; font-size: 10px; font-weight: bold; letter-spacing: .04em; text-transform: uppercase; }
.byline, .tools { color: #777; font-size: 10px; margin: 0 0 3px; }
.brief { margin: 0 0 7px; padding-left: 18px; position: relative; }
.brief img { left: 0; position: absolute; top: 3px; }
.brief .summary { color: #333; font-size: 11px; }
.promotions { border: 1px solid #cbb; display: flex; flex-wrap: wrap; gap: 6px; margin: 10px 0; padding: 6px; }
.promotion img { display: block; max-height: 60px; }
.bar { background: #ddd6c4 url("${backgrounds[1]}") repeat-x; color: #222; font-size: 13px; padding: 3px 6px; }
.most-read { font-size: 12px; margin: 4px 0 10px; padding-left: 26px; }
.most-read li { border-bottom: 1px dotted #ccc; padding: 2px 0; }
.ad { background: #f6f6f6; border: 1px solid #e2e2e2; margin: 6px 0; min-height: 67px; text-align: center; }
.bottom { border-top: 3px double #444; font-size: 10px; margin-top: 12px; padding: 6px 0 20px; text-align: center; }
@media print { .ad, .promotions, .sections, .tools { display: none; } body { max-width: none; } }
`;
}

export function frontPageScript(release: number): string {
  return `/* Front page behaviour, release ${release}. */
var Front = {
  release: ${release},
  started: new Date(),
  weekday: ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"],
  two: function (value) { return (value < 10 ? "0" : "") + value; },
  tick: function () {
    var now = new Date();
    var place = document.getElementById("clock");
    if (place) place.firstChild.nodeValue = Front.weekday[now.getDay()] + " " + Front.two(now.getHours()) + ":" + Front.two(now.getMinutes());
  },
  remember: function (name, value, days) {
    var until = new Date(Front.started.getTime() + days * 86400000);
    document.cookie = name + "=" + escape(value) + "; expires=" + until.toGMTString() + "; path=/";
  },
  recall: function (name) {
    var found = document.cookie.match(new RegExp("(?:^|; )" + name + "=([^;]*)"));
    return found ? unescape(found[1]) : null;
  },
  markRead: function () {
    var read = (Front.recall("read") || "").split(".");
    var links = document.getElementsByTagName("h2");
    for (var index = 0; index < links.length; index++) {
      var story = links[index].parentNode;
      for (var known = 0; known < read.length; known++) {
        if (story.id === "s" + read[known]) story.className += " read";
      }
    }
  },
  start: function () {
    var place = document.getElementById("clock");
    if (place) place.appendChild(document.createTextNode(""));
    Front.tick();
    Front.markRead();
    window.setInterval(Front.tick, 30000);
  }
};
Front.start();
`;
}

function slug(section: string): string {
  return section.toLowerCase().replaceAll(" ", "-");
}
