import { expect, it } from "vitest";
import { ErrorCode } from "../../../shared/errors.ts";
import { testState } from "../testing/test-state.ts";
import { announcement } from "./mount.tsx";

const url = "https://www.example.com/a";

it.each([
  ["", testState()],
  ["Loading example.com", testState({ phase: "loading", url })],
  ["Stopped loading example.com", testState({ phase: "idle", url })],
  ["A page loaded", testState({ phase: "loaded", url, title: "A page" })],
  ["example.com loaded", testState({ phase: "loaded", url })],
  ["Offline", testState({ phase: "loaded", url, link: { kind: "offline", since: 0 } })],
  ["Waiting for the link", testState({ phase: "loading", url, link: { kind: "waiting", since: 0, retryAt: 9 } })],
  ["Waiting for the link", testState({ phase: "loading", url, link: { kind: "connecting", since: 0, attempt: 2 } })],
  ["Loading example.com", testState({ phase: "loading", url, link: { kind: "connecting", since: 0, attempt: 1 } })],
  ["Waiting for the link", testState({ phase: "loaded", url, link: { kind: "stalled", since: 0 } })],
  [
    "example.com may have got what you sent; the answer was lost",
    testState({ phase: "loaded", url, notice: { kind: "uncertain", url } }),
  ],
  [
    "To reload this page, what you sent to example.com has to be sent again",
    testState({ phase: "loaded", url, notice: { kind: "resend", url } }),
  ],
  [
    "A part of example.com is not shown here",
    testState({ phase: "loaded", url, notice: { kind: "trouble", trouble: "frame", url } }),
  ],
  [
    "other.example did not open. No site with this name.",
    testState({
      phase: "loaded",
      url,
      unopened: { code: ErrorCode.NAME_NOT_RESOLVED, url: "https://other.example/", method: "GET", detail: "" },
    }),
  ],
  [
    "You are offline",
    testState({
      phase: "failed",
      url,
      link: { kind: "offline", since: 0 },
      error: { code: ErrorCode.OFFLINE, url, method: "GET", detail: "" },
    }),
  ],
])("says “%s”", (words, state) => expect(announcement(state)).toBe(words));

it("does not change while numbers do", () => {
  const loading = testState({ phase: "loading", url });
  expect(announcement({ ...loading, progress: 0.7 })).toBe(announcement(loading));
});
