import "fake-indexeddb/auto";
import { IDBFactory } from "fake-indexeddb";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Site, SiteTeller } from "../app/state.ts";
import { type Entry, entriesIn, foldersOf, MOST_DEPTH, ROOT, START_PAGE } from "./bookmarks.ts";
import { Library } from "./library.ts";
import { LibraryDatabase } from "./library-database.ts";

let library: Library;
let pinned: Site[];
/** Pins live until the app is closed. */
let arePinsFull = false;

beforeEach(() => {
  globalThis.indexedDB = new IDBFactory();
  arePinsFull = false;
  pinned = [{ url: "https://pin.example/", title: "Pin", icon: null }];
  open();
});

afterEach(() => {
  vi.restoreAllMocks();
  return library.close();
});

/** As when the app is opened. */
function open(): void {
  const app: SiteTeller = {
    get state() {
      return { pinned, recent: [] };
    },
    hearSites() {},
    dropRecent: () => () => {},
    async pin(site) {
      const at = pinned.findIndex(({ url }) => url === site.url);
      pinned = at < 0 ? [...pinned, site] : pinned.with(at, site);
      return !arePinsFull;
    },
    unpin(url) {
      pinned = pinned.filter((site) => site.url !== url);
    },
    draw() {},
  };
  library = new Library(app, () => 1_000);
}

/** Titles in a folder, once they are as they should be. */
const shows = (folder: number, titles: readonly string[]) =>
  expect.poll(() => library.entriesIn(folder)?.map(({ title }) => title)).toEqual(titles);
const find = (folder: number, title: string) =>
  library.entriesIn(folder)?.find((entry) => entry.title === title) as Entry;

it("marks a page, and takes the mark away, also where it is a pin", async () => {
  const page = { url: "https://name:word@a.example/x", title: "A" };
  await library.toggleMark(page);
  await shows(ROOT, ["Start page", "A"]);
  expect([library.isMarked(page.url), library.isMarked("https://a.example/x")]).toEqual([true, true]);
  expect(find(ROOT, "A")).toMatchObject({ url: "https://a.example/x" });
  await library.toggleMark(page);
  await shows(ROOT, ["Start page"]);
  expect(library.isMarked("https://pin.example/")).toBe(true);
  await library.toggleMark({ url: "https://pin.example/", title: "" });
  expect(pinned).toEqual([]);
});

it("moves a bookmark to the start page and back, where it is a pin", async () => {
  await library.toggleMark({ url: "https://a.example/", title: "A" });
  await library.addFolder(ROOT, " News ");
  await shows(ROOT, ["Start page", "News", "A"]);
  const undo = await library.change(find(ROOT, "A"), { title: "Harbour", folder: START_PAGE });
  await shows(START_PAGE, ["Pin", "Harbour"]);
  await shows(ROOT, ["Start page", "News"]);
  undo?.();
  await shows(ROOT, ["Start page", "News", "A"]);
  expect(pinned).toHaveLength(1);
  const { id } = find(ROOT, "News");
  await library.change(find(START_PAGE, "Pin"), { title: "Pin", folder: id });
  await shows(id, ["Pin"]);
  expect(pinned).toEqual([]);
});

it("has the pin back that a bookmark has taken the place of, when its move is taken back", async () => {
  await library.addFolder(ROOT, "News");
  await shows(ROOT, ["Start page", "News"]);
  const news = find(ROOT, "News").id;
  const pin = find(START_PAGE, "Pin");
  await library.change(pin, { title: "Same page", folder: news });
  pinned = [
    { url: "https://other.example/", title: "Other", icon: null },
    { url: "https://pin.example/", title: "Pin", icon: null },
  ];
  await shows(news, ["Same page"]);
  const undo = await library.change(find(news, "Same page"), { title: "Same page", folder: START_PAGE });
  await shows(START_PAGE, ["Other", "Same page"]);
  undo?.();
  await shows(news, ["Same page"]);
  await shows(START_PAGE, ["Other", "Pin"]);
  // What is asked about a pin is about no other when one before it goes.
  const { id } = find(START_PAGE, "Pin");
  await library.remove(find(START_PAGE, "Other"));
  expect(find(START_PAGE, "Pin").id).toBe(id);
});

it("deletes a folder with all that lies in it, and puts it back", async () => {
  await library.addFolder(ROOT, "Outer");
  await shows(ROOT, ["Start page", "Outer"]);
  const outer = find(ROOT, "Outer");
  await library.addFolder(outer.id, "Inner");
  await shows(outer.id, ["Inner"]);
  const inner = find(outer.id, "Inner");
  await library.toggleMark({ url: "https://a.example/", title: "A" });
  await shows(ROOT, ["Start page", "Outer", "A"]);
  await library.change(find(ROOT, "A"), { title: "A", folder: inner.id });
  await shows(inner.id, ["A"]);
  const undo = await library.remove(outer);
  await shows(ROOT, ["Start page"]);
  undo?.();
  await shows(inner.id, ["A"]);
  expect(library.folders().map(({ title, depth }) => [title, depth])).toEqual([
    ["Bookmarks", 0],
    ["Start page", 0],
    ["Outer", 1],
    ["Inner", 2],
  ]);
  expect(library.foldersFor(outer).map(({ title }) => title)).toEqual(["Bookmarks"]);
  expect(library.folderAbove(inner.id)).toBe(outer.id);
});

it("loses nothing where storage is full or closed to us, and says that nothing has changed", async () => {
  await library.toggleMark({ url: "https://a.example/", title: "A" });
  await library.addFolder(ROOT, "News");
  await shows(ROOT, ["Start page", "News", "A"]);
  const [page, pin, { id }] = [find(ROOT, "A"), find(START_PAGE, "Pin"), find(ROOT, "News")];
  const full = vi.spyOn(IDBObjectStore.prototype, "put").mockImplementation(() => {
    throw new DOMException("Full", "QuotaExceededError");
  });
  expect(await library.change(page, { title: "A", folder: id })).toBeNull();
  expect(await library.change(pin, { title: "Pin", folder: id })).toBeNull();
  full.mockRestore();
  await shows(ROOT, ["Start page", "News", "A"]);
  expect(pinned).toHaveLength(1);
  const closed = [vi.spyOn(LibraryDatabase.prototype, "change"), vi.spyOn(LibraryDatabase.prototype, "read")];
  for (const each of closed) each.mockResolvedValue(null);
  expect(await library.remove(find(ROOT, "News"))).toBeNull();
  await library.close();
  open();
  expect(await library.exportFile("bookmarks")).toBeNull();
  await shows(ROOT, ["Start page"]);
  for (const each of closed) each.mockRestore();
  await shows(ROOT, ["Start page", "News", "A"]);
  expect(await library.exportFile("bookmarks")).toContain("https://a.example/");
});

it("leaves a bookmark, and pins, as they were where a pin cannot be written down", async () => {
  await library.toggleMark({ url: "https://a.example/", title: "A" });
  await shows(ROOT, ["Start page", "A"]);
  arePinsFull = true;
  expect(await library.change(find(ROOT, "A"), { title: "A", folder: START_PAGE })).toBeNull();
  expect(await library.change(find(START_PAGE, "Pin"), { title: "Other", folder: START_PAGE })).toBeNull();
  await shows(ROOT, ["Start page", "A"]);
  await shows(START_PAGE, ["Pin"]);
});

it("keeps bookmarks when the app is opened again", async () => {
  await library.toggleMark({ url: "https://a.example/", title: "A" });
  await library.close();
  open();
  await shows(ROOT, ["Start page", "A"]);
});

it("shows what has lost its folder, and ends where folders lie in one another", () => {
  const folder = (id: number, into: number): Entry => ({
    kind: "folder",
    id,
    folder: into,
    title: `${id}`,
    addedAt: 0,
  });
  const page: Entry = { kind: "page", id: 9, folder: 77, title: "Lost", url: "https://a.example/", addedAt: 0 };
  expect(entriesIn([folder(2, ROOT), page], ROOT).map(({ title }) => title)).toEqual(["2", "Lost"]);
  const deep = Array.from({ length: 100 }, (_, index) => folder(index + 2, index === 0 ? ROOT : index + 1));
  expect(foldersOf(deep)).toHaveLength(MOST_DEPTH);
  expect(foldersOf([folder(2, 3), folder(3, 2)])).toEqual([]);
});

it("exports folders, pins and times as browsers write them, and refuses a file that is too large", async () => {
  await library.addFolder(ROOT, 'R & "D"');
  await shows(ROOT, ["Start page", 'R & "D"']);
  await library.toggleMark({ url: "https://a.example/?a=1&b=2", title: "<A>" });
  await shows(ROOT, ["Start page", 'R & "D"', "<A>"]);
  expect(await library.exportFile("bookmarks")).toBe(`<!DOCTYPE NETSCAPE-Bookmark-file-1>
<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset=UTF-8">
<TITLE>Bookmarks</TITLE>
<H1>Bookmarks</H1>
<DL><p>
    <DT><H3 PERSONAL_TOOLBAR_FOLDER="true">Start page</H3>
    <DL><p>
        <DT><A HREF="https://pin.example/">Pin</A>
    </DL><p>
    <DT><H3>R &amp; &quot;D&quot;</H3>
    <DL><p>
    </DL><p>
    <DT><A HREF="https://a.example/?a=1&amp;b=2" ADD_DATE="1">&lt;A&gt;</A>
</DL><p>
`);
  const text = () => Promise.reject(new Error("was read"));
  expect(await library.importFile("bookmarks", { size: 20_000_001, text })).toEqual({
    why: "Cannot import the file: it is larger than 20 MB.",
  });
});
