import { expect, it } from "vitest";
import type { DeviceEvent } from "../../../../shared/devices.ts";
import { deviceHint, eventText } from "./devices-chunk.tsx";

const NOW = 1_800_000_000_000;
const device = { id: "x", name: "Phone", pairedAt: NOW - 86_400_000 * 3, isThis: false, guest: null, usage: null };

it("says of a device what is known", () => {
  const usage = { seenAt: NOW - 7_200_000, bytes: 1_200_000, isConnected: false };
  expect(deviceHint(device, NOW)).toBe("paired 3 days ago");
  expect(deviceHint({ ...device, usage }, NOW)).toBe("Last seen 2 hours ago · 1.2 MB used · paired 3 days ago");
  expect(deviceHint({ ...device, usage: { ...usage, isConnected: true } }, NOW)).toBe(
    "Connected · 1.2 MB used · paired 3 days ago",
  );
  const guest = { endsAt: null, mostBytes: 50_000_000 };
  expect(deviceHint({ ...device, usage, guest }, NOW)).toBe(
    "Guest · Last seen 2 hours ago · 1.2 MB of 50 MB used · paired 3 days ago",
  );
  expect(deviceHint({ ...device, guest: { endsAt: NOW, mostBytes: null } }, NOW)).toMatch(/^Guest · until .*\d/);
});

it.each([
  [{ kind: "paired", name: "Mac", with: "code" }, "Mac was paired by a code"],
  [{ kind: "unpaired", name: "Mac", by: "Phone" }, "Mac was unpaired from Phone"],
  [{ kind: "unpaired", name: "Mac", by: null }, "Mac was unpaired"],
  [{ kind: "ended", name: "Mac", why: "unused" }, "Mac was not used for 90 days"],
  [{ kind: "turned-away", name: "Mac" }, "Mac asked to come in, but is not paired any more"],
  [{ kind: "refused", count: 1 }, "A wrong key or code was refused"],
  [{ kind: "refused", count: 3 }, "3 wrong keys or codes were refused"],
  [{ kind: "key-changed", by: "Phone" }, "The access key was changed from Phone"],
])("says what happened: %j", (event, text) => {
  expect(eventText({ ...(event as DeviceEvent), at: NOW })).toBe(text);
});
