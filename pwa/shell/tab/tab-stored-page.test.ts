import { expect, it, vi } from "vitest";
import { MESSAGE_TAG } from "../../messages/page-messages.ts";
import { openBrowser } from "../testing/tab-rig.ts";

const A = "https://a.example";

it("a page that comes as it was stored says since when, until the frame goes on", () => {
  const { tab, hear, show, shown } = openBrowser();
  tab.go(`${A}/news`);
  hear({ type: "document", kind: "stored", url: `${A}/news`, storedAt: 5 });
  hear({ type: "document", kind: "stored", url: `${A}/frame`, storedAt: 6 });
  expect(shown().storedAt).toBeNull();
  show(`${A}/news#top`, "a");
  expect(shown().storedAt).toBe(5);
  tab.reload();
  expect(shown().storedAt).toBeNull();
  hear({ type: "document", kind: "stored", url: `${A}/other`, storedAt: 7 });
  show(`${A}/news`, "a");
  expect(shown().storedAt).toBeNull();
});

it("a page that is stored says since when, also where its word that it leaves comes after the store's", () => {
  vi.useFakeTimers();
  const { hear, hearPage, show, shown } = openBrowser();
  const leave = () => hearPage({ tag: MESSAGE_TAG, type: "leaving", url: `${A}/news` }, A);
  show(`${A}/`, "a");
  hear({ type: "document", kind: "stored", url: `${A}/news`, storedAt: 5 });
  leave();
  show(`${A}/news`, "b");
  expect(shown().storedAt).toBe(5);
  vi.advanceTimersByTime(1_000);
  leave();
  show(`${A}/news`, "c");
  expect(shown().storedAt).toBeNull();
  vi.useRealTimers();
});

it("a page that was stored offers its newer version, until the person takes it or stays", () => {
  const { tab, hear, show, shown } = openBrowser();
  tab.go(`${A}/news`);
  hear({ type: "document", kind: "newer", url: `${A}/news` });
  expect(shown().hasNewer).toBe(false);
  show(`${A}/news#top`, "a");
  expect(shown().hasNewer).toBe(true);
  tab.keepVersion();
  expect(shown().hasNewer).toBe(false);
  hear({ type: "document", kind: "newer", url: `${A}/news` });
  tab.reload();
  show(`${A}/news`, "a");
  expect(shown().hasNewer).toBe(false);
  hear({ type: "document", kind: "newer", url: `${A}/other` });
  expect(shown().hasNewer).toBe(false);
});
