import { describe, expect, it } from "vitest";
import type { HeaderList, RequestHead } from "../../../shared/http/heads.ts";
import { responseHead } from "../../../shared/testing/http/exchange-rig.ts";
import { requestHead } from "../../../shared/testing/http/request-heads.ts";
import { DELIVERED_RESOURCES, DeliveredResources } from "./delivered-resources.ts";

const NOW = Date.parse("2026-05-01T12:00:00Z");
const date: HeaderList = [["date", "Fri, 01 May 2026 12:00:00 GMT"]];

function rig(): { resources: DeliveredResources; clock: { now: number } } {
  const clock = { now: NOW };
  return { resources: new DeliveredResources(() => clock.now), clock };
}

function picture(url = "https://a.example/1.png", head: Partial<RequestHead> = {}): RequestHead {
  return { ...requestHead, destination: "image", mode: "no-cors", url, ...head };
}

function fresh(seconds: number) {
  return { ...responseHead, headers: [...date, ["cache-control", `max-age=${seconds}`]] as HeaderList };
}

it.each<[string, number, HeaderList, boolean]>([
  ["a lifetime", 200, [["cache-control", "public, max-age=600"]], true],
  ["a date of expiry", 200, [["expires", "Fri, 01 May 2026 12:10:00 GMT"]], true],
  ["an old date of change", 200, [["last-modified", "Fri, 01 Aug 2025 12:00:00 GMT"]], true],
  ["nothing to go by", 200, [], false],
  ["a lifetime of nothing", 200, [["cache-control", "max-age=0"]], false],
  [
    "a lifetime that is over",
    200,
    [
      ["cache-control", "max-age=600"],
      ["age", "700"],
    ],
    false,
  ],
  ["a ban on keeping it", 200, [["cache-control", "no-store, max-age=600"]], false],
  [
    "a duty to ask",
    200,
    [
      ["cache-control", "no-cache"],
      ["cache-control", "max-age=600"],
    ],
    false,
  ],
  ["a failure", 500, [["cache-control", "max-age=600"]], false],
])("a page that got a resource with %s has it at hand or not", (_, status, headers, expected) => {
  const { resources } = rig();
  resources.delivered(picture(), { ...responseHead, status, headers: [...date, ...headers] });
  expect(resources.isAtHand(picture())).toBe(expected);
});

describe("what is at hand", () => {
  it("is so for the page that got it, in the way that it got it, for as long as it is fresh", () => {
    const { resources, clock } = rig();
    resources.delivered(picture(), fresh(60));
    const others: Partial<RequestHead>[] = [
      { topLevelOrigin: "https://b.example" },
      { origin: "https://b.example" },
      { destination: "script" },
      { mode: "cors" },
      { credentials: "omit" },
      { url: "https://a.example/2.png" },
    ];
    for (const other of others) expect(resources.isAtHand(picture(undefined, other))).toBe(false);
    clock.now += 59_000;
    expect(resources.isAtHand(picture())).toBe(true);
    clock.now += 1_000;
    expect(resources.isAtHand(picture())).toBe(false);
  });

  it("is not, from when the phone asks for it all the same", () => {
    const { resources } = rig();
    resources.delivered(picture(), fresh(600));
    resources.asked(picture());
    expect(resources.isAtHand(picture())).toBe(false);
    resources.delivered(picture(), fresh(600));
    expect(resources.isAtHand(picture())).toBe(false);
  });

  it("is not when it was given up half-way, and may be the next time", () => {
    const { resources } = rig();
    resources.delivered(picture(), fresh(600));
    resources.undelivered(picture());
    expect(resources.isAtHand(picture())).toBe(false);
    resources.delivered(picture(), fresh(600));
    expect(resources.isAtHand(picture())).toBe(true);
  });

  it("is limited to what came last, and survives hibernation", () => {
    const { resources, clock } = rig();
    for (let index = 0; index <= DELIVERED_RESOURCES; index += 1) {
      resources.delivered(picture(`https://a.example/${index}`), fresh(600));
    }
    const snapshot = structuredClone(resources.snapshot());
    expect(snapshot.byteLength).toBe(8 * DELIVERED_RESOURCES);
    const restored = new DeliveredResources(() => clock.now, snapshot);
    expect(restored.isAtHand(picture("https://a.example/0"))).toBe(false);
    expect(restored.isAtHand(picture("https://a.example/1"))).toBe(true);
    expect(restored.isAtHand(picture(`https://a.example/${DELIVERED_RESOURCES}`))).toBe(true);
  });
});
