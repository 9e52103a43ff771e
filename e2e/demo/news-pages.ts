import { ARTICLES, type Article, SECTIONS, type Section } from "./articles.ts";
import { type DemoOrigins, escapeHtml } from "./demo-host.ts";

export const PAPER = "The Saltmere Lantern";

interface Page {
  readonly title: string;
  readonly body: string;
  readonly theme: string;
  readonly section?: Section;
  readonly front?: boolean;
  readonly query?: string;
}

/** The frame around every page of the newspaper. */
export function page(origins: DemoOrigins, { title, body, theme, section, front, query }: Page): string {
  const current = (here: boolean): string => (here ? ' aria-current="page"' : "");
  const links = Object.entries(SECTIONS).map(
    ([name, label]) => `<a href="/section/${name}"${current(name === section)}>${label}</a>`,
  );
  return `<!doctype html>
<html lang="en" data-theme="${escapeHtml(theme)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(front ? title : `${title} · ${PAPER}`)}</title>
<link rel="icon" href="${origins.static}/logo.svg">
<link rel="alternate" type="application/rss+xml" title="${PAPER}" href="/rss.xml">
<link rel="stylesheet" href="${origins.static}/site.css">
<script type="module" src="${origins.static}/site.js"></script>
</head>
<body${front ? ' class="front"' : ""}>
<header>
<div class="masthead"><img src="${origins.static}/logo.svg" alt="" width="36" height="36"><a href="/">${PAPER}</a>
<button id="theme" class="icon icon-moon" type="button" hidden></button></div>
<nav aria-label="Sections"><a href="/"${current(front === true)}>Front page</a>
${links.join("\n")}</nav>
<form action="/search" role="search"><input type="search" name="q" aria-label="Search the paper" placeholder="Search the paper"
value="${escapeHtml(query ?? "")}"><button class="icon icon-search" aria-label="Search"></button></form>
</header>
<main>
${body}
</main>
<footer>
<form action="/newsletter" method="post"><input type="email" name="email" required autocomplete="email"
aria-label="E-mail address" placeholder="you@example.net"><button>Get the Friday letter</button></form>
<p><a href="/rss.xml"><span class="icon icon-feed"></span> Feed</a> · Saltmere is not on any map, and all its people are made up.</p>
</footer>
</body>
</html>
`;
}

export function storyList(origins: DemoOrigins, articles: readonly Article[]): string {
  const items = articles.map(
    (article, index) => `<li><a href="/article/${article.slug}">
${picture(origins, article, index > 1)}
<span class="kicker">${SECTIONS[article.section]}</span>
<h2>${escapeHtml(article.title)}</h2>
<p class="summary">${escapeHtml(article.summary)}</p></a></li>`,
  );
  return `<ul class="stories">\n${items.join("\n")}\n</ul>`;
}

export function articleBody(origins: DemoOrigins, article: Article): string {
  const more = ARTICLES.filter(({ section, slug }) => section === article.section && slug !== article.slug);
  return `<article>
<a class="kicker" href="/section/${article.section}">${SECTIONS[article.section]}</a>
<h1>${escapeHtml(article.title)}</h1>
<p class="standfirst">${escapeHtml(article.summary)}</p>
<p class="byline">By ${escapeHtml(article.author)} · <time datetime="${article.date}">${longDate(article.date)}</time></p>
<figure>${picture(origins, article, false)}<figcaption>${escapeHtml(article.caption)}</figcaption></figure>
${article.paragraphs.map((text) => `<p>${escapeHtml(text)}</p>`).join("\n")}
<section id="comments" data-slug="${article.slug}">
<h2><span class="icon icon-comment"></span> Comments</h2>
<ol></ol>
<p class="note" role="status">Loading comments …</p>
<form hidden><input name="name" required maxlength="40" aria-label="Your name" placeholder="Your name">
<textarea name="text" required maxlength="500" aria-label="Your comment" placeholder="Your comment"></textarea>
<button>Send</button></form>
</section>
<h2>More from ${SECTIONS[article.section]}</h2>
<ul>${more.map(({ slug, title }) => `<li><a href="/article/${slug}">${escapeHtml(title)}</a></li>`).join("\n")}</ul>
</article>`;
}

export function feed(origins: DemoOrigins): string {
  const items = ARTICLES.map(
    ({ slug, title, summary, date }) => `<item><title>${escapeHtml(title)}</title>
<link>${origins.news}/article/${slug}</link><guid>${origins.news}/article/${slug}</guid>
<description>${escapeHtml(summary)}</description><pubDate>${new Date(date).toUTCString()}</pubDate></item>`,
  );
  return `<?xml version="1.0" encoding="utf-8"?>
<rss version="2.0"><channel><title>${PAPER}</title><link>${origins.news}/</link>
<description>News from Saltmere</description>
${items.join("\n")}
</channel></rss>
`;
}

function picture(origins: DemoOrigins, article: Article, lazy: boolean): string {
  const loading = lazy ? ' loading="lazy"' : "";
  const shape = `alt="${escapeHtml(article.caption)}" width="640" height="427"${loading}`;
  if (article.picture === "drawing") return `<img src="${origins.images}/drawing/${article.slug}.svg" ${shape}>`;
  const base = `${origins.images}/photo/${article.slug}`;
  return `<img src="${base}-360.png" srcset="${base}-360.png 360w, ${base}-720.png 720w" sizes="(min-width: 48rem) 22rem, 50vw" ${shape}>`;
}

function longDate(date: string): string {
  return new Intl.DateTimeFormat("en-GB", {
    dateStyle: "long",
    timeZone: "UTC",
  }).format(new Date(date));
}
