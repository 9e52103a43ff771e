import { expect, it } from "vitest";
import { settle } from "../../../shared/testing/turns.ts";
import { openBrowser } from "../testing/tab-rig.ts";

const [A, B] = ["https://a.example", "https://b.example"];
const asks = (origin: string) =>
  ({ type: "sign-in", origin, realm: "Club", isWrong: false, isRenewed: false }) as const;

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
  hear(asks(A));
  expect(shown().signIn).toBeNull();
  show(`${A}/club`, "a");
  expect(shown().signIn).toMatchObject({ origin: A });
  log.length = 0;
  tab.signIn({ name: "ann", password: "sesame" });
  await settle();
  expect(log.slice(-2)).toEqual([`ask 2 ${A}/club`, `replace ${A}/club`]);
});
