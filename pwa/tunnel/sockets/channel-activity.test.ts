import { expect, it } from "vitest";
import { FakePlatform } from "../testing/fake-platform.ts";
import { ChannelActivity, FURTHER_LINK_IDLE_TIME } from "./further-sockets.ts";

const IDLE = FURTHER_LINK_IDLE_TIME;

function rig() {
  const platform = new FakePlatform();
  const over: number[] = [];
  const activity = new ChannelActivity(platform, () => over.push(platform.time));
  return { platform, over, activity };
}

it("is recent for a while after it was renewed last, and says once when that is over", () => {
  const { platform, over, activity } = rig();
  expect(activity.isRecent).toBe(false);
  activity.renew();
  platform.pass(IDLE - 1_000);
  activity.renew();
  platform.pass(IDLE - 1);
  expect([activity.isRecent, over]).toEqual([true, []]);
  platform.pass(1);
  expect([activity.isRecent, over]).toEqual([false, [2 * IDLE - 1_000]]);
  platform.pass(10 * IDLE);
  expect(over).toHaveLength(1);
});

it("begins again after it was over", () => {
  const { platform, over, activity } = rig();
  activity.renew();
  platform.pass(3 * IDLE);
  activity.renew();
  expect(activity.isRecent).toBe(true);
  platform.pass(IDLE);
  expect(over).toEqual([IDLE, 4 * IDLE]);
});

it("is over at once for a phone that slept meanwhile", () => {
  const { platform, over, activity } = rig();
  activity.renew();
  platform.sleep(10 * IDLE);
  expect([activity.isRecent, over]).toEqual([false, [10 * IDLE]]);
});

it("has what was measured looked at, not more often than is of use, and the last of it too", () => {
  const { platform, over, activity } = rig();
  for (let count = 0; count < 25; count += 1) {
    platform.pass(10);
    activity.measured();
  }
  platform.pass(1_000);
  expect(over).toEqual([10, 110, 210, 310]);
});
