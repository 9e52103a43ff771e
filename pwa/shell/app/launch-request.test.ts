import { expect, it } from "vitest";
import { hearLaunches, type LaunchRequest, parseLaunch } from "./launch-request.ts";

it.each([
  ["", null, null, null],
  ["#key=K&url=https%3A%2F%2Fa.example%2F%3Fx%3D1", "K", "https://a.example/?x=1", null],
  ["#key=", null, null, null],
  ["?url=https://a.example/", null, "https://a.example/", null],
  ["?title=T&text=Look: https://a.example/x at this", null, "https://a.example/x", null],
  ["?text=two words", null, "two words", null],
  ["?view=settings", null, null, "settings"],
  ["?view=start", null, null, "start"],
  ["?view=other", null, null, null],
  ["?url=https://b.example/#url=https://a.example/", null, "https://a.example/", null],
])("reads %j", (rest, accessKey, address, view) => {
  expect(parseLaunch(new URL(`https://edge.example/${rest}`))).toEqual({ accessKey, address, view });
});

/** A queue as Chromium's: launches wait for whoever consumes them. */
function openApp(own: string, { isReload = false, waiting = [own] }: { isReload?: boolean; waiting?: string[] } = {}) {
  const opened: LaunchRequest[] = [];
  let launch = (_url: string): void => {};
  const queue = {
    setConsumer(consumer: (launch: { targetURL: string }) => void) {
      launch = (targetURL) => consumer({ targetURL });
      for (const url of waiting) launch(url);
    },
  };
  hearLaunches(queue, { own, isReload }, (request) => opened.push(request));
  return { opened, launch };
}

const SHARED = "https://edge.example/?url=https://a.example/";

it("hears what an open app is opened for, and not again what it was opened with", () => {
  const { opened, launch } = openApp(SHARED);
  expect(opened).toEqual([]);
  launch(SHARED);
  launch("https://edge.example/?view=start");
  expect(opened).toMatchObject([{ address: "https://a.example/" }, { view: "start" }]);
});

it("hears what comes while the app starts", () => {
  const own = "https://edge.example/";
  expect(openApp(own, { waiting: [own, SHARED] }).opened).toMatchObject([{ address: "https://a.example/" }]);
});

it("does not go once more, after a reload, where the app was sent before", () => {
  const { opened, launch } = openApp("https://edge.example/", { isReload: true, waiting: [SHARED] });
  expect(opened).toEqual([]);
  launch(SHARED);
  expect(opened).toHaveLength(1);
});
