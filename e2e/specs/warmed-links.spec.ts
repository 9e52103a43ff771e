import type { AppPage } from "../fixtures/app-page.ts";
import { expect, test } from "../fixtures/browser.ts";
import { pageOf, type TestOrigin } from "../fixtures/test-origin/test-origin.ts";

const HEADERS = { "content-type": "text/html" };

/** A page of links, each in view, and what they lead to. */
function serve(origin: TestOrigin, elsewhere: string): void {
  const links = [
    '<a href="/next">Next</a>',
    '<a href="/forbidden">Forbidden</a>',
    '<a href="/query?id=1">With a query</a>',
    '<a href="/unloved" rel="nofollow">Not followed</a>',
    '<a href="/file" download>File</a>',
    '<a href="#part">Part</a>',
    `<a href="${elsewhere}/away">Away</a>`,
    '<a href="http://[no-address">Nowhere</a>',
    '<a href="/hidden" style="visibility: hidden">Hidden</a>',
    '<a href="/far" style="position: absolute; top: 9000px">Far</a>',
  ];
  origin.route("/", ({ reply }) =>
    reply(200, HEADERS, pageOf("Links", links.map((link) => `<p id="part">${link}</p>`).join(""))),
  );
  origin.route("/robots.txt", ({ reply }) =>
    reply(200, { "content-type": "text/plain" }, "User-agent: *\nDisallow: /forb"),
  );
  for (const name of ["next", "forbidden", "query", "unloved", "file", "hidden", "far"])
    origin.route(`/${name}`, ({ reply }) => reply(200, HEADERS, pageOf(name, `<h1>This is ${name}</h1>`)));
}

/** As the person does in the settings. */
async function warmLinks(app: AppPage): Promise<void> {
  await app.page.getByRole("button", { name: "Menu" }).click();
  await app.page.getByRole("button", { name: "Settings" }).click();
  await app.page.getByRole("switch", { name: "Load likely links ahead" }).click();
  await app.page.keyboard.press("Escape");
}

const pathsOf = (origin: TestOrigin): string[] => origin.requests.map(({ path }) => path);

test("a link in view is warmed where the person wants that, and opens without a request", async ({
  app,
  origin,
  otherOrigin,
}) => {
  serve(origin, otherOrigin.origin);
  await app.storeReady();
  await warmLinks(app);
  await app.goto(`${origin.origin}/`);
  await expect.poll(async () => (await app.stats()).pagesWarmed).toBe(1);
  await expect.poll(() => pathsOf(origin)).toContain("/robots.txt");
  expect(pathsOf(origin).filter((path) => /^\/(next|forb|query|unlov|file|hidden|far)/.test(path))).toEqual(["/next"]);
  expect(otherOrigin.requestsTo("/away")).toHaveLength(0);
  expect(origin.requestsTo("/next")[0]?.headers).not.toHaveProperty("cookie");

  origin.route("/next", ({ reply }) => reply(500, HEADERS, "This was asked for again"));
  await app.navigated(() => app.frame().getByText("Next").click());
  await expect(app.frame().locator("h1")).toHaveText("This is next");
  expect(origin.requestsTo("/next")).toHaveLength(1);
  expect((await app.stats()).pagesWarmedUsed).toBe(1);
});

test("nothing is warmed by default, of pages that say nofollow, nor where the site knows the person @long", async ({
  app,
  origin,
  otherOrigin,
}) => {
  serve(origin, otherOrigin.origin);
  serve(otherOrigin, origin.origin);
  const link = '<a href="/next">Next</a>';
  // Asks for something when a link would have been warmed.
  const late = '<script>setTimeout(() => fetch("/late"), 4_000)</script>';
  const nofollow = '<meta name="robots" content="noindex, NoFollow">';
  origin.route("/plain", ({ reply }) => reply(200, HEADERS, pageOf("Plain", link + late)));
  origin.route("/tagged", ({ reply }) => reply(200, HEADERS, pageOf("Tagged", nofollow + link + late)));
  otherOrigin.route("/", ({ reply }) =>
    reply(200, { ...HEADERS, "set-cookie": "who=me; HttpOnly" }, pageOf("Known", link)),
  );
  await app.storeReady();
  for (const path of ["/plain", "/tagged"]) {
    origin.forget();
    await app.goto(origin.origin + path);
    await origin.requestTo("/late");
    expect(pathsOf(origin)).toEqual([path, "/late"]);
    if (path === "/plain") await warmLinks(app);
  }

  await app.goto(`${otherOrigin.origin}/`);
  // The page asks for nothing more: the link is all that is left to ask the edge for, which says no.
  const asked = async () => (await app.stats()).requests;
  const before = await asked();
  await expect.poll(asked).toBeGreaterThan(before);
  expect(await app.stats()).toMatchObject({ pagesWarmed: 0, pagesWarmedUsed: 0 });
  expect(pathsOf(otherOrigin)).toEqual(["/"]);
});
