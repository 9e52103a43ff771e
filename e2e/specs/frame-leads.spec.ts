/** Frames that lead the page: where a browser without the app goes, the app goes, and nowhere else. */
import type { FrameLocator, Page } from "@playwright/test";
import { type AppPage, expect, testInOneApp as test } from "../fixtures/browser.ts";
import type { TestOrigin } from "../fixtures/test-origin/test-origin.ts";

const form = (attributes: string) =>
  `<form method="post" action="TO" ${attributes}><input name="a" value="ü &amp;"><button id="go" name="go" value="1">Go</button></form>`;
const onGo = (code: string) =>
  `<button id="go">Go</button><script>document.getElementById("go").onclick = () => { ${code} }</script>`;
const made = (attributes: string) => `Object.assign(document.createElement("a"), { href: "TO", ${attributes} })`;

/** What is in the frame; a tap on #go, or Enter, sets it off. */
const WAYS: Readonly<Record<string, string>> = {
  "a link to _top": '<a id="go" href="TO" target="_top">Go</a>',
  "a link to _parent": '<a id="go" href="TO" target="_parent">Go</a>',
  "Enter on a link": '<a id="go" href="TO" target="_top">Go</a>',
  "a link whose event the frame keeps to itself": `<a id="go" href="TO" target="_top" onclick="event.stopPropagation()">Go</a>`,
  "a link to _top, by base": '<base target="_top"><a id="go" href="TO">Go</a>',
  "an area": `<img id="go" usemap="#m" width="50" height="50" src="data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg'/%3E"><map name="m"><area shape="rect" coords="0,0,50,50" href="TO" target="_top"></map>`,
  "an SVG link": `<svg width="50" height="50"><a id="go" href="TO" target="_top"><rect width="50" height="50"/></a></svg>`,
  "a script's click on a link": onGo(`${made('target: "_top"')}.click()`),
  "a script's click on a link to _parent in the document": onGo(
    `document.body.append(${made('target: "_parent"')}); document.querySelector("a").click()`,
  ),
  "window.open to _top": onGo('window.open("TO", "_top")'),
  "window.open to _parent": onGo('window.open("TO", "_parent")'),
  "a form to _top": form('target="_top"'),
  "a form to _parent": form('target="_parent"'),
  "a form by its button's formtarget": form("").replace('id="go"', 'id="go" formtarget="_top"'),
  "a form by a target that a script sets": `${form("")}<script>document.forms[0].target = "_top"</script>`,
  "submit()": `${form('target="_top"').replace("<button", "<b").replace("</button", "</b")}<script>document.getElementById("go").onclick = () => document.forms[0].submit()</script>`,
  "a form whose event the frame keeps to itself": form(`target="_top" onsubmit="event.stopPropagation()"`),
  "a GET form": form('target="_parent"').replace('"post"', '"get"'),
};

/** What a frame does by itself as it loads. */
const UNASKED: Readonly<Record<string, string>> = {
  "a link": `<script>${made('target: "_top"')}.click()</script>`,
  "a form": `${form('target="_top"')}<script>document.forms[0].submit()</script>`,
};

interface Visit {
  readonly around: Pick<FrameLocator, "locator" | "frameLocator">;
  go(url: string): Promise<unknown>;
  /** Where the page is. */
  url(): Promise<string>;
}

function visits(app: AppPage, page: Page): readonly Visit[] {
  return [
    { around: page, go: (url) => page.goto(url), url: async () => page.url() },
    { around: app.frame(), go: (url) => app.goto(url), url: () => app.address.inputValue() },
  ];
}

function received(target: TestOrigin): unknown[] {
  return target.requestsTo("/form").map(({ method, url, headers: { origin, referer, "sec-fetch-site": site } }) => ({
    method,
    url,
    origin,
    referer,
    site,
  }));
}

type Pair = [frame: TestOrigin, target: TestOrigin];

const SITES = ["own", "other"] as const;
/** Of each kind of way. All of them from and to either site take minutes, and so are `@long` but for a few. */
const MAIN_WAYS = ["a link to _top", "window.open to _parent", "a form to _parent", "submit()", "a GET form"];
const [mainWays, otherWays] = [true, false].map((isMain) =>
  Object.entries(WAYS).filter(([name]) => MAIN_WAYS.includes(name) === isMain),
) as [[string, string][], [string, string][]];

interface Place {
  readonly app: AppPage;
  readonly direct: { readonly page: Page };
  readonly origin: TestOrigin;
  readonly frame: TestOrigin;
  readonly target: TestOrigin;
}

/** Each way, in a direct visit and through the app: the same is shown, and the same has come to the origin. */
async function compare(ways: readonly [string, string][], { app, direct, origin, frame, target }: Place) {
  origin.page("/", `<p>Page</p><iframe title="Inner" src="${frame.origin}/inner"></iframe>`);
  for (const [index, [name, content]] of ways.entries()) {
    await test.step(name, async () => {
      frame.page("/inner", content.replaceAll("TO", `${target.origin}/form?${index}`));
      const outcomes: unknown[] = [];
      for (const { around, go, url } of visits(app, direct.page)) {
        await go(`${origin.origin}/`);
        const button = around.frameLocator('iframe[title="Inner"]').locator("#go");
        if (name.includes("Enter")) await button.press("Enter");
        else await button.click();
        const shown = await around.locator("pre").textContent();
        await expect.poll(url).toContain("/form?");
        outcomes.push({ shown, received: received(target) });
        target.forget();
      }
      expect(outcomes[1]).toEqual(outcomes[0]);
    });
  }
}

for (const frameKind of SITES) {
  for (const targetKind of SITES) {
    const title = `a frame of the ${frameKind} site leads the page to the ${targetKind} site`;
    const isBetween = frameKind !== targetKind;
    for (const [name, ways, isLong] of [
      [title, mainWays, !isBetween],
      [`${title} in further ways`, otherWays, true],
    ] as const)
      test(name, { tag: isLong ? "@long" : [] }, async ({ app, direct, origin, otherOrigin }) => {
        test.slow();
        const [frame, target] = [frameKind, targetKind].map((kind) => (kind === "own" ? origin : otherOrigin)) as Pair;
        await compare(ways, { app, direct, origin, frame, target });
      });
  }
}

type Sandboxed = readonly [frameKind: "own" | "other", sandbox: string | null, tap: boolean];

const SANDBOXED: readonly Sandboxed[] = [["other", null, false]];
const FURTHER: readonly Sandboxed[] = [
  ["own", "allow-scripts allow-same-origin allow-forms", true],
  ["other", "allow-scripts allow-same-origin allow-forms allow-top-navigation-by-user-activation", true],
  ["own", null, false],
  ["other", "allow-scripts allow-same-origin allow-forms", true],
  ["other", "allow-scripts allow-same-origin allow-forms allow-top-navigation-by-user-activation", false],
  ["own", "allow-scripts allow-same-origin allow-forms allow-top-navigation-by-user-activation", false],
  ["other", "allow-scripts allow-same-origin allow-forms allow-top-navigation", true],
];

for (const [name, frames] of [
  ["a frame that nobody has used does not lead the page", SANDBOXED],
  ["frames of sandboxes lead the page where they may, and nowhere else @long", FURTHER],
] as const) {
  test(name, async ({ app, direct, origin, otherOrigin }) => {
    test.slow();
    for (const [frameKind, sandbox, tap] of frames) {
      for (const [way, unasked] of Object.entries(UNASKED)) {
        await test.step(`${frameKind} ${sandbox} ${tap ? "with a tap" : "by itself"}: ${way}`, async () => {
          const frame = frameKind === "own" ? origin : otherOrigin;
          const attribute = sandbox === null ? "" : `sandbox="${sandbox}"`;
          const tapped = way === "a link" ? WAYS["a link to _top"] : WAYS["a form to _top"];
          const content = (tap ? (tapped ?? "") : unasked).replaceAll("TO", `${otherOrigin.origin}/form`);
          origin.page("/", `<p>Page</p><iframe title="Inner" ${attribute} src="${frame.origin}/inner"></iframe>`);
          frame.page("/inner", `${content}<script>setTimeout(() => fetch("/echo?done"), 3000)</script>`);
          const outcomes: unknown[] = [];
          for (const { around, go, url } of visits(app, direct.page)) {
            await go(`${origin.origin}/`).catch(() => {});
            if (tap) await around.frameLocator('iframe[title="Inner"]').locator("#go").click();
            // Led there, or still here a while after all that the frame did; what was asked for is about to be shown.
            const isStill = (): boolean => frame.requestsTo("/echo").length > 0 && received(otherOrigin).length === 0;
            await expect.poll(async () => (await url()).includes("/form") || isStill()).toBe(true);
            outcomes.push({ leads: (await url()).includes("/form"), received: received(otherOrigin) });
            for (const each of [origin, otherOrigin]) each.forget();
          }
          expect(outcomes[1]).toEqual(outcomes[0]);
        });
      }
    }
  });
}
