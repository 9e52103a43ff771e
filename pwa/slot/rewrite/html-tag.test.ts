import { describe, expect, it } from "vitest";
import { type Attribute, decodeReferences, nameEnd, tagEnd } from "../../../shared/web/html-tokens.ts";
import { mapMarkupValue, TagEditor } from "./html-rewriter.ts";

function scan(tag: string): [end: number, attributes: string[]] {
  const attributes: Attribute[] = [];
  const end = tagEnd(tag, nameEnd(tag, 1), attributes);
  return [end, attributes.map(({ name, value }) => `${name}|${value}`)];
}

describe("tagEnd", () => {
  it.each<[string, string, string[]]>([
    ["<a>", "<a>", []],
    ["<a/>", "<a/>", []],
    ["<a href=x>y", "<a href=x>", ["href|x"]],
    ["<a HREF = 'x>y' b>", "<a HREF = 'x>y' b>", ["href|x>y", "b|"]],
    ['<a b="1"c=2/>', '<a b="1"c=2/>', ["b|1", "c|2/"]],
    ["<a title=it's>", "<a title=it's>", ["title|it's"]],
    ["<a it's'>", "<a it's'>", ["it's'|"]],
    ['<a "b>c">', '<a "b>', ['"b|']],
    ["<a =b=c>", "<a =b=c>", ["=b|c"]],
    ["<a b=>c", "<a b=>", ["b|"]],
    ["<a b / c>", "<a b / c>", ["b|", "c|"]],
    ["<a b\n=\n'c'>", "<a b\n=\n'c'>", ["b|c"]],
  ])("%s", (tag, text, attributes) => {
    const [end, found] = scan(tag);
    expect(tag.slice(0, end)).toBe(text);
    expect(found).toEqual(attributes);
  });

  it.each(["<a", "<a ", "<a b", "<a b=", "<a b='>", '<a b="x', "<a b=x", "<a/"])("says %s is not whole", (tag) => {
    expect(scan(tag)[0]).toBe(-1);
  });
});

describe("TagEditor", () => {
  it("leaves an untouched tag alone", () => {
    const tag = "<iframe  SRC=a/ b='c'/>";
    const editor = new TagEditor(tag);
    expect(editor.get("src")).toBe("a/");
    expect(editor.get("none")).toBeNull();
    expect(editor.toString()).toBe(tag);
  });

  it("replaces, adds and removes attributes", () => {
    const editor = new TagEditor("<a x=1 href=/y?a=1&amp;b ping=p PING=q checked/>");
    editor.set("href", '/z?"&');
    editor.set("new", "1");
    editor.remove("ping");
    expect(editor.get("ping")).toBeNull();
    expect(editor.toString()).toBe('<a new="1" x=1 href="/z?&quot;&amp;"   checked/>');
  });

  it("maps markup in values, in steps", () => {
    const editor = new TagEditor('<iframe srcdoc="&lt;b>&nbsp;&amp;nbsp;">');
    editor.mapMarkup("srcdoc", (markup) => markup);
    expect(editor.toString()).toBe('<iframe srcdoc="&lt;b>&nbsp;&amp;nbsp;">');
    editor.mapMarkup("srcdoc", (markup) => markup.replace("<b>", "<i>"));
    editor.mapMarkup("srcdoc", (markup) => `"${markup}`);
    expect(editor.toString()).toBe('<iframe srcdoc="&quot;&lt;i>&nbsp;&amp;nbsp;">');
  });
});

describe("decodeReferences", () => {
  it.each([
    ["a&amp;b&#38;&#x26;", "a&b&&"],
    ["https&colon;&sol;&sol;a", "https://a"],
    ["?a&lt=1&copy=2&unknown;", "?a&lt=1&copy=2&unknown;"],
    ["a & b &", "a & b &"],
    ["&#0;&#x110000;", "\ufffd\ufffd"],
    ["java&Tab;script&NewLine;", "java\tscript\n"],
    ["&constructor;", "&constructor;"],
  ])("%s", (text, expected) => expect(decodeReferences(text)).toBe(expected));

  it("keeps what it does not know through a round trip", () => {
    expect(mapMarkupValue("&eacute;&amp;eacute; & <", (markup) => markup)).toBe("&eacute;&amp;eacute; &amp; &lt;");
  });
});
