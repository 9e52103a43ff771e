/** What origins are told of requests, and pages of answers: as on a direct visit. */
import type { Frame, Page } from "@playwright/test";
import { expect, testInOneApp as test } from "../fixtures/browser.ts";
import type { TestOrigin } from "../fixtures/test-origin/test-origin.ts";

const FIELDS = ["accept-language", "origin", "referer", "sec-fetch-mode", "sec-fetch-dest"] as const;

/** By address: what the origins got of it. */
function told(...origins: TestOrigin[]): Record<string, unknown> {
  const seen = origins.flatMap((each, index) =>
    each.requests
      .filter(({ path }) => /^\/(?:asked|module|inner)/.test(path))
      .map(
        ({ url, headers }) =>
          [`${index} ${url}`, Object.fromEntries(FIELDS.map((name) => [name, headers[name]]))] as const,
      ),
  );
  return Object.fromEntries(seen.toSorted(([one], [other]) => one.localeCompare(other)));
}

test("scripts' requests and modules carry what browsers send", async ({ app, origin, otherOrigin, direct }) => {
  const cors = {
    "access-control-allow-origin": "*",
    "access-control-allow-headers": "*",
    "content-type": "text/javascript",
  };
  for (const each of [origin, otherOrigin]) {
    each.route("/asked", ({ reply }) => reply(200, cors, "asked"));
    each.route("/module.js", ({ reply }) => reply(200, cors, `import "./inner.js";`));
    each.route("/inner.js", ({ reply }) => reply(200, cors, ""));
  }
  for (const policy of ["same-origin", "strict-origin-when-cross-origin", "no-referrer"])
    origin.route(`/${policy}`, ({ page }) =>
      page(
        `<!doctype html><title>Asks</title><p>Asks</p><script type="module" src="/module.js?${policy}"></script>
         <script type="module" src="${otherOrigin.origin}/module.js?${policy}"></script>
         <script type="module">import "/module.js?inline-${policy}";</script>
         <script src="/module.js?cors-${policy}" crossorigin></script>
         <img src="/asked?${policy}-img"><img src="${origin.origin}/asked?${policy}-img-whole">
         <link rel="stylesheet" href="${origin.origin}/asked?${policy}-style">
         <style>p { background: url(${origin.origin}/asked?${policy}-background) }</style>
         <iframe srcdoc="<img src='/asked?${policy}-srcdoc'><img src='${otherOrigin.origin}/asked?${policy}-srcdoc'>
           <script src='/module.js?${policy}-srcdoc'></script>"></iframe>`,
        { "referrer-policy": policy },
      ),
    );
  const ask = (page: Page | Frame, policy: string) =>
    page.evaluate(
      async ([at, own, other]) => {
        const inits: Readonly<Record<string, RequestInit>> = {
          plain: {},
          none: { referrer: "" },
          other: { referrer: "/elsewhere?x" },
          policy: { referrerPolicy: "unsafe-url" },
          language: { headers: { "accept-language": "tlh, en;q=0.1" } },
          post: { method: "POST", body: "x", referrer: "" },
        };
        for (const [name, init] of Object.entries(inits))
          for (const target of ["", own, other])
            await fetch(`${target}/asked?${at}-${name}-${target === "" ? "path" : "whole"}`, init);
        for (const target of ["", own, other])
          await new Promise((resolve) => {
            const src = `${target}/asked?${at}-made-${target === "" ? "path" : "whole"}`;
            Object.assign(new Image(), { onerror: resolve, src });
          });
        const request = new XMLHttpRequest();
        request.open("GET", `/asked?${at}-xhr`);
        request.setRequestHeader("Accept-Language", "tlh");
        await new Promise((resolve) => {
          request.onloadend = resolve;
          request.send();
        });
      },
      [policy, origin.origin, otherOrigin.origin] as const,
    );
  const policies = ["same-origin", "strict-origin-when-cross-origin", "no-referrer"];
  const { page } = direct;
  for (const policy of policies) {
    await page.goto(`${origin.origin}/${policy}?q=1`);
    await ask(page, policy);
  }
  const wanted = told(origin, otherOrigin);
  expect(wanted["0 /asked?same-origin-srcdoc"]).toMatchObject({ referer: `${origin.origin}/same-origin?q=1` });
  const language = await page.evaluate(() => navigator.languages.join());
  expect(Object.keys(wanted).length).toBeGreaterThan(60);
  expect(language).not.toContain("tlh");
  for (const each of [origin, otherOrigin]) each.forget();
  for (const policy of policies) {
    await app.goto(`${origin.origin}/${policy}?q=1`);
    await ask(await app.content(), policy);
  }
  expect(told(origin, otherOrigin)).toEqual(wanted);
});
