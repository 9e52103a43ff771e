import { expect, it } from "vitest";
import { settle } from "../../../shared/testing/turns.ts";
import type { PageToShell } from "../../messages/page-messages.ts";
import { MESSAGE_TAG } from "../../messages/page-messages.ts";
import { openBrowser } from "../testing/tab-rig.ts";

const [A, B] = ["https://a.example", "https://b.example"];
const asks = (origin: string, isPart = false, path = "/") =>
  ({ type: "sign-in", origin, url: origin + path, realm: "Club", isWrong: false, isPart }) as const;

it("a server's question is shown over its own pages alone, wherever the history leads", () => {
  const { tab, hear, show, shown } = openBrowser();
  tab.go(`${A}/`);
  hear(asks(B));
  show(`${A}/`, "a");
  expect(shown().signIn).toBeNull();
  tab.go(`${B}/club`);
  hear(asks(B));
  show(`${B}/club`, "b");
  expect(shown().signIn).toMatchObject({ origin: B });
  show(`${A}/`, "a");
  expect(shown().signIn).toBeNull();
});

it("a server's question is shown once a redirect has led to its page", () => {
  const { tab, hear, show, shown } = openBrowser();
  tab.go(`${A}/`);
  hear(asks(B));
  expect(shown().signIn).toBeNull();
  hear({ type: "navigation", kind: "moved", id: 1, url: `${B}/club` });
  show(`${B}/club`, "b");
  expect(shown().signIn).toMatchObject({ origin: B });
});

it("a server's question is shown once the frame has the refused page, which is asked for again with the answer", async () => {
  const { tab, hear, log, say, show, shown } = openBrowser();
  tab.go(`${A}/club`);
  say(A, "booting");
  say(A, "slot-ready");
  hear(asks(A, false, "/club"));
  expect(shown().signIn).toBeNull();
  show(`${A}/club`, "a");
  expect(shown().signIn).toMatchObject({ origin: A });
  log.length = 0;
  tab.signIn({ name: "ann", password: "sesame" });
  await settle();
  expect(log.slice(-2)).toEqual([`ask 2 ${A}/club`, `replace ${A}/club`]);
});

it("asks once for the parts of a page, which comes once more with the answer", async () => {
  const { tab, hear, log, show, shown } = openBrowser();
  tab.go(`${A}/`);
  hear(asks(A, true));
  expect(shown().signIn).toBeNull();
  show(`${A}/`, "a");
  expect(shown().signIn).toMatchObject({ origin: A, isPart: true });
  tab.signIn(null);
  hear(asks(A, true));
  expect(shown().signIn).toBeNull();
  // Of a frame's site, or of the page before.
  hear(asks(B, true));
  expect(shown().signIn).toBeNull();

  tab.go(`${A}/again`);
  show(`${A}/again`, "b");
  hear(asks(A, true));
  expect(shown().signIn).toMatchObject({ origin: A, isPart: true });
  log.length = 0;
  tab.signIn({ name: "ann", password: "sesame" });
  hear(asks(A, true));
  expect(shown().signIn).toBeNull();
  await settle();
  expect(log.join()).toContain("reload");
});

it("what the server wants for a page itself goes before what it wants for its parts", () => {
  const { tab, hear, show, shown } = openBrowser();
  tab.go(`${A}/`);
  hear(asks(A, true));
  hear(asks(A));
  hear(asks(A, true));
  show(`${A}/`, "a");
  expect(shown().signIn).toMatchObject({ isPart: false });
});

it("a frame of the page's own site asks as a part does", async () => {
  const { tab, hear, log, show, shown } = openBrowser();
  tab.go(`${A}/`);
  show(`${A}/`, "a");
  hear(asks(A, false, "/frame"));
  expect(shown().signIn).toMatchObject({ origin: A });
  tab.signIn(null);
  hear(asks(A, false, "/frame?2"));
  expect(shown().signIn).toBeNull();
  tab.reload();
  show(`${A}/`, "a");
  hear(asks(A, false, "/frame"));
  log.length = 0;
  tab.signIn({ name: "ann", password: "sesame" });
  await settle();
  expect(log.join()).toContain("reload");
});

it("a refusal that comes before the page says that it goes there is asked for with the page", async () => {
  const { tab, hear, hearPage, log, show, shown } = openBrowser();
  tab.go(`${A}/`);
  show(`${A}/`, "a");
  hear(asks(A, false, "/club"));
  hearPage({ tag: MESSAGE_TAG, type: "leaving", url: `${A}/club#part` } as PageToShell, A);
  expect(shown().signIn).toBeNull();
  show(`${A}/club`, "b");
  expect(shown().signIn).toMatchObject({ url: `${A}/club` });
  log.length = 0;
  tab.signIn({ name: "ann", password: "sesame" });
  await settle();
  expect(log.join()).toContain(`ask 2 ${A}/club`);
});
