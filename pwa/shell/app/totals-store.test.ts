import { expect, it } from "vitest";
import type { TunnelStats } from "../../messages/tunnel-messages.ts";
import { MapStorage } from "../testing/map-storage.ts";
import { TotalsStore } from "./app.ts";

function stats(linkBytesUp: number, linkBytesDown: number, originBytes: number): TunnelStats {
  return { linkBytesUp, linkBytesDown, originBytes } as TunnelStats;
}

it("adds what each start and each window moved, once", () => {
  const storage = new MapStorage();
  const first = new TotalsStore(storage);
  expect(first.current).toBeNull();
  first.add(stats(1, 2, 10));
  expect(first.add(stats(1, 4, 15))).toEqual({ linkBytes: 5, originBytes: 15 });
  const second = new TotalsStore(storage);
  expect(second.add(stats(10, 10, 100))).toEqual({ linkBytes: 25, originBytes: 115 });
  expect(first.add(stats(2, 4, 15))).toEqual({ linkBytes: 26, originBytes: 115 });
});

it.each(["{", "1", '{"linkBytes":"1"}'])("begins anew with %j in storage", (json) => {
  const storage = new MapStorage();
  storage.setItem("ropeway.totals", json);
  expect(new TotalsStore(storage).current).toBeNull();
});
