import { expect, it } from "vitest";
import { DEFAULT_SEARCH_URL, searchEngineName } from "./settings.ts";

it("names engines", () => {
  expect(searchEngineName(DEFAULT_SEARCH_URL)).toBe("DuckDuckGo");
  expect(searchEngineName("https://search.example/?q=%s")).toBe("search.example");
  expect(searchEngineName("")).toBe("the web");
});
