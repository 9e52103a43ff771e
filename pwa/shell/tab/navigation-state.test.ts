import { expect, it } from "vitest";
import { drawNavigation } from "./navigation-state.ts";

const page = { url: "https://a.example/", title: "A", icon: "data:," };
const url = "https://b.example/";

it("shows the committed page until another one commits, wherever a page sends the frame", () => {
  expect(drawNavigation(page, { kind: "committed", isLoaded: true })).toMatchObject({ ...page, phase: "loaded" });
  expect(drawNavigation(page, { kind: "committed", isLoaded: false })).toMatchObject({ ...page, phase: "loading" });
  const destination = { kind: "started", url } as const;
  expect(drawNavigation(page, destination)).toMatchObject({ ...page, phase: "loading", destination });
});

it("shows at once what the person typed, and nothing of the page before with it", () => {
  const shown = { url, title: "", icon: null, phase: "loading" };
  expect(drawNavigation(page, { kind: "typed", url })).toMatchObject(shown);
});

it("names the address that failed, which an error stands for", () => {
  const error = { code: 1, url, method: "GET", detail: "" };
  const shown = { url, title: "", icon: null, phase: "failed", error, destination: null };
  expect(drawNavigation(page, { kind: "failed", by: "started", error })).toEqual(shown);
});

it("is idle on the start page only", () => {
  const start = { url: "", title: "", icon: null };
  expect(drawNavigation(start, { kind: "committed", isLoaded: true }).phase).toBe("idle");
  expect(drawNavigation(start, { kind: "started", url })).toMatchObject({ url: "", phase: "loading" });
});
