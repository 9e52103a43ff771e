import { afterAll, describe, expect, it, vi } from "vitest";
import { foldText } from "../../messages/find-messages.ts";

// The file reads the platform's own accessors, which Node has not.
for (const name of ["Node", "CharacterData", "Element", "Document", "ShadowRoot"]) vi.stubGlobal(name, class {});
const { Matcher } = await import("./find-text.ts");
afterAll(() => void vi.unstubAllGlobals());

/** Each text is a node of its own; null breaks. @returns matches as "node:place" of their first and last character. */
function matches(needle: string, ...texts: readonly (string | null)[]): readonly string[] {
  const matcher = new Matcher(foldText(needle));
  const found: string[] = [];
  for (const text of texts) {
    if (text === null) matcher.break();
    const node = text as unknown as Text;
    let at = 0;
    for (const character of text ?? "") {
      const places = matcher.add(character, node, at) ?? [];
      const [first, last] = [places[0], places.at(-1)];
      if (first && last) found.push(`${first.node}:${first.at} ${last.node}:${last.at}`);
      at += character.length;
    }
  }
  return found;
}

describe("Matcher", () => {
  it("finds a text across nodes, and not across what parts them", () => {
    expect(matches("boat", "a bo", "at")).toEqual(["a bo:2 at:1"]);
    expect(matches("boat", "a bo", null, "at")).toEqual([]);
  });

  it("takes several spaces for one, also across nodes, and none at the start of a block", () => {
    expect(matches("a b", "a  \n ", " b")).toEqual(["a  \n :0  b:1"]);
    expect(matches(" a", "  a", null, "\n a", null, "b a")).toEqual(["b a:1 b a:2"]);
  });

  it("finds letters that are folded to several, by their places in the text", () => {
    expect(matches("strasse", "die Straße.")).toEqual(["die Straße.:4 die Straße.:9"]);
    expect(matches("bold", "𝐛𝐨𝐥𝐝")).toEqual(["𝐛𝐨𝐥𝐝:0 𝐛𝐨𝐥𝐝:6"]);
  });

  it("goes on after a match, and falls back to what has come of the next", () => {
    expect(matches("aa", "aaaaa")).toEqual(["aaaaa:0 aaaaa:1", "aaaaa:2 aaaaa:3"]);
    expect(matches("aab", "aaab")).toEqual(["aaab:1 aaab:3"]);
    expect(matches("abab", "abacabab")).toEqual(["abacabab:4 abacabab:7"]);
  });

  it("finds nothing by an empty text", () => {
    expect(matches("", "abc")).toEqual([]);
  });
});
