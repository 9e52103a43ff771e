import { expect, it } from "vitest";
import type { KeepOutcome, KeptPage, StoreQuestion } from "../../messages/tunnel-messages.ts";
import { KeptPages } from "./phone.ts";

const pageOf = (url: string): KeptPage => ({ url, title: "A", keptAt: 1, bytes: 2, missing: 0 });

function rig(answers: (readonly KeptPage[] | KeepOutcome | null)[]) {
  const asked: StoreQuestion[] = [];
  const pages = new KeptPages({
    askStore: async (question: object) => {
      asked.push(question as StoreQuestion);
      return (answers.shift() ?? null) as never;
    },
  });
  return { pages, asked };
}

it("keeps the page that is shown, whatever place on it, and finds it again", async () => {
  const page = pageOf("https://a.example/");
  const { pages, asked } = rig([[pageOf("https://b.example/")], { page }, { page }]);
  await pages.read();
  expect(await pages.keep("https://a.example/#part", "A")).toBe("kept");
  expect(await pages.keep("https://a.example/", "A")).toBe("kept");
  expect(asked[1]).toEqual({ kind: "keep", url: "https://a.example/", title: "A" });
  expect(pages.all.map(({ url }) => url)).toEqual(["https://a.example/", "https://b.example/"]);
  expect(pages.find("https://a.example/#other")).toBe(page);
  expect(pages.find("https://a.example/other")).toBeNull();
});

it("says why a page is not kept", async () => {
  const { pages } = rig([{ refused: "forbidden" }, null]);
  expect(await pages.keep("https://a.example/", "A")).toBe("forbidden");
  expect(await pages.keep("https://a.example/", "A")).toBe("unavailable");
  expect(pages.all).toEqual([]);
});

it("keeps what it knows where the store cannot be asked", async () => {
  const { pages } = rig([[pageOf("https://a.example/")], null, []]);
  await pages.read();
  await pages.read();
  expect(pages.all).toHaveLength(1);
  await pages.unkeep("https://a.example/#x");
  expect(pages.all).toEqual([]);
});

it("shows no page of a site that is forgotten, before the store has answered", async () => {
  const { pages, asked } = rig([[pageOf("https://a.example/"), pageOf("https://b.example/")]]);
  await pages.read();
  pages.forget((url) => url.startsWith("https://a.example/"));
  expect(pages.all.map(({ url }) => url)).toEqual(["https://b.example/"]);
  expect(asked).toHaveLength(1);
});
