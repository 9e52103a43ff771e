import { expect, test } from "vitest";
import { HtmlRewriter } from "../../slot/rewrite/html-rewriter.ts";
import { LITE_RULES, withoutDeclarations } from "./lite-document.ts";

function rewrite(html: string, documentUrl = "https://a.example/b/c.html"): string {
  const context = {
    slotOrigin: "https://ropeway.example",
    realOrigin: "https://a.example",
    documentUrl,
    nonce: "",
    transformPolicy: (content: string) => `kept ${content}`,
  };
  const rewriter = new HtmlRewriter(context, null, LITE_RULES);
  return rewriter.write(html) + rewriter.end();
}

test.each([
  [`<a href="d.html#e">`, `<a href="/~https:a.example/b/d.html#e">`],
  [`<a href="#e">`, `<a href="/~https:a.example/b/c.html#e">`],
  [`<A HREF=//x.example/?y=1&amp;z>`, `<A href="/~https:x.example/?y=1&amp;z">`],
  [`<a href="/~https:x.example/y">`, `<a href="/~https:a.example/~https:x.example/y">`],
  [`<a href="https://ropeway.example/.ropeway/pair">`, `<a href="/~https:ropeway.example/.ropeway/pair">`],
  [`<area href="/x" target=_top ping=/p>`, `<area href="/~https:a.example/x"  >`],
  [`<a xlink:href="/x">`, `<a xlink:href="/~https:a.example/x">`],
  [`<a href="mailto:who@x.example?subject=y">`, `<a href="/~mailto:who@x.example?subject=y">`],
  [`<a href="javascript:run()">`, `<a href="javascript:run()">`],
  [`<a name="x">`, `<a name="x">`],
  [`<form action="">`, `<form action="">`],
  [`<form action=/x target=_blank>`, `<form action="/~https:a.example/x" >`],
  [`<button formaction="/x" formtarget="_top">`, `<button formaction="/~https:a.example/x" >`],
  [`<input type=Password>`, `<input autocomplete="new-password" type=Password>`],
  [`<iframe src="/x" srcdoc="<p>">`, `<iframe  >`],
  [`<object data="/x">`, `<object >`],
  [`<embed src="/x">`, `<embed >`],
  [`<link rel="preconnect stylesheet">`, `<link rel="ropeway-preconnect stylesheet">`],
  [`<meta http-equiv="refresh" content="0;url=/x">`, `<meta  content="0;url=/x">`],
  [
    `<meta http-equiv="content-security-policy" content="x">`,
    `<meta http-equiv="content-security-policy" content="kept x">`,
  ],
  [`<use href="#x">`, `<use href="#x">`],
  [`<use href="https://a.example/s.svg#x">`, `<use href="/~https:a.example/s.svg#x">`],
  [
    `<base href="/d/" target="_top"><a href="e">`,
    `<base href="/~https:a.example/d/" ><a href="/~https:a.example/d/e">`,
  ],
  [`<noscript><a href="/x"></noscript>`, `<noscript><a href="/~https:a.example/x"></noscript>`],
  [`<img src="/x" attributionsrc="/y">`, `<img src="/~https:a.example/x" >`],
  [`<img src=x.png>`, `<img src=x.png>`],
  [`<img src=../../x.png>`, `<img src="/~https:a.example/x.png">`],
  [`<article background=/x.png>`, `<article background="/~https:a.example/x.png">`],
  [
    `<video poster="/p"><source src=/v></video>`,
    `<video poster="/~https:a.example/p"><source src="/~https:a.example/v"></video>`,
  ],
  [
    `<img srcset="/a,b 1x, https://x.example/c 2x,d.png,,/e, /f" data-src=/g data-srcset=" /h 2w">`,
    `<img srcset="/~https:a.example/a,b 1x, https://x.example/c 2x,d.png,,/e, /~https:a.example/f" data-src="/~https:a.example/g" data-srcset=" /~https:a.example/h 2w">`,
  ],
  [`<img srcset=",,,,">`, `<img srcset=",,,,">`],
  [`<link rel=stylesheet href=/x>`, `<link rel=stylesheet href="/~https:a.example/x">`],
  [
    `<base href=//x.example/><img src=/y><img src="https://a.example/z">`,
    `<base href="https://x.example/"><img src=/y><img src="/~https:a.example/z">`,
  ],
  [`<p style="background: url(/x)">`, `<p style="background: url(&quot;/~https:a.example/x&quot;)">`],
  [
    `<svg><path fill="red"/><rect filter="url(/f.svg#a)"/><image href=/i /></svg>`,
    `<svg><path fill="red"/><rect filter="url(&quot;/~https:a.example/f.svg#a&quot;)"/><image href="/~https:a.example/i" /></svg>`,
  ],
  [`<style>p { src: url(/x) }</style><p>url(/x)`, `<style>p { src: url("/~https:a.example/x") }</style><p>url(/x)`],
  [`<style>p { src: url(/x`, `<style>p { src: url(/x`],
])("%s becomes %s", (html, rewritten) => {
  expect(rewrite(html)).toBe(rewritten);
});

test.each([
  [
    `<!DOCTYPE html [<!ATTLIST input type CDATA "password">]><html/>`,
    `<!DOCTYPE html [<! ATTLIST input type CDATA "password">]><html/>`,
  ],
  [`<!DOCTYPE html [<!ENTITY f "&#60;input/>">]><html/>`, `<!DOCTYPE html [<! ENTITY f "&#60;input/>">]><html/>`],
  [`<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.1//EN" ""><html/>`, null],
  ["<!", null],
])("%s, an XML document in pieces", (xml, changed) => {
  for (let length = 1; length <= xml.length; length++) {
    const editor = withoutDeclarations({ write: (text) => text, end: () => "" });
    let out = "";
    for (let at = 0; at < xml.length; at += length) out += editor.write(xml.slice(at, at + length));
    expect(out + editor.end()).toBe(changed ?? xml);
  }
});

test("links of a document whose address is long keep its path, and lead to its parts by themselves", () => {
  const long = `https://a.example/b/c.html?${"x".repeat(3_000)}`;
  expect(rewrite(`<a href="d"><a href="?y"><a href="#e"><a href="">`, long)).toBe(
    `<a href="/~https:a.example/b/d"><a href="/~https:a.example/b/c.html?y"><a href="#e"><a href="">`,
  );
});

test("of a base that is longer than addresses are the origin counts", () => {
  const base = `<base href="//x.example/${"y/".repeat(2_000)}">`;
  const [, links] = rewrite(`${base}<p><a href="/d"><a href="e">`).split("<p>");
  expect(links).toBe(`<a href="/~https:x.example/d"><a href="/~https:x.example/e">`);
});
