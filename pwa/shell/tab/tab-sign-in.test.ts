import { expect, it } from "vitest";
import { settle } from "../../../shared/testing/turns.ts";
import { openBrowser } from "../testing/tab-rig.ts";

const [A, B] = ["https://a.example", "https://b.example"];
const asks = (origin: string, isPart = false) =>
  ({ type: "sign-in", origin, isPart, realm: "Club", isWrong: false, isRenewed: false }) as const;

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

it("a page that was refused is asked for again in its frame, whatever a boot page brings there", async () => {
  const { tab, hear, log, say } = openBrowser();
  tab.go(`${A}/club`);
  say(A, "booting");
  say(A, "slot-ready");
  hear(asks(A));
  log.length = 0;
  tab.signIn({ name: "ann", password: "sesame" });
  await settle();
  expect(log.slice(-2)).toEqual([`ask 2 ${A}/club`, `replace ${A}/club`]);
});

it("a part that its page's server refused waits, and the page stays as it is", async () => {
  const { tab, hear, show, shown, log } = openBrowser();
  tab.go(`${A}/`);
  hear(asks(A, true));
  show(`${A}/`, "a");
  hear(asks(B, true));
  expect(shown().signIn?.origin).toBe(A);
  log.length = 0;
  tab.signIn({ name: "ann", password: "sesame" });
  // It was asked before the tunnel had the answer.
  hear(asks(A, true));
  expect(shown().signIn).toBeNull();
  await settle();
  hear(asks(A, true));
  tab.signIn(null);
  await settle();
  expect(log).toEqual([`signed in to ${A}`, `not signed in to ${A}`]);

  // A part of a page that was refused itself.
  hear(asks(A));
  hear(asks(A, true));
  log.length = 0;
  tab.signIn({ name: "ann", password: "sesame" });
  await settle();
  expect(log).toContain(`ask 2 ${A}/`);
});
