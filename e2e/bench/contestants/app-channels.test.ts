import { describe, expect, it } from "vitest";
import { channelFault, pushesSince, usedChannels } from "./app-channels.ts";

const seen = (...channels: number[]) => channels.map((count) => ({ channels: count, socketsOpened: count }));

it("of the pushes counts those of the visit, and of no pushes no part", () => {
  const said = (pushes: number, pushesClaimed: number) => ({ sockets: 1, socketsOpened: 1, pushes, pushesClaimed });
  expect(pushesSince(null, said(4, 3))).toEqual({ pushes: 4, pushesOfUse: 0.75 });
  expect(pushesSince(said(10, 2), said(14, 6))).toEqual({ pushes: 4, pushesOfUse: 1 });
  expect(pushesSince(said(4, 3), said(4, 3))).toEqual({ pushes: 0 });
});

describe("channels of a visit", () => {
  it("are those attached, or the one socket of an app that knows no channels", () => {
    expect(usedChannels({ sockets: 4, socketsOpened: 5, channels: 3 })).toEqual({ channels: 3, socketsOpened: 5 });
    expect(usedChannels({ sockets: 1, socketsOpened: 2 })).toEqual({ channels: 1, socketsOpened: 2 });
  });

  it("are what was asked for, before the visit or after it, and never more", () => {
    expect(channelFault(null, seen(4, 2))).toBeNull();
    expect(channelFault(3, seen(3, 2))).toBeNull();
    expect(channelFault(3, seen(1, 3))).toBeNull();
    expect(channelFault(3, seen(1, 1))).toBe("Cannot visit with 3 channels: the app had 1, then 1");
    expect(channelFault(1, seen(1, 2))).toBe("Cannot visit with 1 channel: the app had 1, then 2");
  });
});
