import { expect, it } from "vitest";
import { setTimer } from "../../../shared/clock.ts";
import type { RequestHead } from "../../../shared/http/heads.ts";
import { ORIGINAL } from "../../../shared/http/phone-fields.ts";
import { requestHead } from "../../../shared/testing/http/request-heads.ts";
import { Wishes } from "./wishes.ts";

const SITE = "https://a.example";
const navigation: RequestHead = { ...requestHead, url: `${SITE}/`, topLevelOrigin: SITE, mode: "navigate" };
const icon: RequestHead = { ...navigation, url: `${SITE}/icon.png`, mode: "no-cors", destination: "image" };

function wishesOfAll(): Wishes {
  const wishes = new Wishes({ roundTrip: () => null, pageBytes: () => 0, setTimer });
  wishes.set({
    pictures: { recoding: "strong", budget: 0, readers: [] },
    trackers: { areBlocked: true, exceptions: ["a.example"] },
    scriptless: ["a.example"],
    savesData: true,
  });
  wishes.reload(`${SITE}/`);
  return wishes;
}

it("marks one head with all that the person wants, whoever asks", () => {
  const wishes = wishesOfAll();
  const marks = { allowsTrackers: true, cache: "reload" };
  expect(wishes.marked(navigation)).toEqual({ ...navigation, ...marks, isScriptless: true });
  expect(wishes.marked({ ...icon, destination: "video" })).toMatchObject({ ...marks, images: { most: 0 } });
  expect(wishes.marked(icon)).toEqual({ ...icon, ...marks, takesRecoded: true });
  expect(wishes.marked(icon, true)).toEqual({ ...icon, ...marks, images: ORIGINAL });
  const other = { ...navigation, topLevelOrigin: "https://b.example" };
  expect(wishes.marked(other)).toEqual({ ...other, marksReads: true });
  const script = { ...other, mode: "no-cors", destination: "script" } as const;
  expect(wishes.marked(script)).toBe(script);
});

it("says for the whole session what no request has to say", () => {
  const images = { recoding: "strong", most: 0 };
  expect(wishesOfAll().ofSession).toEqual({ images, blocksTrackers: true, savesData: true });
});
