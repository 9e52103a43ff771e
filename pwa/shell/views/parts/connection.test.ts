import { expect, it } from "vitest";
import { testState } from "../../testing/test-state.ts";
import { connectionOf } from "./icons.tsx";

const url = "https://a.example/";

it("is known of a page that is there, also while that sends the frame elsewhere", () => {
  expect(connectionOf(testState({ url }))).toBe("secure");
  expect(connectionOf(testState({ url: "http://a.example/" }))).toBe("plain");
  const destination = { kind: "started", url: "http://b.example/" } as const;
  expect(connectionOf(testState({ url, destination }))).toBe("secure");
});

it("is none for an address that was typed, until its page comes", () => {
  expect(connectionOf(testState({ url, destination: { kind: "typed", url } }))).toBe("pending");
  expect(connectionOf(testState({ url, error: { code: 1, url, method: "GET", detail: "" } }))).toBe("failed");
});
