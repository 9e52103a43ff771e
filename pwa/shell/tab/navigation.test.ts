import { expect, it } from "vitest";
import {
  arrive,
  comeBack,
  drawNavigation,
  fail,
  giveUp,
  LOADED,
  reload,
  STOPPED,
  sentBy,
  setOut,
} from "./navigation.ts";
import { typedNavigation } from "./navigation-request.ts";

const page = { url: "https://a.example/", title: "A", icon: "data:," };
const url = "https://b.example/";
const sent = null;

it("shows the committed page until another one commits, wherever a page sends the frame", () => {
  expect(drawNavigation(page, LOADED)).toMatchObject({ ...page, phase: "loaded" });
  expect(drawNavigation(page, { kind: "loading", sent })).toMatchObject({ ...page, phase: "loading" });
  const destination = { kind: "started", url } as const;
  const underway = { kind: "underway", destination, sent } as const;
  expect(drawNavigation(page, underway)).toMatchObject({ ...page, phase: "loading", destination });
});

it("shows at once what the person typed, and nothing of the page before with it", () => {
  const shown = { url, title: "", icon: null, phase: "loading" };
  const underway = { kind: "underway", destination: { kind: "typed", url }, sent } as const;
  expect(drawNavigation(page, underway)).toMatchObject(shown);
});

it("names the address that failed, which an error stands for", () => {
  const error = { code: 1, url, method: "GET", detail: "" };
  const shown = { url, title: "", icon: null, phase: "failed", error, destination: null };
  expect(drawNavigation(page, { kind: "failed", by: "started", error, sent })).toEqual(shown);
});

it("is idle on the start page only", () => {
  const start = { url: "", title: "", icon: null };
  expect(drawNavigation(start, LOADED).phase).toBe("idle");
  const underway = { kind: "underway", destination: { kind: "started", url }, sent } as const;
  expect(drawNavigation(start, underway)).toMatchObject({ url: "", phase: "loading" });
});

const error = { code: 1, url, method: "GET", detail: "" };
const underway = setOut(
  { kind: "started", url },
  {
    id: 1,
    request: typedNavigation(url),
    by: "started",
    retries: null,
    attempts: 0,
    mayHaveRun: false,
    isAnswered: false,
    frameWaits: null,
  },
);

it("keeps what was sent until the document is whole, or it is given up", () => {
  const loading = arrive(underway, "loading");
  expect(sentBy(loading)?.id).toBe(1);
  expect(sentBy(fail(loading, "started", error))?.id).toBe(1);
  expect(sentBy(giveUp(loading))).toBeNull();
  expect(arrive(loading, "loaded")).toEqual(LOADED);
});

it("takes a document for whole that was stopped while it was on its way", () => {
  expect(arrive(STOPPED, "loading")).toEqual(STOPPED);
  expect(arrive(LOADED, "loading")).toEqual({ kind: "loading", sent: null });
});

it("reloads no page that is not there, and comes back to none while there is another", () => {
  expect(reload(LOADED)).toEqual({ kind: "loading", sent: null });
  expect(() => reload(underway)).toThrow("Cannot reload the page: it is underway");
  expect(() => reload(fail(LOADED, "started", error))).toThrow("Cannot reload the page: it is failed");
  expect(comeBack(STOPPED, url)).toEqual(setOut({ kind: "started", url }, null));
  expect(() => comeBack(underway, url)).toThrow("Cannot come back");
});
