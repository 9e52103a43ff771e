import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Viewport } from "../../shared/http/phone-fields.ts";
import { DocumentScanner, type NamedResource, type ScanHandler, Steps } from "./document-scanner.ts";

interface Found {
  readonly resources: NamedResource[];
  readonly other: string[];
  readonly styles: (readonly [text: string, nonce: string])[];
}

function scan(...pieces: readonly string[]): Found {
  return scanFor(undefined, ...pieces);
}

function scanFor(viewport: Viewport | undefined, ...pieces: readonly string[]): Found {
  const resources: NamedResource[] = [];
  const other: string[] = [];
  const styles: (readonly [string, string])[] = [];
  const handler: ScanHandler = {
    onResource: (resource) => resources.push(resource),
    onBase: (href) => other.push(`base ${href}`),
    onReferrerPolicy: (policy) => other.push(`referrer ${policy}`),
    onContentSecurityPolicy: (content) => other.push(`policy ${content}`),
    onStyle: (text, nonce) => styles.push([text, nonce]),
  };
  const scanner = new DocumentScanner(handler, new Steps(), viewport);
  for (const piece of pieces) scanner.write(piece);
  return { resources, other, styles };
}

/** As `destination mode credentials url`. */
function named(html: string): string[] {
  return scan(html).resources.map(({ destination, mode, credentials, url }) =>
    [destination, mode, credentials, url].join(" "),
  );
}

it("names the first two backgrounds of a document: others may be of what is not shown", () => {
  const page = ["a", "b", "c"].map((url) => `<p style="background:url(${url})">${url}</p>`).join("");
  expect(scan(page).resources.map(({ url }) => url)).toEqual(["a", "b"]);
});

describe("what a document names", () => {
  it.each([
    ['<img src="a.png">', "image no-cors include a.png"],
    ["<IMG SRC=a.png/>", "image no-cors include a.png/"],
    ["<img alt='>' src='a.png?x=1&amp;y=2'>", "image no-cors include a.png?x=1&y=2"],
    ["<img crossorigin src=a>", "image cors same-origin a"],
    ["<img crossorigin=anonymous src=a>", "image cors same-origin a"],
    ["<img crossorigin=Use-Credentials src=a>", "image cors include a"],
    ["<input type=IMAGE src=a>", "image no-cors include a"],
    ["<video poster=a></video>", "image no-cors include a"],
    [`<p style="color:red;background-image:url('a')">`, "image no-cors include a"],
    [`<p style="background:url(a);${"x".repeat(9_000)}">`, "image no-cors include a"],
    ["<p style='background:url(\\61) , url(a)'>", "image no-cors include a"],
    ["<p style='background:red; background:url(a)'>", "image no-cors include a"],
    ["<script><!--<script><img src=no></script><img src=no>--></script><img src=a>", "image no-cors include a"],
    ["<script><!--</script><img src=a>", "image no-cors include a"],
    ["<p style='background: #fff url( \"a b\" ) no-repeat'>", "image no-cors include a b"],
    ["<p style=background:url(a)>", "image no-cors include a"],
    ["<p style='background:linear-gradient(rgba(0,0,0,.5), red), url(a) center'>", "image no-cors include a"],
    ["<p STYLE='BACKGROUND-IMAGE : linear-gradient(red, blue); background-image:url(a)'>", "image no-cors include a"],
    ["<p style='background:url(a)' referrerpolicy=origin crossorigin>", "image no-cors include a"],
    ["<script src=a></script>", "script no-cors include a"],
    ["<script async defer type=text/javascript src=a></script>", "script no-cors include a"],
    ["<script type=module src=a></script>", "script cors same-origin a"],
    ["<script type=module crossorigin=use-credentials src=a></script>", "script cors include a"],
    ["<script type=module nomodule src=a></script>", "script cors same-origin a"],
    ["<link rel=stylesheet href=a>", "style no-cors include a"],
    ["<link rel='prefetch StyleSheet' media=screen href=a>", "style no-cors include a"],
    ["<link rel=stylesheet type=text/css media=' all ' crossorigin href=a>", "style cors same-origin a"],
    ["<link rel=preload as=font crossorigin href=a>", "font cors same-origin a"],
    ["<link rel=preload as=image href=a>", "image no-cors include a"],
    ["<link rel=preload as=style href=a>", "style no-cors include a"],
    ["<link rel=modulepreload href=a>", "script cors same-origin a"],
    ["<link rel=modulepreload as=script href=a>", "script cors same-origin a"],
    ["<textarea></textarea><img src=a>", "image no-cors include a"],
    ["<script>'</scripty><img src=no>'</script><img src=a>", "image no-cors include a"],
    ["<!-- --><img src=a>", "image no-cors include a"],
    ["<!--><img src=a>-->", "image no-cors include a"],
    ["<noscript><img src=no></noscript><img src=a>", "image no-cors include a"],
  ])("%s", (html, expected) => {
    expect(named(html)).toEqual([expected]);
  });

  it.each([
    "<p style='background:url(data:image/gif;base64,AA)'>",
    "<p style='background:url()'>",
    "<p style='background:red; list-style:url(a)'>",
    "<p style='background:url(#a)'>",
    "<p style='background:red'>",
    "<p style='--background:url(a)'>",
    "<p style='list-style:url(a)'>",
    "<p style='background:url(a'>",
    "<p style='background:url(\\61)'>",
    "<p style='background:url(a);display: none'>",
    "<p hidden style='background:url(a)'>",
    "<template><p style='background:url(a)'></template>",
    "<img>",
    "<img src=''>",
    "<img src=' '>",
    "<img loading=lazy src=a>",
    "<img srcset='b 2x' src=a>",
    "<picture><source srcset=b><img src=a></picture>",
    "<input src=a>",
    "<video src=a></video>",
    "<audio src=a></audio>",
    "<iframe src=a></iframe>",
    "<object data=a></object>",
    "<a href=a>a</a>",
    "<script src></script>",
    "<script nomodule src=a></script>",
    "<script type=application/json src=a></script>",
    "<script type=importmap src=a></script>",
    "<link rel=icon href=a>",
    "<link rel='alternate stylesheet' href=a>",
    "<link rel=stylesheet disabled href=a>",
    "<link rel=stylesheet media=print href=a>",
    "<link rel=stylesheet media='(min-width: 1px)' href=a>",
    "<link rel=stylesheet type=text/less href=a>",
    "<link rel=preload as=fetch href=a>",
    "<link rel=preload as=image imagesrcset='b 2x' href=a>",
    "<link rel=preload as=image media=print href=a>",
    "<link rel=preload href=a>",
    "<link rel=modulepreload as=style href=a>",
    "<link rel=prefetch href=a>",
    "<link href=a>",
    "<!-- <img src=a> -->",
    "<!doctype html '<img src=a>'>",
    "<script>'<img src=a>'</script>",
    "<style>/*<img src=a>*/</style>",
    "<title><img src=a></title>",
    "<textarea><img src=a></textarea>",
    "<xmp><img src=a></xmp>",
    "<noscript><img src=a></noscript>",
    "<noscript><b><img src=a></noscript>",
    "<template><img src=a><template></template><img src=a></template>",
    "<template><base href=b></template>",
    "<plaintext><img src=a>",
    "<img src=a",
    "<img src='a>",
  ])("does not include that of %s", (html) => {
    expect(scan(html)).toMatchObject({ resources: [], other: [] });
  });

  it("tells of what changes how resources are asked for", () => {
    const html = `<base target=_top><base href=/one/><base href=/two/><meta name=Referrer content=origin>
      <meta name=referrer content=nonsense><meta http-equiv=content-security-policy content="img-src 'self'">
      <meta http-equiv=content-security-policy-report-only content="img-src 'none'">`;
    expect(scan(html).other).toEqual(["base /one/", "referrer origin", "policy img-src 'self'"]);
    const [script, image] = scan("<script src=a nonce=n></script><img referrerpolicy=no-referrer src=b>").resources;
    expect(script).toMatchObject({ nonce: "n", referrerPolicy: "" });
    expect(image).toMatchObject({ nonce: "", referrerPolicy: "no-referrer" });
  });
});

it("finds the same however the document is cut", () => {
  const part = fc.constantFrom(
    "<img src=a>",
    "<img alt='x' src=\"b?c&amp;d\">",
    "<script src=c></script>",
    "<script>if (a < b) '<img src=no>'</script>",
    "<!-- <img src=no> -->",
    "<noscript><img src=no></noscript>",
    "<template><img src=no></template>",
    "<link rel=stylesheet href=s>",
    "<base href=/x/>",
    "text &lt; & < more",
    "<p>é\u{1f600}</p>",
    "<textarea><img src=no></textarea>",
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 12 }), fc.array(fc.nat(400), { maxLength: 8 }), (parts, cuts) => {
      const html = parts.join("\n");
      const at = [0, ...cuts.filter((cut) => cut < html.length).sort((a, b) => a - b), html.length];
      const pieces = at.slice(1).map((end, index) => html.slice(at[index], end));
      expect(scan(...pieces)).toEqual(scan(html));
    }),
  );
});

describe("where the phone has told of its screen, a document names", () => {
  const phone = { width: 400, height: 800, density: 2 };

  it.each<[string, string[]]>([
    ["<img srcset='b 2x' src=a>", ["b"]],
    ["<img srcset='a 400w, b 800w' sizes='50vw'>", ["a"]],
    ["<img srcset='a 400w, b 800w' sizes=auto loading=lazy src=c>", []],
    ["<img srcset='a 400w, b 800w' sizes='(unheard-of) 1px, 2px' src=c>", []],
    ["<picture><source srcset=b><img src=a></picture><img src=c>", ["b", "c"]],
    ["<picture><source media='(min-width: 900px)' srcset=b><img src=a></picture>", ["a"]],
    ["<picture><source media='(max-width: 900px)' srcset='b, c 2x'><source srcset=d><img src=a></picture>", ["c"]],
    ["<picture><source type=image/webp srcset=b><img src=a></picture>", ["b"]],
    ["<picture><source type=image/unheard-of srcset=b><img src=a></picture>", []],
    ["<picture><source media='(prefers-color-scheme: dark)' srcset=b><img src=a></picture>", []],
    ["<picture><source srcset=b><img loading=lazy src=a></picture>", []],
    ["<noscript><picture><source srcset=b></noscript><img src=a>", ["a"]],
    ["<video><source src=b srcset=c></video><img src=a>", ["a"]],
    ["<link rel=stylesheet media='(max-width: 900px)' href=a>", ["a"]],
    ["<link rel=stylesheet media='print' href=a><link rel=stylesheet media='(hover: none)' href=b>", []],
    ["<link rel=preload as=image imagesrcset='a, b 2x' href=c>", ["b"]],
  ])("of %s that which fits", (html, urls) => {
    expect(scanFor(phone, html).resources.map(({ url }) => url)).toEqual(urls);
  });
});
