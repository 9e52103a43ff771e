import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { inXml, ownTexts, pageRewriter, rewriteMarkup } from "./html-rewriter.ts";

const context = {
  slotOrigin: "http://s1.localhost:8787",
  realOrigin: "https://example.org",
  documentUrl: "https://example.org/dir/page",
  nonce: "n0",
  transformPolicy: (content: string) => `transformed ${content}`,
};
const SNIPPET = "<script src=/.ropeway/page.js></script>";

function rewrite(...chunks: string[]): string {
  const rewriter = pageRewriter(context, SNIPPET);
  return chunks.map((chunk) => rewriter.write(chunk)).join("") + rewriter.end();
}

function markup(html: string): string {
  return rewriteMarkup(html, context);
}

describe("the snippet", () => {
  it.each([
    ["<!DOCTYPE html><html><head><title>x", "<!DOCTYPE html><html><head>", "<title>x"],
    [
      "<!doctype html>\n<!-- <head> -->\n<html lang=en>\n<HEAD\nprofile='>'><meta>",
      "<!doctype html>\n<!-- <head> -->\n<html lang=en>\n<HEAD\nprofile='>'>",
      "<meta>",
    ],
    ["<!doctype html><p>text", "<!doctype html>", "<p>text"],
    ["<!doctype html><html> <body><head>", "<!doctype html><html> ", "<body><head>"],
    ["<html><header>", "<html>", "<header>"],
    ["  plain text", "  ", "plain text"],
    ["\ufeff<!doctype html><head>", "\ufeff<!doctype html><head>", ""],
    ["<?xml version='1.0'?><!doctype html></p><script>", "<?xml version='1.0'?><!doctype html></p>", "<script>"],
    ["<!doctype html></head><link>", "<!doctype html>", "</head><link>"],
    ["<!doctype html><html><", "<!doctype html><html>", "<"],
    ["<!doctype html><!--", "<!doctype html><!---->", ""],
    ["<!doctype html></", "<!doctype html>", "</"],
    ["<!doctype html><!x", "<!doctype html><!x>", ""],
    ["<!doctype html><frameset>", "<!doctype html>", "<frameset>"],
    ["", "", ""],
  ])("stands right in %j", (html, before, after) => expect(rewrite(html)).toBe(before + SNIPPET + after));

  it("comes once", () => {
    expect(rewrite("<head><head><body><head>").split(SNIPPET)).toHaveLength(2);
  });
});

describe("own addresses in full", () => {
  function rewriteTexts(html: string, mayChange = true): string {
    const rewriter = pageRewriter({ ...context, texts: ownTexts(() => mayChange) }, null);
    return [...html].map((each) => rewriter.write(each)).join("") + rewriter.end();
  }

  it.each([
    ["<track src=https://example.org/t>", '<track src="http://s1.localhost:8787/t">'],
    ["<track src=/t>", "<track src=/t>"],
    ["<use href=https://example.org/s#a>", '<use href="http://s1.localhost:8787/s#a">'],
    ["<linearGradient xlink:href=https://example.org/#a>", '<linearGradient xlink:href="http://s1.localhost:8787/#a">'],
    ["<script type=module src=https://example.org/m>", '<script type=module src="http://s1.localhost:8787/m">'],
    ["<script src=https://example.org/m>", "<script src=https://example.org/m>"],
    ["<link rel=modulepreload href=//example.org/m>", '<link rel=modulepreload href="http://s1.localhost:8787/m">'],
    ["<a href=https://example.org/#a>", "<a href=https://example.org/#a>"],
    ["<rect fill=url(https://example.org/#a)>", '<rect fill="url(http://s1.localhost:8787/#a)">'],
    ['<p fill="url(https://example.org.evil.example/#a)">', '<p fill="url(https://example.org.evil.example/#a)">'],
    ['<p style="background:url(https://example.org/a)">', '<p style="background:url(https://example.org/a)">'],
    [
      "<p fill='url(https://example.org/https://example.org/#a)'>",
      '<p fill="url(http://s1.localhost:8787/https://example.org/#a)">',
    ],
  ])("are the slot's where the browser compares: %s", (html, rewritten) => expect(markup(html)).toBe(rewritten));

  it("are the slot's in styles that refer to elements", () => {
    const style = "<style>a{filter:url(https://example.org/a#b)}b{background:url('https://example.org/c')}</style>";
    expect(rewriteTexts(style)).toBe(style.replace("https://example.org/a", "http://s1.localhost:8787/a"));
    expect(rewriteTexts(style, false)).toBe(style);
  });

  it("are the slot's in maps of imports, whose names count in full and relative", () => {
    const map = (imports: object) => `<script type=importmap>${JSON.stringify({ imports })}</script>`;
    const names = { "https://example.org/a": "/b", "./c": "https://example.org/d", bare: "https://other.example/" };
    expect(rewriteTexts(map(names))).toBe(
      map({
        "https://example.org/a": "/b",
        "http://s1.localhost:8787/a": "/b",
        "https://example.org/dir/c": "http://s1.localhost:8787/d",
        "http://s1.localhost:8787/dir/c": "http://s1.localhost:8787/d",
        bare: "https://other.example/",
      }),
    );
    const scopes = (at: string) => ({ scopes: { [at]: { x: { "https://example.org/y": "https://example.org/z" } } } });
    const both = { ...scopes("https://example.org/s").scopes, ...scopes("http://s1.localhost:8787/s").scopes };
    const script = (text: object) => `<script type=importmap>${JSON.stringify(text)}</script>`;
    expect(rewriteTexts(script(scopes("https://example.org/s")))).toBe(script({ scopes: both }));
    for (const other of ["<script type=importmap>{https://example.org/a</script>", `<script>${map({})}`])
      expect(rewriteTexts(other)).toBe(other);
    expect(rewriteTexts(map(names), false)).toBe(map(names));
  });
});

describe("frames", () => {
  it.each([
    [
      "<iframe src=https://video.example/e?a=1&amp;b>",
      '<iframe src="/.ropeway/frame?url=https%3A%2F%2Fvideo.example%2Fe%3Fa%3D1%26b">',
    ],
    [
      "<frame src='//video.example/'>",
      '<frame src="/.ropeway/frame?url=https%3A%2F%2Fvideo.example%2F&amp;written=%2F%2Fvideo.example%2F">',
    ],
    ["<iframe src=https&colon;//video.example/>", '<iframe src="/.ropeway/frame?url=https%3A%2F%2Fvideo.example%2F">'],
    ["<iframe src=https://example.org/x>", '<iframe src="http://s1.localhost:8787/x">'],
    ["<iframe src=/x>", "<iframe src=/x>"],
    ["<iframe src=about:blank>", "<iframe src=about:blank>"],
    ["<iframe>", "<iframe>"],
    ["<iframe credentialless csp='x' src=/x>", "<iframe   src=/x>"],
    [
      "<base href=https://cdn.example/><iframe src=x>",
      '<base href=https://cdn.example/><iframe src="http://s1.localhost:8787/.ropeway/frame?url=https%3A%2F%2Fcdn.example%2Fx&amp;written=x">',
    ],
  ])("%s", (html, expected) => expect(markup(html)).toBe(expected));

  it("rewrites srcdoc with the same rules", () => {
    const script = `&lt;script src=&quot;${context.slotOrigin}/.ropeway/page.js&quot; nonce=&quot;n0&quot;>&lt;/script>`;
    expect(markup(`<iframe srcdoc="<p>&nbsp;<iframe src='https://a.example/'></iframe>">`)).toBe(
      `<iframe srcdoc="${script}&lt;p>&nbsp;&lt;iframe src=&quot;/.ropeway/frame?url=https%3A%2F%2Fa.example%2F&quot;>&lt;/iframe>">`,
    );
    expect(markup('<iframe srcdoc="<!doctype html><head><p>">')).toBe(
      `<iframe srcdoc="&lt;!doctype html>&lt;head>${script}&lt;p>">`,
    );
  });

  it("keeps sandboxed frames under the service worker, or without network", () => {
    expect(markup("<iframe sandbox src=/x>")).toBe('<iframe sandbox="allow-same-origin" src=/x>');
    expect(markup("<iframe sandbox=allow-scripts src=https://a.example/>")).toBe(
      '<iframe sandbox="allow-scripts allow-same-origin" src="/.ropeway/frame?url=https%3A%2F%2Fa.example%2F">',
    );
    expect(markup("<iframe sandbox=allow-scripts src=/x>")).toBe(
      '<iframe sandbox=allow-scripts src="/.ropeway/frame?url=https%3A%2F%2Fexample.org%2Fx&amp;written=%2Fx&amp;closed=1">',
    );
    expect(markup("<iframe sandbox=allow-scripts srcdoc='<p>'>")).toMatch(
      /^<iframe sandbox=allow-scripts srcdoc="&lt;meta http-equiv=&quot;Content-Security-Policy&quot;.*>&lt;p>">$/,
    );
    const open = "<iframe sandbox='allow-scripts allow-same-origin' src=/x>";
    expect(markup(open)).toBe(open);
  });

  it("changes nothing the second time", () => {
    const html = `<iframe srcdoc="<html><p>"></iframe><iframe sandbox=allow-scripts srcdoc=x></iframe><iframe sandbox=allow-scripts src=/x></iframe>
      <iframe sandbox src=https://a.example></iframe><link rel="preconnect icon"><object data=x></object>`;
    expect(markup(markup(html))).toBe(markup(html));
  });
});

describe("other elements", () => {
  it.each([
    ["<link rel='preconnect' href=x>", '<link rel="ropeway-preconnect" href=x>'],
    ["<link rel=stylesheet href=x>", "<link rel=stylesheet href=x>"],
    [
      "<meta http-equiv=Content-Security-Policy content=\"img-src 'self'\">",
      "<meta http-equiv=Content-Security-Policy content=\"transformed img-src 'self'\">",
    ],
    [
      "<meta http-equiv=refresh content='3;url=https://a.example/'>",
      '<meta http-equiv=refresh content="3; url=/.ropeway/go?url=https%3A%2F%2Fa.example%2F">',
    ],
    ["<meta http-equiv=refresh content='3;url=next'>", "<meta http-equiv=refresh content='3;url=next'>"],
    ["<meta http-equiv=x-dns-prefetch-control content=on>", '<meta http-equiv=x-dns-prefetch-control content="off">'],
    ["<meta name=description content=x>", "<meta name=description content=x>"],
    ["<script type=speculationrules>{}</script>", '<script type="ropeway-speculationrules">{}</script>'],
    ["<script type=' WebBundle'>{}</script>", '<script type="ropeway-webbundle">{}</script>'],
    ["<object type=a data=b>", '<object data-ropeway-data="b" type=a >'],
    ["<embed src=b>", '<embed data-ropeway-src="b" >'],
    ["<a href=x ping=y>", "<a href=x >"],
    ["<area PING='y' href=x>", "<area  href=x>"],
    ["<base href=https://example.org/sub/>", '<base href="http://s1.localhost:8787/sub/">'],
    ["<base href=/sub/>", "<base href=/sub/>"],
  ])("%s", (html, expected) => expect(markup(html)).toBe(expected));
});

describe("the tokenizer", () => {
  const frame = "<iframe src=https://a.example/>";
  const done = '<iframe src="/.ropeway/frame?url=https%3A%2F%2Fa.example%2F">';

  it.each([
    ["comment", `<!-- ${frame} -->`],
    ["comment that a bang does not close", `<!--!>${frame}-->`],
    ["comment with three dashes and a bang", `<!---!>${frame}-->`],
    ["bogus comment", `<? ${frame.replace(">", "")} >`],
    ["script", `<script>"${frame}"</script>`],
    ["escaped script", `<script><!-- <script> </script> ${frame} --></script>`],
    ["script name prefix", `<script></scripty>${frame}</script>`],
    ["style", `<style>${frame}</style >`],
    ["textarea", `<TextArea>${frame}</TEXTAREA>`],
    ["title", `<title>${frame}</title>`],
    ["noscript", `<noscript>${frame}</noscript>`],
    ["iframe content", `<iframe>${frame}</iframe>`],
    ["plaintext", `<plaintext>${frame}</plaintext>${frame}`],
    ["attribute value", `<p title="${frame}">`],
    ["CDATA in foreign content", `<svg><![CDATA[ ${frame} ]]></svg>`],
    ["unfinished tag", `<iframe src="https://a.example`],
  ])("sees no tag in %s", (_name, html) => expect(rewrite(`<head>${html}`)).toBe(`<head>${SNIPPET}${html}`));

  it.each([
    ["empty comment", `<!-->`],
    ["short comment", `<!--->`],
    ["comment closed with a bang", `<!-- --!>`],
    ["empty end tag", `</>`],
    ["bogus end tag", `</ ">`],
    ["script with an escape left", `<script><!-- </script>`],
    ["script with an escape closed", `<script><!--><script></script>`],
    ["script in script, closed", `<script><!-- <script> </script> </script>`],
    ["self-closed raw text in foreign content", `<svg><title/></svg>`],
    ["CDATA outside foreign content", `<![CDATA[ > `],
    ["stray quotes", `<p title=it's "> `],
    ["less-than in text", `a < b <1 `],
  ])("sees the tag after %s", (_name, html) => {
    expect(rewrite(`<head>${html}${frame}`)).toBe(`<head>${SNIPPET}${html}${done}`);
  });
});

const piece = fc.constantFrom(
  "<!doctype html>",
  "<html>",
  "<head>",
  "<!--",
  "-->",
  "--!>",
  "<script>",
  "</script>",
  "<title>",
  "</title >",
  "<svg>",
  "<![CDATA[",
  "]]>",
  "<iframe src='//a.example/?\"'>",
  "</iframe>",
  "<a ping=x href=y>",
  "<link rel=preconnect>",
  "<base href='/b/'>",
  "<",
  "</",
  "<!",
  "text",
  " ",
  ">",
  "'",
  '"',
  "=",
);

describe("properties", () => {
  const documents = fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join(""));

  it("gives the same output for any chunking", () => {
    fc.assert(
      fc.property(documents, fc.array(fc.nat(), { maxLength: 20 }), (html, cuts) => {
        const at = [0, ...cuts.map((cut) => cut % (html.length + 1)), html.length].sort((a, b) => a - b);
        const chunks = at.slice(1).map((end, index) => html.slice(at[index], end));
        expect(rewrite(...chunks)).toBe(rewrite(html));
        expect(rewrite(...html)).toBe(rewrite(html));
      }),
      { numRuns: 2000 },
    );
  });

  it("changes documents without affected tags by the snippet alone", () => {
    const tags = /<(?:iframe|a|link|base)/;
    // A comment or declaration that the end cuts off is closed, for the snippet not to be part of it.
    const closes = ["", ">", "-->"];
    fc.assert(
      fc.property(
        documents.filter((html) => !tags.test(html)),
        (html) => {
          const rewritten = rewrite(html);
          expect(closes.map((close) => rewritten.replace(close + SNIPPET, ""))).toContain(html);
        },
      ),
      { numRuns: 1000 },
    );
  });
});

it.each([1, 7, 100])("finds a tag however long it is, in pieces of %i", (size) => {
  const tag = (value: string) => `<iframe ${"a='>' ".repeat(300)}title="${"x>".repeat(5_000)}" src=${value}><p>`;
  const html = `<head>${tag("https://a.example/")}`;
  const pieces = html.match(new RegExp(`.{1,${size}}`, "gs")) ?? [];
  expect(rewrite(...pieces)).toBe(`<head>${SNIPPET}${tag('"/.ropeway/frame?url=https%3A%2F%2Fa.example%2F"')}`);
});

it("shows nothing of a document in eight others", () => {
  const nest = (depth: number): string =>
    depth === 0
      ? "<p>text"
      : `<iframe srcdoc="${nest(depth - 1)
          .replaceAll("&", "&amp;")
          .replaceAll('"', "&quot;")}">`;
  expect(markup(nest(8))).toContain("text");
  expect(markup(nest(9))).not.toContain("text");
});

it("rewrites as chunks come", () => {
  const rewriter = pageRewriter(context, SNIPPET);
  const chunks = ["<he", "ad><p", ">x"].map((chunk) => rewriter.write(chunk));
  expect([...chunks, rewriter.end()]).toEqual(["", `<head>${SNIPPET}`, "<p>x", ""]);
});

describe("XML", () => {
  const xml = (text: string, piece = text.length) => {
    const rewriter = pageRewriter(context, inXml("<script ></script>"), "xml");
    let out = "";
    for (let at = 0; at < text.length; at += piece) out += rewriter.write(text.slice(at, at + piece));
    return out + rewriter.end();
  };
  const SCRIPT = '<script xmlns="http://www.w3.org/1999/xhtml" ></script>';

  it.each([
    ["behind the first tag", "<?xml version='1.0'?><!-- <a> --><html><head/></html>", "<html>", "<head/>"],
    ["in a root that closes itself", "<svg a='>'/>", "<svg a='>'>", "</svg>"],
    ["not in a type's declarations", '<!DOCTYPE svg [<!ENTITY a "b">]><s:svg></s:svg>', "<s:svg>", "</s:svg>"],
    ["not in what a processor is told", "<?x <a> ?><!--><b>--><svg></svg>", "<svg>", "</svg>"],
  ])("gets the script %s", (_where, text, before, after) => {
    for (const piece of [1, 3, text.length]) expect(xml(text, piece)).toContain(before + SCRIPT + after);
  });

  it("is read as XML: no element has text alone, and sections are text", () => {
    const text =
      "<html><script src='a'/><title><![CDATA[<link rel=preconnect>]]></title><iframe credentialless='' src='b'/>";
    expect(xml(text)).toBe(`<html>${SCRIPT}${text.slice(6).replace("credentialless=''", "")}`);
  });

  it("is changed as HTML, by names without their prefix, and stays well formed", () => {
    expect(xml("<a><h:iframe srcdoc='&lt;p>'/>")).toMatch(/<h:iframe srcdoc="[^<]*&lt;p>"\/>$/);
    expect(xml("<a><use xlink:href='https://example.org/x#y'/>")).toContain('<use xlink:href="http');
  });

  it("is not made another document by XSLT", () => {
    const text = "<?xml-stylesheet type='text/css' href='a'?><?xml-stylesheet href='b' type='text/xsl'?><a/>";
    for (const piece of [1, 20, text.length])
      expect(xml(text, piece)).toBe(
        `<?xml-stylesheet type='text/css' href='a'?><?xml-stylesheet type='' href='b' type='text/xsl'?><a>${SCRIPT}</a>`,
      );
  });
  it("without a root gets nothing", () => expect(xml("<!-- x -->")).toBe("<!-- x -->"));
});

it("takes of a base that is longer than addresses are the origin, which decides where frames go", () => {
  const base = (host: string) => `<base href="${host}/${"a/".repeat(2_000)}">`;
  const frameOf = (host: string) => markup(`${base(host)}<p><iframe src=/b></iframe>`).split("<p>")[1];
  expect(frameOf("//cdn.example")).toBe(
    '<iframe src="http://s1.localhost:8787/.ropeway/frame?url=https%3A%2F%2Fcdn.example%2Fb&amp;written=%2Fb"></iframe>',
  );
  expect(frameOf("//example.org")).toBe("<iframe src=/b></iframe>");
});
