/** Scripts that read where they are: what they log through the app is what they log in a direct visit. */
import { createHash } from "node:crypto";
import type { Frame, Page } from "@playwright/test";
import { expect, testInOneApp as test } from "../fixtures/browser.ts";
import type { TestOrigin } from "../fixtures/test-origin/test-origin.ts";

/** Reads in all forms that scripts have. Runs as it stands, in the page and in its frames. */
const READS = `
  const said = (name, value) => log.push(name + ": " + value);
  said("href", location.href);
  for (const part of ["protocol", "host", "hostname", "port", "pathname", "search", "hash", "origin"]) said(part, location[part]);
  said("text", String(location) + " " + location + " " + window.location.toString());
  said("kind", Object.prototype.toString.call(location) + (location instanceof Location));
  said("same", [window.location === location, document.location === location, self.location === globalThis["location"]]);
  said("document", [document.URL === location.href, document.location.host]);
  const { location: taken, top: upper } = window;
  said("taken apart", [taken.host, taken === location, upper === top]);
  const { location: ofDocument } = document;
  said("of document", ofDocument.pathname);
  const kept = { location, top };
  const { location: own, fetch: taker } = window;
  said("functions", [own.host, taker === window.fetch, String(() => location.host), String(Function.prototype.toString)]);
  said("kept", [kept.location.host, window?.location?.host, typeof location, typeof top]);
  said("local", ((location) => location.host)({ host: "local" }));
  said("around", [self === top, top === parent, parent === self, window.top === window.self]);
  said("ancestors", [...location.ancestorOrigins].length + " " + location.ancestorOrigins.contains("x"));
  said("box", document.documentElement.getBoundingClientRect().top);
  try { said("link", new URL("other", location).href + new URL("?q", location.href).href); } catch (error) { said("link", error); }
`;

const MORE = `<script src="/read.js"></script><script type="module" src="/module.js"></script>`;

function serve(origin: TestOrigin, otherOrigin: TestOrigin): void {
  const script = { "content-type": "text/javascript" };
  for (const each of [origin, otherOrigin]) {
    each.route("/read.js", ({ reply }) => reply(200, script, `"use strict"; { ${READS} }`));
    each.route("/module.js", ({ reply }) =>
      reply(200, script, `import "./imported.js"; { ${READS} } log.push("done");`),
    );
    each.route("/imported.js", ({ reply }) =>
      reply(200, script, `export {}; log.push("imported at " + location.pathname);`),
    );
    each.page("/inner", `<script>const log = []; { ${READS} }</script>${MORE}`);
  }
  origin.page(
    "/page",
    `<script>const log = []; { ${READS} }</script>${MORE}
     <iframe name="own" src="/inner?own#f"></iframe><iframe name="other" src="${otherOrigin.origin}/inner?other"></iframe>`,
  );
}

test("scripts of pages, frames and modules read the real site, as in a direct visit", async ({
  app,
  direct,
  origin,
  otherOrigin,
}) => {
  serve(origin, otherOrigin);
  const url = `${origin.origin}/page?a=%C3%BC#part`;
  const logOf = async (frame: Page | Frame): Promise<string[]> => {
    await frame.waitForFunction("log.includes('done')");
    return (await frame.evaluate("log")) as string[];
  };
  await direct.page.goto(url);
  await app.goto(url);
  const content = await app.content();
  const wanted = await logOf(direct.page);
  expect(wanted.length).toBeGreaterThan(60);
  expect(await logOf(content)).toEqual(wanted);
  for (const name of ["inner?own", "inner?other"]) {
    const ofDirect = direct.page.frames().find((frame) => frame.url().includes(name));
    const ofApp = app.page.frames().find((frame) => frame.url().includes(name) && frame !== content);
    expect(await logOf(ofApp as Frame), name).toEqual(await logOf(ofDirect as Frame));
  }
});

test("a page that hides itself in frames is whole, names itself to others, and reads its scripts as they came", async ({
  app,
  direct,
  origin,
  otherOrigin,
}) => {
  const text = "window.sum = location.host; // read";
  const digest = createHash("sha256").update(text).digest("base64");
  origin.route("/sum.js", ({ reply }) =>
    reply(200, { "content-type": "text/javascript", "cache-control": "max-age=60" }, text),
  );
  origin.page(
    "/",
    `<style>body { display: none }</style><p>Shown</p><form action="${otherOrigin.origin}/form"><input name="back"><button>Sign in</button></form>
     <script>
       if (self === top) document.querySelector("style").remove(); else top.location = self.location;
       document.forms[0].back.value = location.origin + location.pathname;
     </script>
     <script src="/sum.js"></script><script src="/sum.js?" integrity="sha256-${digest}"></script>`,
  );
  const outcomes: unknown[] = [];
  for (const [around, go] of [
    [direct.page, (url: string) => direct.page.goto(url)],
    [app.frame(), (url: string) => app.goto(url)],
  ] as const) {
    await go(`${origin.origin}/`);
    await expect(around.getByText("Shown")).toBeVisible();
    const frame = around === direct.page ? direct.page : await app.content();
    const read = await frame.evaluate(async () => [
      await (await fetch("/sum.js")).text(),
      document.scripts[2]?.integrity !== "",
    ]);
    await around.getByRole("button").click();
    outcomes.push([read, JSON.parse((await around.locator("pre").textContent()) ?? "")]);
  }
  expect(outcomes[1]).toEqual(outcomes[0]);
  expect(JSON.stringify(outcomes[0])).toContain(`${origin.origin}/`);
  expect(JSON.stringify(outcomes[0])).toContain(text);
});

test("workers read the real site, as in a direct visit", async ({ app, direct, origin }) => {
  const script = { "content-type": "text/javascript" };
  const say = `const said = [...["href", "origin", "host", "pathname", "search", "hash"].map((part) => location[part]),
    String(location), Object.prototype.toString.call(location), self.location === location, location instanceof WorkerLocation];`;
  origin.route("/worker.js", ({ reply }) => reply(200, script, `${say} postMessage(said);`));
  origin.route("/shared.js", ({ reply }) =>
    reply(200, script, `${say} onconnect = ({ ports }) => ports[0].postMessage(said);`),
  );
  origin.page("/", "<p>Page</p>");
  const run = (frame: Page | Frame): Promise<unknown> =>
    frame.evaluate(async () => {
      const first = (target: Worker | MessagePort) =>
        new Promise((resolve) => {
          target.onmessage = ({ data }: MessageEvent) => resolve(data);
        });
      return [
        await first(new Worker("/worker.js?a#b")),
        await first(new Worker("/worker.js?module", { type: "module" })),
        await first(new SharedWorker("/shared.js").port),
      ];
    });
  await direct.page.goto(`${origin.origin}/`);
  await app.goto(`${origin.origin}/`);
  expect(await run(await app.content())).toEqual(await run(direct.page));
});
