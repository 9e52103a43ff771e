import { escapeText, type Story } from "../text/news-text.ts";

export interface MedianParts {
  readonly version: number;
  readonly stories: readonly Story[];
  /** Addresses. */
  readonly hero: string;
  readonly cards: readonly string[];
  /** Shown by the page's script after the load event. */
  readonly later: readonly string[];
  readonly films: readonly string[];
  readonly logo: string;
  readonly emblem: string;
  readonly styles: readonly string[];
  readonly scripts: readonly string[];
  readonly consent: string;
  /** Number of places for advertisements. */
  readonly ads: number;
}

export function medianHtml(parts: MedianParts): string {
  const { stories, cards, later, films } = parts;
  const [lead] = stories;
  if (!lead) throw new RangeError("Cannot make the median page: it needs stories");
  const withLater = stories.slice(1 + cards.length, 1 + cards.length + later.length);
  const rest = stories.slice(1 + cards.length + later.length);
  return `<!doctype html>
<html lang="en" class="no-js">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>The Median Journal: news, markets and weather from the coast</title>
<meta name="description" content="${escapeText(lead.summary)}">
<meta property="og:title" content="${escapeText(lead.headline)}">
<meta property="og:image" content="${parts.hero}">
<link rel="icon" href="data:,">
<link rel="preconnect" href="https://fonts.typeworks.test" crossorigin>
<link rel="preconnect" href="https://images.median-journal.test">
${parts.styles.map((style) => `<link rel="stylesheet" href="${style}">`).join("\n")}
<script async src="${parts.consent}"></script>
<script type="application/ld+json">${JSON.stringify({
    "@context": "https://schema.org",
    "@type": "ItemList",
    itemListElement: stories.slice(0, 24).map(({ id, headline, author }, index) => ({
      "@type": "ListItem",
      position: index + 1,
      url: `https://www.median-journal.test/article/${id}`,
      name: headline,
      author: { "@type": "Person", name: author },
    })),
  })}</script>
</head>
<body>
<header class="journal-head"><img src="${parts.logo}" width="44" height="40" alt=""> <img src="${parts.emblem}" width="150" height="28" alt="The Median Journal">
<nav>${[...new Set(stories.map(({ topic }) => topic))].map((topic) => `<a href="/section/${topic.toLowerCase()}">${topic}</a>`).join(" ")}</nav></header>
<main>
<article class="hero" data-id="${lead.id}">
<a href="/article/${lead.id}"><img src="${parts.hero}" width="640" height="427" fetchpriority="high" alt="${escapeText(lead.headline)}"></a>
<h1>${escapeText(lead.headline)}</h1>
<p class="byline">By <b>${lead.author}</b> <i>in ${lead.topic}</i> <span class="sign">R</span></p>
<p class="standfirst">${escapeText(lead.summary)}</p>
${lead.paragraphs.map((text) => `<p>${escapeText(text)}</p>`).join("\n")}
</article>
${advertisement(0)}
<section class="cards">
${stories
  .slice(1, 1 + cards.length)
  .map((item, index) => card(item, `src="${cards[index]}"`))
  .join("\n")}
</section>
${films.map((address, index) => `<figure class="film"><img src="${address}" width="240" height="150" alt="Film ${index + 1}"><figcaption>${escapeText(rest[index]?.summary ?? "")}</figcaption></figure>`).join("\n")}
<section id="feed" aria-live="polite"></section>
${parts.ads > 1 ? advertisement(1) : ""}
<section class="cards later">
${withLater.map((item, index) => card(item, `data-src="${later[index]}"`)).join("\n")}
</section>
<section class="rest">
${rest.map(briefly).join("\n")}
</section>
<aside id="markets"></aside><aside id="weather"></aside><aside id="comments"></aside>
</main>
<footer class="journal-foot"><p>Printed on nothing. Edition ${9120 + parts.version}.</p></footer>
<script>window.__STATE__=${JSON.stringify({ edition: 9120 + parts.version, stories: stories.map(({ id, topic, author, headline }) => ({ id, topic, author, headline })) }).replaceAll("<", "\\u003c")};</script>
${parts.scripts.map((script) => `<script defer src="${script}"></script>`).join("\n")}
</body>
</html>
`;
}

function card({ id, topic, headline, summary, author, paragraphs }: Story, source: string): string {
  return `<article class="card story-card" data-id="${id}" data-topic="${topic.toLowerCase()}">
<a class="card-link stretched-link" href="/article/${id}?utm_source=front&amp;utm_medium=card"><img class="card-img-top" ${source} width="640" height="427" decoding="async" alt="${escapeText(headline)}"></a>
<div class="card-body"><a class="badge bg-secondary" href="/section/${topic.toLowerCase()}">${topic}</a>
<h2 class="card-title h5"><a href="/article/${id}">${escapeText(headline)}</a></h2>
<p class="card-text">${escapeText(summary)}</p>
<details><summary>More</summary>${paragraphs.map((text) => `<p>${escapeText(text)}</p>`).join("\n")}</details>
<p class="byline">By <b>${author}</b></p></div>
</article>`;
}

function briefly({ id, topic, headline, summary, author, paragraphs }: Story): string {
  return `<article class="brief" data-id="${id}" data-topic="${topic.toLowerCase()}">
<h3><a href="/article/${id}?utm_source=front&amp;utm_medium=brief">${escapeText(headline)}</a></h3>
<p><span class="badge bg-light">${topic}</span> ${escapeText(summary)}</p>
<details><summary>More by <b>${author}</b></summary>${paragraphs.map((text) => `<p>${escapeText(text)}</p>`).join("\n")}</details>
<button type="button" class="btn btn-link btn-sm" data-save="${id}">Save</button> <button type="button" class="btn btn-link btn-sm" data-share="${id}">Share</button>
</article>`;
}

function advertisement(place: number): string {
  return `<div class="ad" data-place="${place}" aria-label="Advertisement"></div>`;
}

export function medianAppStyle(version: number): string {
  return `/* app ${3 + version}.2 */
:root { --ink: #1d1d1f; --rule: #d9d6cf; --accent: #${(0x8a1f11 + version * 0x000a0c).toString(16)}; }
body { color: var(--ink); font-family: "Journal", Georgia, serif; font-size: 17px; line-height: 1.45; margin: 0 auto; max-width: 720px; padding: 0 12px; }
h1, h2, h3 { font-weight: 700; line-height: 1.2; }
h1 { font-size: 1.7rem; margin: ${10 + version}px 0 6px; }
.journal-head { align-items: center; border-bottom: 2px solid var(--ink); display: flex; flex-wrap: wrap; gap: 8px; padding: 8px 0; }
.journal-head nav { display: flex; font: 700 13px "Journal Sans", sans-serif; gap: 12px; overflow-x: auto; width: 100%; }
.byline { color: #666; font-size: 14px; }
.byline i { font-style: italic; }
.byline b { font-style: italic; font-weight: 700; }
.sign { font-family: "Journal Signs"; }
.hero img, .card img { aspect-ratio: 3 / 2; background: #eee; display: block; height: auto; width: 100%; }
.standfirst { font-size: 1.1rem; }
.cards { display: grid; gap: ${14 + version}px; grid-template-columns: 1fr; margin: 14px 0; }
.story-card { border: 1px solid var(--rule); border-radius: ${4 + (version % 3)}px; overflow: hidden; }
.card-body { padding: 10px 12px; }
.badge { background: var(--accent); border-radius: 3px; color: #fff; font: 700 11px "Journal Sans", sans-serif; padding: 2px 6px; }
.brief { border-top: 1px solid var(--rule); padding: 8px 0; }
.film { margin: 12px 0; }
.film img { display: block; height: auto; width: 100%; }
.ad { background: #f4f4f4; margin: 12px 0; min-height: 250px; text-align: center; }
.ad img { max-width: 100%; }
#feed article { border-left: 3px solid var(--accent); margin: 10px 0; padding-left: 10px; }
#feed img { height: auto; max-width: 100%; }
.journal-foot { border-top: 2px solid var(--ink); color: #777; margin-top: 20px; padding: 12px 0 40px; }
`;
}
