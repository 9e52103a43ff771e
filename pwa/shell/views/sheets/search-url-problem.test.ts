import { expect, it } from "vitest";
import { DEFAULT_SEARCH_URL, SEARCH_ENGINES } from "../../app/settings.ts";
import { searchUrlProblem } from "./settings-sheet.tsx";

it("offers usable engines only, the default among them", () => {
  for (const engine of SEARCH_ENGINES) expect(searchUrlProblem(engine.searchUrl)).toBeNull();
  expect(SEARCH_ENGINES.map((engine) => engine.searchUrl)).toContain(DEFAULT_SEARCH_URL);
});

it.each([
  ["https://search.example/?q=%s", null],
  ["http://localhost:8080/%s", null],
  ["https://search.example/", "The address needs %s where the words go."],
  ["search %s", "This is not a web address."],
  ["javascript:alert('%s')", "This is not a web address."],
])("%s", (searchUrl, problem) => expect(searchUrlProblem(searchUrl)).toBe(problem));
