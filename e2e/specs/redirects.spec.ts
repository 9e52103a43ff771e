import { expect, testInOneApp as test } from "../fixtures/browser.ts";
import { receivedForm } from "../fixtures/received-form.ts";

const RULES = [
  { code: 301, method: "GET" },
  { code: 302, method: "GET" },
  { code: 303, method: "GET" },
  { code: 307, method: "POST" },
  { code: 308, method: "POST" },
] as const;

/** One with a body, and one without, on each edge; tests of the edge have all. */
const tagOf = (code: number, onDeno: number) =>
  code === onDeno ? "@deno" : code === 302 || code === 307 ? [] : "@long";

for (const { code, method } of RULES) {
  test(`a form post that meets ${code} becomes ${method}`, { tag: tagOf(code, 307) }, async ({ app, origin }) => {
    origin.page(
      "/",
      `<form action="/redirect/${code}?to=/form" method="post"><input name="a" value="1"><button>Send</button></form>`,
    );
    await app.goto(`${origin.origin}/`);
    await app.navigated(() => app.frame().getByRole("button", { name: "Send" }).click());
    const received = await receivedForm(app);
    expect(received.method).toBe(method);
    expect(received.fields).toHaveLength(method === "POST" ? 1 : 0);
    expect(origin.requests.filter(({ path }) => path.startsWith("/redirect/"))).toHaveLength(1);
  });

  test(`a fetch that meets ${code} ends as ${method}, redirected, at the final address`, {
    tag: tagOf(code, 302),
  }, async ({ app, origin }) => {
    origin.page("/", "<p>Asker</p>");
    await app.goto(`${origin.origin}/`);
    const answer = await (await app.content()).evaluate(async (status) => {
      const response = await fetch(`/redirect/${status}?to=/echo`, { method: "POST", body: "x=1" });
      const { method, body } = (await response.json()) as { method: string; body: string };
      return { method, body, redirected: response.redirected, path: new URL(response.url).pathname };
    }, code);
    expect(answer).toEqual({ method, body: method === "POST" ? "x=1" : "", redirected: true, path: "/echo" });
  });
}

test("fetch and XHR tell the final address, on this site and on another", async ({ app, origin, otherOrigin }) => {
  origin.page("/", "<p>Asker</p>");
  await app.goto(`${origin.origin}/`);
  const answer = await (await app.content()).evaluate(async (other) => {
    const away = await fetch(`/redirect/302?to=${encodeURIComponent(`${other}/cors/any`)}`);
    const request = new XMLHttpRequest();
    request.open("POST", "/redirect/308?to=/echo");
    await new Promise((resolve) => {
      request.onloadend = resolve;
      request.send("y=2");
    });
    const { pathname, search, hash } = new URL(request.responseURL);
    return {
      away: { text: await away.text(), url: away.url, redirected: away.redirected },
      xhr: { url: pathname + search + hash, body: (JSON.parse(request.responseText) as { body: string }).body },
    };
  }, otherOrigin.origin);
  expect(answer).toEqual({
    away: { text: "cors", url: `${otherOrigin.origin}/cors/any`, redirected: true },
    xhr: { url: "/echo", body: "y=2" },
  });
  expect(origin.requestsTo("/echo")).toHaveLength(1);
  expect(otherOrigin.requestsTo("/cors/any")).toHaveLength(1);
});

test("what scripts and styles name after a redirect is relative to the final address", async ({ app, origin }) => {
  const file = (path: string, type: string, text: string): void =>
    origin.route(path, (exchange) => exchange.reply(200, { "content-type": type }, text));
  file("/deep/style.css", "text/css", '@import "more.css"; body { background: url("back.png") }');
  file("/deep/more.css", "text/css", "p { color: rgb(1, 2, 3) }");
  file(
    "/deep/main.js",
    "text/javascript",
    'import { word } from "./part.js"; window.base = import.meta.url; document.title = word;',
  );
  file("/deep/part.js", "text/javascript", 'export const word = "imported";');
  origin.page(
    "/",
    `<link rel="stylesheet" href="/redirect/302?to=/deep/style.css"><p>Text</p>
     <script type="module" src="/redirect/301?to=/deep/main.js"></script>`,
  );
  await app.goto(`${origin.origin}/`);
  const page = await app.content();
  await expect.poll(() => page.title()).toBe("imported");
  expect(await page.evaluate(() => (window as unknown as { base: string }).base)).toMatch(/\/deep\/main\.js$/);
  await expect(app.frame().getByText("Text")).toHaveCSS("color", "rgb(1, 2, 3)");
  await origin.requestTo("/deep/back.png");
  for (const path of ["/deep/style.css", "/deep/main.js"]) expect(origin.requestsTo(path)).toHaveLength(1);
});

test("a chain over two sites ends at the last one, which the address shows", { tag: "@deno" }, async ({
  app,
  origin,
  otherOrigin,
}) => {
  otherOrigin.page("/end", "<p>Arrived</p>", "The end");
  const hop = (to: string): string => encodeURIComponent(to);
  const last = `${otherOrigin.origin}/redirect/308?to=/end`;
  await app.goto(`${origin.origin}/redirect/301?to=${hop(`/redirect/302?to=${hop(last)}`)}`);
  await expect(app.frame().getByText("Arrived")).toBeVisible();
  await expect(app.address).toHaveValue(new RegExp(`${otherOrigin.port}/end`));
  expect(await (await app.content()).evaluate(() => document.title)).toBe("The end");
});

test("relative links after a redirect start from the final address", async ({ app, origin }) => {
  origin.page("/deep/page", '<a href="next">Next</a>');
  origin.page("/deep/next", "<p>Next page</p>");
  await app.goto(`${origin.origin}/redirect/302?to=/deep/page`);
  await app.navigated(() => app.frame().getByRole("link", { name: "Next" }).click());
  await expect(app.frame().getByText("Next page")).toBeVisible();
});

test("redirect: manual and error work as they do directly", async ({ app, origin }) => {
  origin.page("/", "<p>Asker</p>");
  await app.goto(`${origin.origin}/`);
  const result = await (await app.content()).evaluate(async () => {
    const manual = await fetch("/redirect/302", { redirect: "manual" });
    const toData = await fetch("/redirect/302?to=data:,x", { redirect: "manual" });
    const error = await fetch("/redirect/302", { redirect: "error" }).then(
      () => "answered",
      (reason: Error) => reason.name,
    );
    return { type: manual.type, toData: toData.type, status: manual.status, error };
  });
  expect(result).toEqual({ type: "opaqueredirect", toData: "opaqueredirect", status: 0, error: "TypeError" });
});

test("the fragment of a redirect is the page's, and without one that of the address @long", async ({
  app,
  origin,
  otherOrigin,
}) => {
  const to = (url: string): string => encodeURIComponent(url);
  for (const place of [origin, otherOrigin])
    place.page("/end", '<p>Arrived</p><p id="part">Part</p><a id="own">Own</a>');
  const hashOf = async (): Promise<string> => {
    await expect(app.frame().getByText("Arrived")).toBeVisible();
    return await (await app.content()).evaluate(() => location.hash);
  };
  const cases = [
    { path: `/redirect/302?to=${to("/end#part")}`, hash: "#part" },
    { path: `/redirect/302?to=${to("/end#part")}#own`, hash: "#part" },
    { path: `/redirect/302?to=${to("/end")}#own`, hash: "#own" },
    { path: `/redirect/302?to=${to(`${otherOrigin.origin}/end#part`)}`, hash: "#part" },
    { path: `/redirect/302?to=${to(`${otherOrigin.origin}/end`)}#own`, hash: "#own" },
  ];
  for (const { path, hash } of cases) {
    await app.goto(`${origin.origin}${path}`);
    expect(await hashOf(), `typed: ${path}`).toBe(hash);
    await expect(app.address).toHaveValue(new RegExp(`/end${hash}$`));
  }
  origin.page("/", cases.map(({ path }, index) => `<a href="${path}">Link ${index}</a>`).join(" "));
  for (const [index, { path, hash }] of cases.entries()) {
    await app.goto(`${origin.origin}/`);
    await app.navigated(() =>
      app
        .frame()
        .getByRole("link", { name: `Link ${index}` })
        .click(),
    );
    expect(await hashOf(), `link: ${path}`).toBe(hash);
  }
});
