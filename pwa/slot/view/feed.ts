/** Feeds (RSS, Atom, JSON Feed) as a list. Of what a feed says in HTML the text is taken: nothing of it runs or loads. */
import { dateText, t } from "../words.ts";
import { button, element } from "./tree.ts";

/** Characters: it is parsed in one piece. */
const LONGEST_FEED = 4 * 1024 * 1024;

/** Characters of a summary. */
const LONGEST_SUMMARY = 400;

/** Characters of a base, which is read anew for each link: no request has a longer address (`limits.headBytes`). */
const LONGEST_BASE = 16 * 1024;

/** Entries that are made at once. */
const AT_ONCE = 50;

export interface Feed {
  readonly title: string;
  readonly about: string;
  readonly entries: readonly (() => Entry)[];
}

interface Entry {
  readonly title: string;
  /** Null where it leads nowhere on the web. */
  readonly link: string | null;
  readonly date: string;
  readonly author: string;
  readonly summary: string;
}

const CONTENT = "http://purl.org/rss/1.0/modules/content/";
const XML = "http://www.w3.org/XML/1998/namespace";

/** @param text that the document shows as it is. Null: it is no feed. */
export function textFeed(text: string, url: string): Feed | null {
  if (text.length > LONGEST_FEED) return null;
  const parsed = new DOMParser().parseFromString(text.trimStart(), "text/xml");
  const isBroken = parsed.getElementsByTagName("parsererror").length > 0;
  return isBroken ? null : xmlFeed(parsed.documentElement, url);
}

/** @param url of the document: base of its links. Null: it is none. */
export function xmlFeed(root: Element, url: string): Feed | null {
  const name = root.localName.toLowerCase();
  if (name === "feed" && /w3\.org\/2005\/Atom|purl\.org\/atom/.test(root.namespaceURI ?? ""))
    return atomFeed(root, url);
  const isRdf = name === "rdf" && root.getElementsByTagNameNS("*", "channel").length > 0;
  if (name !== "rss" && !isRdf) return null;
  const channel = first(root, "channel") ?? root;
  const items = [...childrenOf(channel, "item"), ...childrenOf(root, "item")];
  return {
    title: textIn(channel, "title"),
    about: textOfHtml(textIn(channel, "description")),
    entries: items.map((item) => () => rssEntry(item, url)),
  };
}

function rssEntry(item: Element, url: string): Entry {
  const html = first(item, "description") ?? first(item, "encoded", CONTENT) ?? first(item, "summary");
  const link = textIn(item, "link") || hrefOf(item) || permanentLink(item);
  return {
    title: textOfHtml(textIn(item, "title")),
    link: webAddress(link, baseOf(item, url)),
    date: textIn(item, "pubDate") || textIn(item, "date"),
    author: textIn(item, "author") || textIn(item, "creator"),
    summary: textOfHtml(html?.textContent ?? ""),
  };
}

function permanentLink(item: Element): string {
  const guid = first(item, "guid");
  return guid === null || guid.getAttribute("isPermaLink") === "false" ? "" : (guid.textContent ?? "");
}

function atomFeed(root: Element, url: string): Feed {
  return {
    title: atomText(first(root, "title")),
    about: atomText(first(root, "subtitle") ?? first(root, "tagline")),
    entries: [...childrenOf(root, "entry")].map((entry) => () => ({
      title: atomText(first(entry, "title")),
      link: webAddress(hrefOf(entry), baseOf(entry, url)),
      date: textIn(entry, "published") || textIn(entry, "updated") || textIn(entry, "issued"),
      author: [...childrenOf(entry, "author")].map((author) => textIn(author, "name")).join(", "),
      summary: atomText(first(entry, "summary") ?? first(entry, "content")),
    })),
  };
}

/** RFC 4287 section 3.1. */
function atomText(construct: Element | null): string {
  const type = construct?.getAttribute("type") ?? "text";
  const text = construct?.textContent ?? "";
  return type === "html" || type === "text/html" ? textOfHtml(text) : cut(text);
}

/** Of the page that an entry stands for. */
function hrefOf(entry: Element): string {
  const links = [...childrenOf(entry, "link")].filter((link) => link.hasAttribute("href"));
  const main = links.find((link) => /^(?:alternate)?$/.test(link.getAttribute("rel") ?? "")) ?? links[0];
  return main?.getAttribute("href") ?? "";
}

interface JsonAuthor {
  readonly name?: unknown;
}

/** The members of a JSON Feed (jsonfeed.org, 1.1) that are read, not checked yet. */
interface JsonFeed {
  readonly version?: unknown;
  readonly title?: unknown;
  readonly description?: unknown;
  readonly items?: unknown;
}

type JsonItem = Readonly<Record<string, unknown>> & {
  readonly author?: JsonAuthor | null;
  readonly authors?: unknown;
};

/** @param text that is JSON. Null: it is no feed. */
export function jsonFeed(text: string, url: string): Feed | null {
  if (text.length > LONGEST_FEED || !/^\s*\{/.test(text) || !text.includes("jsonfeed.org/version/")) return null;
  const { version, title, description, items } = JSON.parse(text) as JsonFeed;
  if (!/^https?:\/\/(?:www\.)?jsonfeed\.org\/version\//.test(string(version)) || !Array.isArray(items)) return null;
  const isItem = (each: unknown): each is JsonItem => typeof each === "object" && each !== null;
  return {
    title: string(title),
    about: string(description),
    entries: items.filter(isItem).map((item) => () => ({
      title: string(item.title),
      link: webAddress(string(item.url) || string(item.external_url), url),
      date: string(item.date_published) || string(item.date_modified),
      author: authorsOf(item)
        .map((author) => string(author?.name))
        .join(", "),
      summary: cut(string(item.summary) || string(item.content_text)) || textOfHtml(string(item.content_html)),
    })),
  };
}

function authorsOf({ author, authors }: JsonItem): readonly (JsonAuthor | null)[] {
  return Array.isArray(authors) ? (authors as JsonAuthor[]) : [author ?? null];
}

const string = (value: unknown): string => (typeof value === "string" ? value : "");

function* childrenOf(parent: Element, name: string): Generator<Element> {
  for (const child of parent.children) if (child.localName === name) yield child;
}

/** A child; one of the feed's own namespace before one of another's. */
function first(parent: Element, name: string, namespace = parent.namespaceURI): Element | null {
  const all = [...childrenOf(parent, name)];
  return all.find((child) => child.namespaceURI === namespace) ?? all[0] ?? null;
}

const textIn = (parent: Element, name: string): string => first(parent, name)?.textContent?.trim() ?? "";

/** XML Base: each element's counts on those around it. */
function baseOf(node: Element, url: string): string {
  const base = node.parentElement === null ? url : baseOf(node.parentElement, url);
  const own = node.getAttributeNS(XML, "base") ?? "";
  const href = own.length > LONGEST_BASE ? undefined : URL.parse(own, base)?.href;
  return href === undefined || href.length > LONGEST_BASE ? base : href;
}

function webAddress(link: string, base: string): string | null {
  const url = link.trim() === "" ? null : URL.parse(link.trim(), base);
  return url !== null && /^https?:$/.test(url.protocol) ? url.href : null;
}

/** A document that is parsed so has no window: it loads nothing, and runs nothing. */
function textOfHtml(html: string): string {
  if (!/[<&]/.test(html)) return cut(html);
  const { body } = new DOMParser().parseFromString(html.slice(0, 50 * LONGEST_SUMMARY), "text/html");
  for (const each of body.querySelectorAll("script, style, template, title")) each.remove();
  for (const each of body.querySelectorAll("br, p, div, li, h1, h2, h3, tr")) each.append(" ");
  return cut(body.textContent ?? "");
}

function cut(text: string): string {
  const plain = text.replace(/\s+/g, " ").trim();
  return plain.length > LONGEST_SUMMARY ? `${plain.slice(0, LONGEST_SUMMARY)}…` : plain;
}

export function showFeed({ title, about, entries }: Feed): HTMLElement {
  const list = element("ol", "entries");
  const shown = element("section", "feed", element("h1", "", title || t("Feed")));
  if (about !== "") shown.append(element("p", "about", about));
  shown.append(list);
  if (entries.length === 0) shown.append(element("p", "about", t("This feed has no entries")));
  const showMore = (from: number) => {
    list.append(...entries.slice(from, from + AT_ONCE).map((read) => entryOf(read())));
    if (from + AT_ONCE >= entries.length) return;
    const more = button(t("Show more"), () => {
      more.remove();
      showMore(from + AT_ONCE);
    });
    shown.append(more);
  };
  showMore(0);
  return shown;
}

function entryOf({ title, link, date, author, summary }: Entry): HTMLElement {
  const name = element("bdi", "", title || link || t("Without a title"));
  const heading = element("h2", "", name);
  if (link !== null) {
    const anchor = element("a", "", name);
    anchor.href = link;
    heading.append(anchor);
  }
  const item = element("li", "", heading);
  const byline = element("p", "byline");
  const at = new Date(date);
  if (!Number.isNaN(at.getTime())) {
    const time = element("time", "", dateText(at));
    time.dateTime = at.toISOString();
    byline.append(time);
  } else if (date !== "") byline.append(date);
  if (author !== "") byline.append(byline.hasChildNodes() ? " · " : "", element("bdi", "", author));
  if (byline.hasChildNodes()) item.append(byline);
  if (summary !== "") item.append(element("p", "", summary));
  return item;
}
