import { expect, it } from "vitest";
import { setTimer } from "../../../shared/clock.ts";
import type { RequestHead } from "../../../shared/http/heads.ts";
import { requestHead } from "../../../shared/testing/http/request-heads.ts";
import { Wishes } from "./wishes.ts";

const PAGE = "https://a.example/page?1";
const head: RequestHead = { ...requestHead, topLevelOrigin: "https://a.example" };

function begun(): Wishes {
  const hardReload = new Wishes({ roundTrip: () => null, pageBytes: () => 0, setTimer });
  hardReload.reload(PAGE);
  return hardReload;
}

it("asks past the store for all that the page loads, and for nothing of other pages", () => {
  const hardReload = begun();
  expect(hardReload.marked(head).cache).toBe("reload");
  expect(hardReload.marked({ ...head, cache: "force-cache" }).cache).toBe("reload");
  expect(hardReload.marked({ ...head, cache: "only-if-cached" }).cache).toBe("only-if-cached");
  expect(hardReload.marked({ ...head, cache: "no-store" }).cache).toBe("no-store");
  const other = { ...head, topLevelOrigin: "https://b.example" };
  expect(hardReload.marked(other)).toBe(other);
});

it("goes on while the page itself begins, and ends with the next page, or once it is there", () => {
  const hardReload = begun();
  hardReload.begin(PAGE);
  expect(hardReload.marked(head).cache).toBe("reload");
  hardReload.begin("https://a.example/other");
  expect(hardReload.marked(head)).toBe(head);

  const loaded = begun();
  loaded.reload(null);
  expect(loaded.marked(head)).toBe(head);
});
