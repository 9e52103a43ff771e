/**
 * The HTML format in which browsers hand on bookmarks (`NETSCAPE-Bookmark-file-1`): headings name folders, lists hold what
 * lies in them, times are in seconds. What is read may come from anybody.
 */

export interface FilePage {
  readonly kind: "page";
  readonly title: string;
  /** http: or https:, without a name and a password. */
  readonly url: string;
  /** Milliseconds since 1970; null where the file does not tell. */
  readonly addedAt: number | null;
  readonly visitedAt: number | null;
  readonly visits: number;
}

export interface FileFolder {
  readonly kind: "folder";
  readonly title: string;
  /** Browsers have it in a bar of theirs. */
  readonly isBar: boolean;
  readonly entries: FileEntry[];
}

export type FileEntry = FilePage | FileFolder;

/** Bytes of a file. */
export const MOST_BYTES = 20_000_000;
/** Pages and folders of a file. */
export const MOST_ENTRIES = 50_000;
/** Folders in folders: deeper ones count as those of the last. */
const MOST_DEPTH = 32;
/** Characters. */
const MOST_TITLE = 1_000;

/** @param title of the file, such as "Bookmarks". */
export function writeFile(title: string, entries: readonly FileEntry[]): string {
  return `<!DOCTYPE NETSCAPE-Bookmark-file-1>
<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset=UTF-8">
<TITLE>${escaped(title)}</TITLE>
<H1>${escaped(title)}</H1>
${list(entries, "")}`;
}

function list(entries: readonly FileEntry[], indent: string): string {
  return `${indent}<DL><p>\n${entries.map((entry) => written(entry, `${indent}    `)).join("")}${indent}</DL><p>\n`;
}

function written(entry: FileEntry, indent: string): string {
  const title = escaped(entry.title);
  if (entry.kind === "folder") {
    const bar = entry.isBar ? ' PERSONAL_TOOLBAR_FOLDER="true"' : "";
    return `${indent}<DT><H3${bar}>${title}</H3>\n${list(entry.entries, indent)}`;
  }
  const { url, addedAt, visitedAt, visits } = entry;
  const times = `${time("ADD_DATE", addedAt)}${time("LAST_VISIT", visitedAt)}`;
  const count = visits > 1 ? ` VISIT_COUNT="${visits}"` : "";
  return `${indent}<DT><A HREF="${escaped(url)}"${times}${count}>${title}</A>\n`;
}

function time(name: string, at: number | null): string {
  return at === null ? "" : ` ${name}="${Math.floor(at / 1000)}"`;
}

const REFERENCES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (character) => REFERENCES[character] ?? "");
}

/** @param pageUrl as of `Visits`: null for what is no page of the web. @returns null where the file has too many entries. */
export function readFile(html: string, pageUrl: (address: string) => string | null): FileFolder | null {
  // Of such a document no script runs, and nothing is loaded.
  const document = new DOMParser().parseFromString(html, "text/html");
  const root = folder("", false);
  const lists = new Map<Element, { readonly folder: FileFolder; readonly depth: number }>();
  const placeOf = (element: Element | null) => {
    const around = element?.closest("dl");
    return (around && lists.get(around)) ?? { folder: root, depth: 0 };
  };
  let heading: FileFolder | null = null;
  let count = 0;
  for (const element of document.querySelectorAll("h3, dl, a[href]")) {
    if (element.localName === "dl") {
      const above = placeOf(element.parentElement);
      if (heading === null || above.depth >= MOST_DEPTH) lists.set(element, above);
      else {
        above.folder.entries.push(heading);
        lists.set(element, { folder: heading, depth: above.depth + 1 });
      }
      heading = null;
      continue;
    }
    if (++count > MOST_ENTRIES) return null;
    if (element.localName === "h3") heading = folder(titleOf(element), element.hasAttribute("personal_toolbar_folder"));
    else {
      const page = pageOf(element, pageUrl);
      if (page !== null) placeOf(element).folder.entries.push(page);
    }
  }
  return root;
}

function folder(title: string, isBar: boolean): FileFolder {
  return { kind: "folder", title, isBar, entries: [] };
}

function titleOf(element: Element): string {
  return (element.textContent ?? "").replace(/\s+/g, " ").trim().slice(0, MOST_TITLE);
}

function pageOf(element: Element, pageUrl: (address: string) => string | null): FilePage | null {
  const url = pageUrl(element.getAttribute("href") ?? "");
  if (url === null) return null;
  const visits = numberOf(element, "visit_count") ?? 1;
  return {
    kind: "page",
    title: titleOf(element),
    url,
    addedAt: timeOf(element, "add_date"),
    visitedAt: timeOf(element, "last_visit"),
    visits: Math.min(Math.max(1, visits), 10_000),
  };
}

function timeOf(element: Element, name: string): number | null {
  const seconds = numberOf(element, name);
  return seconds === null ? null : seconds * 1000;
}

function numberOf(element: Element, name: string): number | null {
  const text = element.getAttribute(name) ?? "";
  return /^\d{1,11}$/.test(text) ? Number(text) : null;
}
