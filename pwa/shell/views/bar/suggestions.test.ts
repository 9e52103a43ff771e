import { describe, expect, it } from "vitest";
import type { Site } from "../../app/state.ts";
import { testState } from "../../testing/test-state.ts";
import { suggest } from "./address-box.tsx";

function site(url: string, title: string): Site {
  return { url, title, icon: null };
}

const state = testState({
  pinned: [site("https://news.example/", "The News")],
  recent: [
    site("https://www.other.example/about", "About other news"),
    site("https://news.example/", "An older title"),
    site("https://third.example/a?b=newspaper", ""),
  ],
});

describe("suggest", () => {
  it("begins with what Enter does", () => {
    expect(suggest("two words", state)[0]).toMatchObject({ kind: "search", hint: "Search DuckDuckGo" });
    expect(suggest(" site.example ", state)[0]).toMatchObject({ kind: "url", input: "site.example" });
  });

  it("offers nothing to open for a scheme that cannot be loaded", () => {
    expect(suggest("mailto:name@example.com", state)).toEqual([]);
  });

  it("lists pinned, then recent sites before anything is typed, each once", () => {
    expect(suggest("", state).map((row) => row.label)).toEqual(["The News", "About other news", "third.example"]);
  });

  it("ranks the host's beginning over the title over the rest", () => {
    expect(suggest("NEWS", state).map((row) => row.hint)).toEqual([
      "Search DuckDuckGo",
      "news.example",
      "other.example/about",
      "third.example/a?b=newspaper",
    ]);
  });

  it("is bounded", () => {
    const many = Array.from({ length: 50 }, (_, index) => site(`https://s${index}.example/`, "Same"));
    expect(suggest("same", testState({ recent: many }))).toHaveLength(7);
  });
});
