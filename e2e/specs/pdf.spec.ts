/** PDFs in the app: pages, text, links and search, of files that come in pieces or whole. */
import { createHash } from "node:crypto";
import { expect, testInOneApp as test } from "../fixtures/browser.ts";

/** Closed shadow trees are open to the test. */
const OPENS = () => {
  const { attachShadow } = Element.prototype;
  if (attachShadow.name === "opened") return;
  Element.prototype.attachShadow = function opened(init) {
    return attachShadow.call(this, { ...init, mode: "open" });
  };
};

test.beforeEach(({ app }) => app.page.addInitScript(OPENS));

/** RC4, which no library has any more. */
function rc4(key: Uint8Array, text: Uint8Array): Buffer {
  const box = Uint8Array.from({ length: 256 }, (_, index) => index);
  const at = (index: number) => box[index & 255] ?? 0;
  const swap = (one: number, other: number) => {
    [box[one & 255], box[other & 255]] = [at(other), at(one)];
  };
  for (let index = 0, other = 0; index < 256; index += 1) {
    other += at(index) + (key[index % key.length] ?? 0);
    swap(index, other);
  }
  let other = 0;
  return Buffer.from(
    text.map((byte, index) => {
      other += at(index + 1);
      swap(index + 1, other);
      return byte ^ at(at(index + 1) + at(other));
    }),
  );
}

const PAD = Buffer.from("28bf4e5e4e758a4164004e56fffa01082e2e00b6d0683e802f0ca9fe6453697a", "hex");

/** How a file is locked by a password (PDF 1.7 section 7.6, 40 bits). */
function lockOf(password: string) {
  const md5 = (...parts: Uint8Array[]) => createHash("md5").update(Buffer.concat(parts)).digest();
  const padded = Buffer.concat([Buffer.from(password), PAD]).subarray(0, 32);
  const owner = rc4(md5(padded).subarray(0, 5), padded);
  const id = Buffer.alloc(16, 1);
  const key = md5(padded, owner, Buffer.from([0xfc, 0xff, 0xff, 0xff]), id).subarray(0, 5);
  const hex = (bytes: Buffer) => `<${bytes.toString("hex")}>`;
  return {
    trailer: `/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O ${hex(owner)} /U ${hex(rc4(key, PAD))} >> /ID [${hex(id)} ${hex(id)}]`,
    hide: (text: string, number: number) =>
      rc4(md5(key, Buffer.from([number & 255, number >> 8, 0, 0, 0])).subarray(0, 10), Buffer.from(text)).toString(
        "latin1",
      ),
  };
}

/** A file with a text on each page, and a link on the first to the last and to `url`. @param padding bytes that no page needs. */
function pdfOf(texts: readonly string[], url: string, padding = 0, password = ""): Buffer {
  const lock = password === "" ? null : lockOf(password);
  const pageAt = (index: number) => 4 + 2 * index;
  const link = (top: number, where: string) =>
    `<< /Type /Annot /Subtype /Link /Rect [20 ${top} 180 ${top + 20}] /Border [0 0 0] ${where} >>`;
  const links = [link(60, `/A << /S /URI /URI (${url}) >>`), link(20, `/Dest [${pageAt(texts.length - 1)} 0 R /Fit]`)];
  const hidden = (text: string, number: number) => lock?.hide(text, number) ?? text;
  const stream = (text: string) => `<< /Length ${text.length} >>\nstream\n${text}\nendstream`;
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R /OpenAction << /S /JavaScript /JS (app.alert\\(1\\)) >> >>",
    `<< /Type /Pages /Count ${texts.length} /Kids [${texts.map((_, index) => `${pageAt(index)} 0 R`).join(" ")}] >>`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ...texts.flatMap((text, index) => [
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 300] /Resources << /Font << /F 3 0 R >> >> /Contents ${pageAt(index) + 1} 0 R ${index === 0 ? `/Annots [${links.join(" ")}]` : ""} >>`,
      stream(hidden(`BT /F 18 Tf 20 200 Td (${text}) Tj ET`, pageAt(index) + 1)),
    ]),
    stream("x".repeat(padding)),
  ];
  let file = "%PDF-1.4\n";
  const places = objects.map((object, index) => {
    const at = file.length;
    file += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(at).padStart(10, "0")} 00000 n \n`;
  });
  const start = file.length;
  file += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${places.join("")}`;
  return Buffer.from(
    `${file}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R ${lock?.trailer ?? ""} >>\nstartxref\n${start}\n%%EOF\n`,
    "latin1",
  );
}

const PDF = { "content-type": "application/pdf" };

test("a PDF is read, searched, made larger and followed; of a large one only pieces come", async ({
  app,
  origin,
  network,
}) => {
  const { page } = app;
  const viewer = () => network.requests.filter(({ url }) => /page\.js\?pdf|\/pdf-/.test(url)).length;
  const file = pdfOf(["Harbour master", "Second of three", "Harbour lights"], `${origin.origin}/next`, 2_000_000);
  let refused = 0;
  origin.page("/next", "The next page");
  origin.page("/", `<a href="/book.pdf">book</a>`);
  origin.route("/book.pdf", ({ request, reply }) => {
    const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(String(request.headers.range ?? "")) ?? [];
    const fields = { ...PDF, etag: '"one"', "accept-ranges": "bytes" };
    if (first === undefined) return reply(200, { ...fields, "content-length": String(file.length) }, file);
    // The server is busy: that says nothing of the file.
    if (refused++ === 0) return reply(503, {}, "busy");
    const part = file.subarray(Number(first), Number(last) + 1);
    const range = `bytes ${first}-${Number(first) + part.length - 1}/${file.length}`;
    return reply(206, { ...fields, "content-range": range }, part);
  });
  await app.goto(`${origin.origin}/`);
  expect(viewer()).toBe(0);
  await app.navigated(() => app.frame().getByText("book").click());
  const pages = app.frame().locator(".page");
  await expect(pages.first().getByText("Harbour master")).toBeVisible();
  expect(viewer()).toBeGreaterThan(0);
  await expect(pages.first().locator("canvas")).toBeVisible();
  await expect(pages).toHaveCount(3);
  await expect(app.address).toHaveValue(`${origin.origin}/book.pdf`);
  const asked = origin.requestsTo("/book.pdf").slice(1);
  expect(asked.length).toBeGreaterThan(0);
  for (const { headers } of asked) expect(headers["if-range"]).toBe('"one"');

  const width = async () => Math.round((await pages.first().boundingBox())?.width ?? 0);
  const before = await width();
  await app.frame().getByRole("button", { name: "Larger" }).click();
  await expect.poll(width).toBe(Math.round(before * 1.25));
  await app.frame().getByRole("button", { name: "As wide as the window" }).click();
  await expect.poll(width).toBe(before);

  // Its text is selected and copied as that of a page.
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"], { origin: app.base });
  await pages
    .first()
    .getByText("Harbour master")
    .dblclick({ position: { x: 10, y: 8 } });
  await page.keyboard.press("Control+c");
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toMatch(/^Harbour ?$/);

  await page.keyboard.press("Control+f");
  await page.getByRole("textbox", { name: "Find in page" }).fill("harbour");
  await expect(page.getByRole("search").locator("output")).toHaveText("1 of 2");
  await page.getByRole("textbox", { name: "Find in page" }).press("Enter");
  await expect(pages.nth(2)).toBeInViewport();
  await page.keyboard.press("Escape");
  const number = app.frame().getByRole("textbox", { name: "Page, of 3" });
  await number.fill("1");
  await number.press("Enter");
  await expect(pages.first()).toBeInViewport({ ratio: 0.5 });
  await app.frame().getByRole("link", { name: "Within this file" }).click();
  await expect(pages.nth(2)).toBeInViewport({ ratio: 0.5 });
  await app.frame().getByRole("link", { name: "Save" }).click();
  await expect(page.getByRole("navigation").getByText("book.pdf\u2069 is downloaded")).toBeVisible();

  // The file opens in a tab, and its site hears nothing of it.
  const all = origin.requestsTo("/book.pdf").length;
  await page.getByRole("navigation").getByRole("button", { name: "Show", exact: true }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Open book.pdf" }).click();
  await expect(page.getByRole("button", { name: "Tabs: 2" })).toBeVisible();
  await expect(pages.first().getByText("Harbour master")).toBeVisible();
  await expect(pages).toHaveCount(3);
  expect(origin.requestsTo("/book.pdf")).toHaveLength(all);
  await page.evaluate(() => history.back());
  await expect(page.getByRole("button", { name: "Tabs: 2" })).toHaveCount(0);
  await number.fill("1");
  await number.press("Enter");
  await app.navigated(() =>
    app
      .frame()
      .getByRole("link", { name: `${origin.origin}/next` })
      .click(),
  );
  await expect(app.frame().getByText("The next page")).toBeVisible();
});

test("a PDF in a frame is shown, one for keeping is kept, and a broken one says so", async ({ app, origin }) => {
  const file = pdfOf(["In a frame"], "https://site.example/");
  origin.route("/framed.pdf", ({ reply }) => reply(200, PDF, file));
  origin.route("/broken.pdf", ({ reply }) => reply(200, PDF, "%PDF-1.4 and no more"));
  origin.route("/kept.pdf", ({ reply }) => reply(200, { ...PDF, "content-disposition": "attachment" }, file));
  const locked = pdfOf(["Behind a lock"], "https://site.example/", 0, "open sesame");
  origin.route("/locked.pdf", ({ reply }) => reply(200, PDF, locked));
  origin.page("/", `<iframe src="/framed.pdf"></iframe><a href="/kept.pdf">keep</a>`);
  await app.goto(`${origin.origin}/`);
  await expect(app.frame().frameLocator("iframe").locator(".page").getByText("In a frame")).toBeVisible();
  const inside = (await app.content()).childFrames()[0];
  expect(await inside?.evaluate(() => document.contentType)).toBe("application/pdf");
  const started = app.page.waitForEvent("download");
  await app.frame().getByText("keep").click();
  expect((await started).suggestedFilename()).toBe("kept.pdf");
  await app.goto(`${origin.origin}/locked.pdf`);
  for (const [label, password] of [
    ["The file is locked. Its password:", "wrong"],
    ["That password does not open the file. Its password:", "open sesame"],
  ] as const) {
    await app.frame().getByLabel(label).fill(password);
    await app.frame().getByRole("button", { name: "Open" }).click();
  }
  await expect(app.frame().locator(".page").getByText("Behind a lock")).toBeVisible();
  await app.goto(`${origin.origin}/broken.pdf`);
  await expect(app.frame().getByText("Cannot show the file: it is broken, or no PDF")).toBeVisible();
  await expect(app.frame().getByRole("link", { name: "Save" })).toBeVisible();
});

test("files of <object> and <embed> are shown, and scripts get at their documents", async ({
  app,
  origin,
  otherOrigin,
  network,
}) => {
  const serve = (path: string, type: string, body: string) =>
    origin.route(path, ({ reply }) => reply(200, { "content-type": type }, body));
  origin.route("/tide.pdf", ({ reply }) =>
    reply(200, { "content-type": "application/pdf" }, pdfOf(["Harbour"], origin.origin)),
  );
  serve(
    "/map.svg",
    "image/svg+xml",
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 120 80"><g id="pier"/></svg>`,
  );
  const dot = Buffer.from("R0lGODlhAgABAPAAAP8AAAAAACwAAAAAAgABAAACAgQKADs=", "base64");
  origin.route("/dot", ({ reply }) => reply(200, { "content-type": "image/gif" }, dot));
  origin.page("/part", `<p>Part</p><script>parent.postMessage("part of " + (parent === top), "*")</script>`);
  origin.page("/part.cgi", "<p>Part</p>");
  origin.page("/named", "<p>Named</p>");
  otherOrigin.page("/guest", "<p>Guest</p>");
  origin.page(
    "/",
    `<script>window.log = []</script><style>embed { width: 50%; height: 200px }</style>
     <script>addEventListener("message", ({ data }) => log.push(data))</script>
     <object id=pdf data="tide.pdf" type="application/pdf" width=400 height=300><p>No PDF</p></object>
     <embed id=part src="/part" type="text/html">
     <object id=map data="/map.svg" type="image/svg+xml" onload="log.push(contentDocument.querySelector('g').id)"></object>
     <object id=guest data="${otherOrigin.origin}/guest" type="text/html"></object>
     <object id=gone data="/nothing" type="text/html"><p>Fallback of one that is gone</p></object>
     <object id=flash data="/movie.swf" type="application/x-shockwave-flash"><p>Fallback of a film</p></object>
     <embed src="/movie.swf">
     <object id=dot data="/dot" type="image/gif" width=40>Dot</object>
     <object id=twice data="/named"><iframe src="/named"></iframe></object>
     <script>onload = () => {
       const late = document.createElement("object");
       late.data = "/part.cgi?of=this";
       late.id = "late";
       document.body.append(late);
     }</script>`,
  );
  await app.goto(`${origin.origin}/`);
  const page = app.frame();
  await expect(page.frameLocator("#pdf iframe").locator(".page canvas").first()).toBeVisible();
  await expect(page.getByText("No PDF")).toBeHidden();
  await expect(page.frameLocator("#part + iframe").getByText("Part")).toBeVisible();
  await expect(page.locator("#dot img")).toHaveJSProperty("naturalWidth", 2);
  await expect(page.frameLocator("#guest iframe").getByText("Guest")).toBeVisible();
  await expect(page.frameLocator("#late iframe").getByText("Part")).toBeVisible();
  await expect(page.getByText("Fallback of one that is gone")).toBeVisible();
  await expect(page.getByText("Fallback of a film")).toBeVisible();
  const content = await app.content();
  const log = () => content.evaluate(() => (window as unknown as { log: string[] }).log);
  await expect.poll(log).toEqual(expect.arrayContaining(["part of true", "pier"]));
  const sizes = await content.evaluate(() => {
    const size = (selector: string) => {
      const { width, height } = document.querySelector(selector)?.getBoundingClientRect() ?? {};
      return [width, height];
    };
    return [size("#pdf"), size("#map"), size("#dot"), size("#part + iframe")[1]];
  });
  expect(sizes).toEqual([[400, 300], [120, 80], [40, 20], 200]);
  expect(origin.requestsTo("/movie.swf")).toHaveLength(0);
  expect(origin.requestsTo("/named")).toHaveLength(1);
  // An embed that goes takes its frame along.
  await content.evaluate(() => document.querySelector("#part")?.remove());
  await expect(page.locator("body > iframe")).toHaveCount(0);

  // A policy that forbids all objects holds, as a field and as an element.
  const object = `<object data="/named"><p>Fallback of one that is forbidden</p></object>`;
  for (const [path, policy] of [
    ["/field", "default-src 'self'; object-src 'none'"],
    ["/element", ""],
  ] as const)
    origin.route(path, (exchange) =>
      exchange.page(
        policy === "" ? `<meta http-equiv="content-security-policy" content="object-src">${object}` : object,
        policy === "" ? {} : { "content-security-policy": policy },
      ),
    );
  for (const path of ["/field", "/element"]) {
    await app.goto(origin.origin + path);
    await expect(app.frame().getByText("Fallback of one that is forbidden")).toBeVisible();
    // A script that is late could still show it.
    await expect(app.frame().locator("object[data-ropeway-shown]")).toHaveCount(0);
  }
  expect(origin.requestsTo("/named")).toHaveLength(1);
  expect(network.leaks(new URL(app.base).hostname)).toEqual([]);
});
