import { expect, it } from "vitest";
import { setTimer } from "../../../shared/clock.ts";
import type { RequestHead } from "../../../shared/http/heads.ts";
import { requestHead } from "../../../shared/testing/http/request-heads.ts";
import { Wishes } from "./wishes.ts";

const of = (topLevelOrigin: string): RequestHead => ({ ...requestHead, topLevelOrigin });

it("lets requests go of the pages that are excepted", () => {
  const wishes = new Wishes({ roundTrip: () => null, pageBytes: () => 0, setTimer });
  expect(wishes.ofSession.blocksTrackers).toBe(false);
  wishes.set({ trackers: { areBlocked: true, exceptions: ["news.example"] } });
  expect(wishes.ofSession.blocksTrackers).toBe(true);
  expect(wishes.marked(of("https://www.news.example")).allowsTrackers).toBe(true);
  expect(wishes.marked(of("https://other.example"))).toEqual(of("https://other.example"));
  wishes.set({ trackers: { areBlocked: false, exceptions: ["news.example"] } });
  expect(wishes.marked(of("https://news.example"))).toEqual(of("https://news.example"));
});
