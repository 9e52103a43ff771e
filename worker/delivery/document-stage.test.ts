import { expect, describe as group, it } from "vitest";
import { headerValue } from "../../shared/http/head-fields.ts";
import type { HeaderList } from "../../shared/http/heads.ts";
import { describe as describeStage, documentOf } from "./document-stage.ts";

const latin = (text: string) => new Uint8Array(Buffer.from(text, "latin1"));

/** Whose body comes in pieces of one byte. */
async function shown(types: readonly string[] | string | null, body: string, more: HeaderList = [], status = 200) {
  const lines = types === null ? [] : [types].flat();
  const headers = [...lines.map((type) => ["content-type", type] as const), ...more];
  const bytes = latin(body);
  return documentOf(status, headers, async (isEnough) => {
    for (let length = 0; length < bytes.length; length++)
      if (isEnough(bytes.subarray(0, length))) return bytes.subarray(0, length);
    return bytes;
  });
}

const HTML = "<!doctype html><p>";

// What Chromium 156 makes of them on a direct visit.
group("kinds of documents", () => {
  it.each([
    [["text/html", "text/html; charset=koi8-r"], HTML, "html text/html koi8-r"],
    [["text/html; charset=koi8-r", "text/html"], HTML, "html text/html koi8-r"],
    [["text/html; charset=koi8-r, text/html"], HTML, "html text/html koi8-r"],
    [["text/html; charset=koi8-r", "text/plain"], HTML, "text text/plain null"],
    [["text/plain", "text/html"], HTML, "html text/html null"],
    [["text/html; charset=koi8-r", "*/*"], HTML, "html text/html koi8-r"],
    [["text/html; charset=koi8-r", "nonsense"], HTML, "html text/html koi8-r"],
    [null, HTML, "html text/html null"],
    ["", "\n <!-- c --><b>x</b>", "html text/html null"],
    [null, "<custom>x</custom>", "text text/plain null"],
    [null, "<?xml version='1.0'?><a/>", "xml text/xml utf-8"],
    [null, "\x89PNG\r\n\x1a\n", "image image/png null"],
    [null, "%PDF-1.4", "download application/pdf null"],
    [null, "\0\x01\x02\x03", "download application/octet-stream null"],
    ["unknown/unknown", HTML, "html text/html null"],
    ["application/unknown", "text", "text text/plain null"],
    ["*/*", HTML, "html text/html null"],
    ["html", HTML, "html text/html null"],
    ["text/plain", HTML, "text text/plain null"],
    ["text/plain", "a\0\x01", "download application/octet-stream null"],
    ["text/plain; charset=utf-8", "\xff\xd8\xff\0", "image image/jpeg null"],
    ["text/plain", "\xff\xfea\0", "text text/plain utf-16le"],
    ["text/calendar", "x", "download text/calendar null"],
    ["text/csv", "x", "download text/csv null"],
    ["text/x-vcard", "x", "download text/x-vcard null"],
    ["text/vcard", "x", "download text/vcard null"],
    ["text/markdown; charset=koi8-r", "x", "text text/markdown koi8-r"],
    ["image/jpg", "x", "image image/jpg null"],
    ["Image/PJPEG", "x", "image image/pjpeg null"],
    ["image/tiff", "x", "download image/tiff null"],
    ["application/x-javascript", "x", "text application/x-javascript null"],
    ["application/geo+json", "{}", "text application/geo+json utf-8"],
    ["application/x-json", "{}", "download application/x-json null"],
    ["image/x+json", "{}", "download image/x+json null"],
    ["application/rss+xml", "<rss/>", "text text/plain null"],
    ["application/foo+xml", "<a/>", "download application/foo+xml null"],
    ["application/xhtml+xml", "<html/>", "xml application/xhtml+xml utf-8"],
    ["image/svg+xml; charset=koi8-r", "<svg/>", "xml image/svg+xml koi8-r"],
    ["text/xml", "<?xml version='1.0' encoding=\"windows-1251\"?><a/>", "xml text/xml windows-1251"],
    ["audio/mpeg", "x", "media audio/mpeg null"],
    ["video/any", "x", "download video/any null"],
  ] as const)("%j %j is %s", async (types, body, expected) => {
    const { kind, essence, encoding } = await shown(types, body);
    expect(`${kind} ${essence} ${encoding}`).toBe(expected);
  });

  it("looks into nothing that says it is what it says", async () => {
    const nosniff: HeaderList = [["x-content-type-options", "NoSniff"]];
    expect(await shown("text/plain", "a\0\x01", nosniff)).toMatchObject({ kind: "text", essence: "text/plain" });
    expect(await shown(null, HTML, nosniff)).toMatchObject({ kind: "text", essence: "text/plain" });
  });

  it("saves what is to be saved, and shows nothing where there is nothing", async () => {
    expect(await shown("text/html", HTML, [["content-disposition", "attachment"]])).toMatchObject({ kind: "download" });
    expect(await shown("text/html", "", [], 204)).toMatchObject({ kind: "none" });
  });
});

const PAD = "x".repeat(1100);

// HTML section 13.2.3.2, "prescan a byte stream to determine its encoding", step by step.
group("encodings", () => {
  it.each([
    ["a byte order mark before the field", "text/html", "\xef\xbb\xbf<meta charset=koi8-r>", "utf-8"],
    ["big-endian UTF-16 by its mark", "text/html", "\xfe\xff\0x", "utf-16be"],
    ["little-endian UTF-16 by its mark", "text/html", "\xff\xfex\0", "utf-16le"],
    ["little-endian UTF-16 by XML's declaration", "text/html", "<\0?\0x\0m\0", "utf-16le"],
    ["big-endian UTF-16 by XML's declaration", "text/html", "\0<\0?\0x\0m", "utf-16be"],
    ["the field before the document", 'text/html;charset="koi8-r"', "<meta charset=utf-8>", "koi8-r"],
    ["the document where the field's is none", "text/html; charset=klingon", "<meta charset=big5>", "big5"],
    ["charset of an element", "text/html", "<!doctype html><META/charset='Shift_JIS'>", "shift_jis"],
    ["its older form", "text/html", '<meta http-equiv=Content-Type content="text/html; charset=big5">', "big5"],
    [
      "the older form backwards",
      "text/html",
      "<meta content='charset = \"euc-jp\"' http-equiv='content-type'>",
      "euc-jp",
    ],
    ["nothing of content alone", "text/html", '<meta content="text/html; charset=big5">', null],
    ["nothing of another pragma", "text/html", "<meta http-equiv=refresh content='charset=big5'>", null],
    [
      "charset before content",
      "text/html",
      "<meta charset=koi8-r http-equiv=content-type content='charset=big5'>",
      "koi8-r",
    ],
    ["the first of an attribute's values", "text/html", "<meta charset=koi8-r charset=big5>", "koi8-r"],
    ["the next element where one says nothing known", "text/html", "<meta charset=klingon><meta charset=big5>", "big5"],
    ["no UTF-16 that was read as ASCII", "text/html", "<meta charset=utf-16le>", "utf-8"],
    ["Windows-1252 for x-user-defined", "text/html", "<meta charset=x-user-defined>", "windows-1252"],
    ["nothing of a comment", "text/html", "<!-- <meta charset=koi8-r> -->", null],
    ["what is behind a comment of two dashes", "text/html", "<!--><meta charset=koi8-r>", "koi8-r"],
    ["nothing of an open comment", "text/html", "<!-- <meta charset=koi8-r>", null],
    ["nothing of a script's attribute", "text/html", "<script charset=koi8-r></script>", null],
    ["nothing of another element's value", "text/html", "<a title='<meta charset=koi8-r>'>", null],
    ["an element in a script", "text/html", "<script>'<meta charset=koi8-r>'</script>", "koi8-r"],
    ["nothing of an element of a longer name", "text/html", "<metadata charset=koi8-r>", null],
    ["nothing of an end tag", "text/html", "</meta charset=koi8-r>", null],
    ["nothing of a declaration", "text/html", "<!x <meta charset=koi8-r>", null],
    ["nothing of an instruction", "text/html", "<?x <meta charset=koi8-r>", null],
    ["nothing that is cut off", "text/html", "<meta charset=koi8-r", null],
    ["nothing behind the first 1,024 bytes", "text/html", `${PAD}<meta charset=koi8-r>`, null],
    ["nothing that ends behind them", "text/html", `<meta title=${PAD} charset=koi8-r>`, null],
    ["XML's declaration in HTML", "text/html", "<?xml version='1.0' encoding='koi8-r'?><p>", "koi8-r"],
    ["the element before XML's declaration", "text/html", "<?xml encoding='koi8-r'?><meta charset=big5>", "big5"],
    ["no name with a space in XML's declaration", "text/html", "<?xml encoding=' koi8-r'?>", null],
    ["no element in XML", "application/xhtml+xml", "<html><meta charset='koi8-r'/>", "utf-8"],
    ["nothing in text", "text/css", '@charset "koi8-r"; <meta charset=koi8-r>', null],
    [
      "nothing of a label that begins with a quote alone",
      "text/html",
      "<meta http-equiv=content-type content='charset=\"koi8-r'>",
      null,
    ],
    ["a label up to a semicolon", "text/html", "<meta http-equiv=content-type content='charset=koi8-r;x'>", "koi8-r"],
    [
      "the second charset where the first has no value",
      "text/html",
      "<meta http-equiv=content-type content='charset charset=koi8-r'>",
      "koi8-r",
    ],
  ] as const)("are found by %s", async (_what, type, body, encoding) => {
    expect((await shown(type, body)).encoding).toBe(encoding);
  });
});

it("says of how many labels the suffix of a page's host is, and of no other response", async () => {
  const said = async (url: string, mode = "navigate", status = 200) => {
    const response = { head: { status, headers: [["content-type", "text/html"]], url }, body: new Response("").body };
    const { head } = await describeStage(response as never, { request: { head: { mode } } } as never);
    return headerValue(head.headers, "ropeway-suffix");
  };
  expect(await said("https://www.bbc.co.uk/news")).toBe("2");
  expect(await said("https://www.example.com/")).toBe(null);
  expect(await said("http://127.0.0.1:8080/")).toBe("4");
  expect(await said("https://www.bbc.co.uk/news", "cors")).toBe(null);
  expect(await said("https://www.bbc.co.uk/news", "navigate", 302)).toBe(null);
});
