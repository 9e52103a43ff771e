import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { markup, trusted } from "./drawing.ts";

describe("markup", () => {
  it("escapes what is put in, in text and in attributes", () => {
    expect(markup`<p title="${`"'`}">${"<script>&"}</p>`.text).toBe('<p title="&quot;&#39;">&lt;script&gt;&amp;</p>');
  });

  it("takes markup as it is, lists one after another, and nothing for null and false", () => {
    const items = ["a<b", "c"].map((item) => markup`<li>${item}</li>`);
    expect(markup`<ul>${items}</ul>${null}${false}${trusted("<br>")}`.text).toBe(
      "<ul><li>a&lt;b</li><li>c</li></ul><br>",
    );
  });

  it("writes lengths with two digits at most", () => {
    expect(markup`${1 / 3} ${2} ${-0.5}`.text).toBe("0.33 2 -0.5");
  });

  it("lets no text end the element or attribute that it stands in, nor break XML", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const { text: escaped } = markup`${text}`;
        expect(escaped).not.toMatch(/[<>"']|&(?!(amp|lt|gt|quot|#39);)/);
        // biome-ignore lint/suspicious/noControlCharactersInRegex: XML allows none of them
        expect(escaped).not.toMatch(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/);
        expect(escaped.isWellFormed()).toBe(true);
      }),
    );
  });
});
