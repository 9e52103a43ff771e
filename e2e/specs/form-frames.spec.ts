/** Forms that lead frames: what reaches the origin is what reaches it from a browser without the app, once. */
import type { FrameLocator, Page } from "@playwright/test";
import { type AppPage, expect, testInOneApp as test } from "../fixtures/browser.ts";
import { noiseBytes } from "../fixtures/test-origin/noise.ts";
import type { TestOrigin } from "../fixtures/test-origin/test-origin.ts";

/** The page, in the app or by itself. */
type Around = Pick<FrameLocator, "frameLocator" | "locator">;

const FIELDS = `<input name="word" value="sea &amp; süß"><textarea name="text">a
b</textarea><input type="hidden" name="_charset_">`;
const FILES = `${FIELDS}<input type="file" name="file"><input type="file" name="none">`;
/** The frame that the form names, and the frame's own name for it. */
const NAMED = '<iframe name="card" title="Result"></iframe>';

interface Way {
  readonly page: (form: string) => string;
  /** Where the form's button is tapped; nothing where the page sends it by itself. */
  readonly tapped: "in the page" | "in the frame" | "nothing";
}

const BUTTON = '<button id="go" name="go" value="now">Go</button>';
const RESULT = 'iframe title="Result"';

const untargeted = (form: string) => form.replace(' target="card"', "");
const quoted = (markup: string) => markup.replaceAll("&", "&amp;").replaceAll('"', "&quot;");
const script = (code: string) => `<script>${code}</script>`;
const SUBMITS = script("document.forms[0].submit()");
/** Writes the markup into the first frame of this id. */
const writing = (id: string, markup: string) =>
  script(`const written = document.getElementById("${id}").contentDocument;
    written.open();
    written.write(${JSON.stringify(markup).replaceAll("</script", "<\\/script")});
    written.close();`);

const NAMED_WAYS: Readonly<Record<string, Way>> = {
  "a tap": { page: (form) => `${NAMED}${form}`, tapped: "in the page" },
  "submit()": { page: (form) => `${NAMED}${form}${SUBMITS}`, tapped: "nothing" },
  "requestSubmit() with a submitter": {
    page: (form) => `${NAMED}${form}${script("document.forms[0].requestSubmit(document.getElementById('go'))")}`,
    tapped: "nothing",
  },
  "an event that the page keeps to itself": {
    page: (form) => `${NAMED}${form}${script("document.forms[0].onsubmit = (event) => event.stopPropagation()")}`,
    tapped: "in the page",
  },
  "a formtarget": {
    page: (form) => `${NAMED}${untargeted(form).replace('id="go"', 'id="go" formtarget="card"')}`,
    tapped: "in the page",
  },
  "a base target": { page: (form) => `<base target="card">${NAMED}${untargeted(form)}`, tapped: "in the page" },
  "a variable of the frame's name": {
    page: (form) => `${script("var card = 1")}${NAMED}${form}`,
    tapped: "in the page",
  },
  "a frame that shows another page": {
    page: (form) => `<${RESULT} name="card" src="OTHER/shown"></iframe>${form}`,
    tapped: "in the page",
  },
  "a frame beside the form's": {
    page: (form) => `${NAMED}<iframe srcdoc="${quoted(form + SUBMITS)}"></iframe>`,
    tapped: "nothing",
  },
  "a frame beside the form's, by requestSubmit() in what is written": {
    page: (form) =>
      `${NAMED}<iframe id="w"></iframe>${writing("w", form + script("document.forms[0].requestSubmit()"))}`,
    tapped: "nothing",
  },
};

const OWN_WAYS: Readonly<Record<string, Way>> = {
  "a srcdoc frame, by a tap": {
    page: (form) => `<${RESULT} srcdoc="${quoted(untargeted(form))}"></iframe>`,
    tapped: "in the frame",
  },
  "a srcdoc frame, by its script": {
    page: (form) => `<${RESULT} srcdoc="${quoted(untargeted(form) + SUBMITS)}"></iframe>`,
    tapped: "nothing",
  },
  "a written frame, by a tap": {
    page: (form) => `<${RESULT} id="w"></iframe>${writing("w", untargeted(form))}`,
    tapped: "in the frame",
  },
  "a written frame, by its script": {
    page: (form) => `<${RESULT} id="w"></iframe>${writing("w", untargeted(form) + SUBMITS)}`,
    tapped: "nothing",
  },
  "a frame of the page's own site": { page: () => `<${RESULT} src="/inner"></iframe>`, tapped: "in the frame" },
  "a frame of another site": { page: () => `<${RESULT} src="OTHER/inner"></iframe>`, tapped: "in the frame" },
};

const WAYS = { "into a named frame": NAMED_WAYS, "in its own frame": OWN_WAYS };

const ENCODINGS: Readonly<Record<string, string>> = {
  "": FIELDS,
  "application/x-www-form-urlencoded": FIELDS,
  "multipart/form-data": FILES,
  "text/plain": FIELDS,
};

/** What the frame shows of what came, and what the origin was told beside that. */
async function received(around: Around, target: TestOrigin): Promise<unknown> {
  const shown = await around.frameLocator('iframe[title="Result"]').locator("pre").textContent();
  const heads = target.requestsTo("/form").map(({ method, headers: { origin, referer, "sec-fetch-site": site } }) => ({
    method,
    origin,
    referer,
    site,
  }));
  target.forget();
  return { shown: JSON.parse(shown ?? ""), heads };
}

/** Does the same in a browser without the app, and in the app. */
async function expectSame(
  { app, direct }: { readonly app: AppPage; readonly direct: { readonly page: Page } },
  url: string,
  target: TestOrigin,
  act: (around: Around) => Promise<unknown>,
): Promise<void> {
  await direct.page.goto(url);
  await act(direct.page);
  const wanted = await received(direct.page, target);
  await app.goto(url);
  await act(app.frame());
  expect(await received(app.frame(), target)).toEqual(wanted);
}

/** All ways in one visit of the app each, which is what takes time. */
for (const kind of ["own", "other"] as const) {
  for (const [group, ways] of Object.entries(WAYS)) {
    // To either site each way takes a minute: `npm test` has those that differ most from a link.
    const isLong = kind === "own" || ways !== NAMED_WAYS;
    test(`a form's POST to the ${kind} site, ${group}`, { tag: isLong ? "@long" : [] }, async ({
      app,
      direct,
      origin,
      otherOrigin,
      network,
    }) => {
      const target = kind === "own" ? origin : otherOrigin;
      const form = `<form method="post" action="${target.origin}/form" target="card">${FIELDS}${BUTTON}</form>`;
      otherOrigin.page("/shown", "<p>Shown</p>");
      for (const each of [origin, otherOrigin]) each.page("/inner", untargeted(form));
      for (const [name, { page, tapped }] of Object.entries(ways)) {
        await test.step(name, async () => {
          origin.page("/", page(form).replaceAll("OTHER", otherOrigin.origin));
          await expectSame({ app, direct }, `${origin.origin}/`, target, async (around) => {
            const holder = tapped === "in the frame" ? around.frameLocator('iframe[title="Result"]') : around;
            if (tapped !== "nothing") await holder.locator("#go").click();
          });
        });
      }
      expect(network.leaks("localhost")).toEqual([]);
    });
  }
}

test("forms of each encoding, with files and without, lead a named frame to another site @long", async ({
  app,
  direct,
  origin,
  otherOrigin,
}) => {
  const file = { name: "süß.bin", mimeType: "application/octet-stream", buffer: noiseBytes(700_000) };
  for (const [encoding, fields] of Object.entries(ENCODINGS)) {
    for (const method of encoding === "" ? ["post", "get"] : ["post"]) {
      await test.step(`${method} ${encoding}`, async () => {
        const action = `${otherOrigin.origin}/form?a=1#b`;
        const form = `<form method="${method}" enctype="${encoding}" action="${action}" target="card">${fields}${BUTTON}</form>`;
        origin.page("/", `${NAMED}${form}`);
        await expectSame({ app, direct }, `${origin.origin}/`, otherOrigin, async (around) => {
          if (fields === FILES) await around.locator("[name=file]").setInputFiles(file);
          await around.locator("#go").click();
        });
        expect(await (await app.content()).childFrames()[0]?.evaluate(() => location.hash)).toBe("#b");
      });
    }
  }
});

test("a form with a file that is streamed leads a frame to another site @long", async ({
  app,
  direct,
  origin,
  otherOrigin,
}) => {
  otherOrigin.route("/form", async ({ body, request, page }) => {
    await body();
    page(`<pre>${request.bodyBytes}</pre>`);
  });
  origin.page(
    "/",
    `${NAMED}<form method="post" enctype="multipart/form-data" action="${otherOrigin.origin}/form" target="card">${FILES}${BUTTON}</form>`,
  );
  await expectSame({ app, direct }, `${origin.origin}/`, otherOrigin, async (around) => {
    const file = { name: "film.bin", mimeType: "video/mp4", buffer: noiseBytes(3_000_000) };
    await around.locator("[name=file]").setInputFiles(file);
    await around.locator("#go").click();
  });
});

test("forms in two frames to one address get an answer each, and one that leads on to a third site goes on by GET", async ({
  app,
  direct,
  origin,
  otherOrigin,
}) => {
  const form = (name: string, to: string) =>
    `<iframe title="${name}" name="${name}"></iframe><form method="post" action="${otherOrigin.origin}${to}" target="${name}"><input name="a" value="${name}"></form>`;
  const third = encodeURIComponent(`${origin.origin}/form?third`);
  origin.page(
    "/",
    `${form("one", "/form")}${form("two", "/form")}${form("moved", `/redirect/303?to=${third}`)}${form("kept", `/redirect/307?to=${third}`)}
     <script>for (const form of document.forms) form.submit()</script>`,
  );
  const shown = (around: Around, title: string) => around.frameLocator(`iframe[title="${title}"]`).locator("pre");
  await direct.page.goto(`${origin.origin}/`);
  await app.goto(`${origin.origin}/`);
  for (const title of ["one", "two", "moved"]) {
    const wanted = await shown(direct.page, title).textContent();
    await expect(shown(app.frame(), title)).toHaveText(wanted ?? "");
  }
  // A browser would send the body again: that it is not sent is said, and no GET goes in its place.
  await expect(app.frame().frameLocator('iframe[title="kept"]').getByText("Cannot load")).toBeVisible();
  expect(otherOrigin.requests.map(({ method }) => method)).toEqual(Array(8).fill("POST"));
});
