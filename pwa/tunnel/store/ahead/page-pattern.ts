/**
 * Pages of one kind, such as all articles of a site. What in their URLs says which page it is stands in what they ask for,
 * too: `/article/7` asks for `/api/articles/7`.
 */

/** Parts of one URL that may vary; if more do, they are hardly the name of a page. */
const VALUES = 4;
/**
 * Up to 200 characters that mean nothing in a URL: whoever links to a page writes its URL, and must not lead what it asks for
 * elsewhere.
 */
const NAME = /^(?!\.+$)[\w.~-]{1,200}$/;
/** No URL has it as it is: browsers escape it. */
const PLACE = /<(\d)>/g;

export interface PagePattern {
  /** Name of the kind: the page's URL with places in it, as `https://a.example/article/<0>`. */
  readonly name: string;
  /** What this page has in those places; none where there is no other page of its kind. */
  readonly values: readonly string[];
}

/** By the looks of it: the end of a path, what has a digit or several words in it, and all that a query says. */
export function patternOf(document: string): PagePattern {
  const url = new URL(document);
  const values: string[] = [];
  const place = (text: string): string => {
    if (!NAME.test(text) || values.length >= VALUES) return text;
    values.push(text);
    return `<${values.length - 1}>`;
  };
  const segments = url.pathname.split("/");
  const end = segments.findLastIndex((segment) => segment !== "");
  const path = segments.map((segment, at) => {
    const isName = (at === end && end > 1) || /\d|-.*-/.test(segment);
    return isName ? segment.replace(/^.+?(?=(?:\.[a-z]+)?$)/, place) : segment;
  });
  const query = url.search.replace(/=([^&]*)/g, (_, value: string) => `=${place(value)}`);
  return { name: `${url.origin}${path.join("/")}${query}`, values };
}

/** The URL with places where it names the page. */
export function toTemplate(url: string, values: readonly string[]): string {
  const { origin } = new URL(url);
  const rest = values.reduce((text, value, at) => {
    const literal = value.replace(/[^A-Za-z0-9]/g, "\\$&");
    // Whole words only: 1 is none in v1, nor in a place.
    return text.replace(new RegExp(`(?<![A-Za-z0-9<])${literal}(?![A-Za-z0-9>])`, "g"), `<${at}>`);
  }, url.slice(origin.length));
  return `${origin}${rest}`;
}

/** @returns null where the page has no value for a place. */
export function fromTemplate(template: string, values: readonly string[]): string | null {
  const url = template.replace(PLACE, (place, at: string) => values[Number(at)] ?? place);
  return url.includes("<") || URL.parse(url)?.href !== url ? null : url;
}
