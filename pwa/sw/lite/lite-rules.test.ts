import { expect, test } from "vitest";
import { HtmlRewriter } from "../../slot/rewrite/html-rewriter.ts";
import { LITE_RULES } from "./lite-rules.ts";

function rewrite(html: string, documentUrl = "https://a.example/b/c.html"): string {
  const context = {
    slotOrigin: "https://ropeway.example",
    realOrigin: "https://a.example",
    documentUrl,
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
  [`<base href="/d/" target="_top"><a href="e">`, `<base href="/d/" ><a href="/~https:a.example/d/e">`],
  [`<noscript><a href="/x"></noscript>`, `<noscript><a href="/~https:a.example/x"></noscript>`],
  [`<img src="/x" attributionsrc="/y">`, `<img src="/x" >`],
])("%s becomes %s", (html, rewritten) => {
  expect(rewrite(html)).toBe(rewritten);
});
