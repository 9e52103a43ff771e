import { expect, it } from "vitest";
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
