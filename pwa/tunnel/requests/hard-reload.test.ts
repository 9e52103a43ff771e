import { expect, it } from "vitest";
import type { RequestHead } from "../../../shared/http/heads.ts";
import { requestHead } from "../../../shared/testing/http/request-heads.ts";
import { HardReload } from "./wishes.ts";

const PAGE = "https://a.example/page?1";
const head: RequestHead = { ...requestHead, topLevelOrigin: "https://a.example" };

function begun(): HardReload {
  const hardReload = new HardReload();
  hardReload.set(PAGE);
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
  hardReload.pageBegins(PAGE);
  expect(hardReload.marked(head).cache).toBe("reload");
  hardReload.pageBegins("https://a.example/other");
  expect(hardReload.marked(head)).toBe(head);

  const loaded = begun();
  loaded.set(null);
  expect(loaded.marked(head)).toBe(head);
});
