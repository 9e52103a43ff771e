/** Documents that pages make, at `blob:` addresses. */
import type { Frame, Page } from "@playwright/test";
import { expect, testInOneApp as test } from "../fixtures/browser.ts";
import { madeByOthers } from "../fixtures/test-origin/connection-owner.ts";

/** As WordPress's editor makes its canvas: the page fills the document once it is there. */
const EDITOR = `<p>Editor</p><script>
  window.log = [];
  const html = \`<!doctype html><html><head><meta charset="utf-8"><base href="\${document.querySelector("meta[name=home]").content}">
    <script>window.frameElement._load()<\\/script><link rel="stylesheet" href="/canvas.css"></head>
    <body class="canvas"><script>document.currentScript.parentElement.setAttribute("data-ran", "")<\\/script></body></html>\`;
  const src = URL.createObjectURL(new Blob([html], { type: "text/html" }));
  const frame = document.createElement("iframe");
  frame.title = "Canvas";
  frame._load = () => log.push("script");
  frame.addEventListener("load", () => {
    log.push("load");
    const { body } = frame.contentDocument;
    body.insertAdjacentHTML("beforeend", '<h1 contenteditable>Hello – world</h1><img src="/picture.svg" alt="">');
    log.push(body.className, frame.getAttribute("src") === src, frame.src === src, frame.contentDocument.baseURI === document.baseURI);
    log.push(frame.contentWindow.getComputedStyle(body).color, body.hasAttribute("data-ran"));
    URL.revokeObjectURL(src);
  });
  frame.src = src;
  document.body.append(frame);
</script>`;

test("an editor whose canvas is a blob's document works as in a direct visit", async ({
  app,
  origin,
  direct,
  network,
}) => {
  origin.page("/", `<meta name="home" content="${origin.origin}">${EDITOR}`);
  origin.route("/canvas.css", ({ reply }) =>
    reply(200, { "content-type": "text/css" }, "body { color: rgb(1, 2, 3) }"),
  );
  const picture = `<svg xmlns="http://www.w3.org/2000/svg" width="7" height="7"/>`;
  origin.route("/picture.svg", ({ reply }) => reply(200, { "content-type": "image/svg+xml" }, picture));
  const see = async (page: Page | Frame) => {
    const log = () => page.evaluate(() => (window as unknown as { log: unknown[] }).log);
    await expect.poll(async () => (await log()).length).toBe(8);
    const canvas = page.frameLocator('iframe[title="Canvas"]');
    const heading = canvas.getByRole("heading");
    await heading.pressSequentially("Typed ");
    await expect(canvas.locator("img")).toHaveJSProperty("naturalWidth", 7);
    return { log: await log(), text: await heading.textContent() };
  };
  await direct.page.goto(`${origin.origin}/`);
  const wanted = await see(direct.page);
  expect(wanted.log.slice(0, 2)).toEqual(["script", "load"]);
  await app.goto(`${origin.origin}/`);
  expect(await see(await app.content())).toEqual(wanted);
  expect(network.leaks("localhost")).toEqual([]);
});

const WAYS = ["property", "attribute", "markup", "adopted", "script", "window", "revoked"] as const;

/** Runs in the page. @returns what the document says of itself, and how often the frame has loaded. */
function show(page: Page | Frame, way: (typeof WAYS)[number]) {
  return page.evaluate(async (by) => {
    const markup = `<p>Made here</p><script>
      let relative = "none";
      try { relative = new URL("x", document.baseURI).href } catch {}
      parent.postMessage({ relative, storage: localStorage.seen, parent: parent.document.title,
        base: document.baseURI.replace(/[^/]+$/, "").replace(/^blob:.*/, "blob:") }, "*");
    </script>`;
    const heard = new Promise((resolve) => {
      addEventListener("message", ({ data }) => resolve(data), { once: true });
    });
    localStorage.seen = "by both";
    const url = URL.createObjectURL(new Blob([markup], { type: "text/html" }));
    let frame = document.createElement("iframe");
    let loads = 0;
    const count = ({ target }: Event): void => {
      if (target instanceof HTMLIFrameElement) loads += 1;
    };
    document.addEventListener("load", count, true);
    if (by === "property" || by === "revoked") frame.src = url;
    if (by === "attribute") frame.setAttribute("src", url);
    if (by === "markup") {
      document.body.insertAdjacentHTML("beforeend", `<iframe src="${url}"></iframe>`);
      frame = [...document.querySelectorAll("iframe")].at(-1) as HTMLIFrameElement;
    } else if (by === "adopted") {
      const other = new DOMParser().parseFromString(`<iframe src="${url}"></iframe>`, "text/html");
      frame = document.adoptNode(other.querySelector("iframe") as HTMLIFrameElement);
      document.body.append(frame);
    } else document.body.append(frame);
    if (by === "script" || by === "window") {
      if (by === "script") frame.src = "/before";
      if (by === "script") await new Promise((resolve) => frame.addEventListener("load", resolve, { once: true }));
      loads = 0;
      frame.contentWindow?.location.replace(url);
    }
    if (by === "revoked") URL.revokeObjectURL(url);
    const said = await heard;
    await new Promise((resolve) => setTimeout(resolve, 300));
    document.removeEventListener("load", count, true);
    frame.remove();
    return { said, loads };
  }, way);
}

test("a frame shows a blob's document, by whatever way it gets its address", async ({
  app,
  origin,
  direct,
  network,
}) => {
  origin.page("/", "<p>Outer</p>", "Outer");
  origin.page("/before", "<p>Before</p>");
  await direct.page.goto(`${origin.origin}/`);
  await app.goto(`${origin.origin}/`);
  const content = await app.content();
  origin.forget();
  for (const way of WAYS) {
    const wanted = await show(direct.page, way);
    expect(await show(content, way), way).toEqual(wanted);
  }
  expect(network.leaks("localhost")).toEqual([]);
});

test("a frame goes from a blob's document to another, to a page and to markup of its own", async ({ app, origin }) => {
  origin.page("/", "<p>Outer</p><iframe title=Inner></iframe>");
  origin.page("/inner", "<p>A page</p>");
  await app.goto(`${origin.origin}/`);
  const content = await app.content();
  const inner = app.frame().frameLocator('iframe[title="Inner"]');
  const set = (name: "src" | "srcdoc", value: string) =>
    content.evaluate(
      ([attribute, text]) => {
        const frame = document.querySelector("iframe") as HTMLIFrameElement;
        const url = () => URL.createObjectURL(new Blob([`<p>${text}</p>`], { type: "text/html" }));
        frame[attribute] = text.startsWith("Blob") ? url() : text;
      },
      [name, value] as const,
    );
  for (const [name, value, text] of [
    ["src", "Blob one", "Blob one"],
    ["src", "Blob two", "Blob two"],
    ["src", "/inner", "A page"],
    ["src", "Blob three", "Blob three"],
    ["srcdoc", "<p>Own markup</p>", "Own markup"],
  ] as const) {
    await set(name, value);
    await expect(inner.getByText(text)).toBeVisible();
  }
});

test("a sandboxed blob's document has an origin of its own, and no network", async ({ app, edge, origin }) => {
  origin.page(
    "/",
    `<p>Outer</p><script>
       addEventListener("message", ({ data, origin }) => { document.title = data + " of " + origin; });
       const tried = "try { parent.document.title; parent.postMessage('inside', '*') } catch { parent.postMessage('outside', '*') }";
       const url = URL.createObjectURL(new Blob(["<img src='${origin.origin}/dot.png'><script>" + tried + "</" + "script>"], { type: "text/html" }));
       for (const sandboxFirst of [true, false]) {
         const frame = document.createElement("iframe");
         if (sandboxFirst) frame.sandbox = "allow-scripts";
         frame.src = url;
         frame.sandbox = "allow-scripts";
         document.body.append(frame);
       }
     </script>`,
  );
  await app.goto(`${origin.origin}/`);
  await expect.poll(async () => (await app.content()).title()).toBe("outside of null");
  await (await app.content()).evaluate(() => fetch("/echo?last"));
  expect(origin.requestsTo("/dot.png")).toEqual([]);
  expect(madeByOthers(edge.pid, origin.connections)).toEqual([]);
});

test("what no page can show is saved: files in frames, and blobs that take the page's place", async ({
  app,
  origin,
}) => {
  origin.page(
    "/",
    `<p>Bills</p><iframe title="Bill"></iframe><script>
       const url = URL.createObjectURL(new File(["%PDF-1.4"], "bill.pdf", { type: "application/pdf" }));
       document.querySelector("iframe").src = url;
       document.write("<a href='" + url + "'>Plain</a> <a target=_blank href='" + url + "'>New</a> <a download=given.pdf href='" + url + "'>Given</a>");
       document.write("<button onclick='location.href = url'>Script</button> <button onclick='window.open(url)'>Open</button>");
     </script>`,
  );
  await app.goto(`${origin.origin}/`);
  const frame = app.frame();
  const saved = async (act: () => Promise<void>): Promise<string> => {
    const download = app.page.waitForEvent("download");
    await act();
    return (await download).suggestedFilename();
  };
  expect(await saved(() => frame.frameLocator("iframe").getByText("Save bill.pdf").click())).toBe("bill.pdf");
  expect(await saved(() => frame.getByText("Plain").click())).toBe("bill.pdf");
  expect(await saved(() => frame.getByText("New").click())).toBe("bill.pdf");
  expect(await saved(() => frame.getByText("Given").click())).toBe("given.pdf");
  expect(await saved(() => frame.getByText("Script").click())).toBe("bill.pdf");
  expect(await saved(() => frame.getByText("Open").click())).toBe("bill.pdf");
  await expect(frame.getByText("Bills")).toBeVisible();
});
