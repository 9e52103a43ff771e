import { expect, testInOneApp as test } from "../fixtures/browser.ts";
import { startTestOrigin } from "../fixtures/test-origin/test-origin.ts";

/** Of a page: what happens, in order. */
const LOG = `<script>window.log = []; addEventListener("load", () => log.push("page"))</script>`;

test("a frame of another site loads once, after its document, and the page after it", async ({
  app,
  origin,
  otherOrigin,
}) => {
  origin.page(
    "/",
    `${LOG}<script>addEventListener("message", ({ data }) => log.push(data))</script>
     <iframe title="Guest" src="${otherOrigin.origin}/guest" onload="log.push('frame'); this.contentWindow.postMessage('at load', '*')"></iframe>`,
  );
  otherOrigin.page(
    "/guest",
    `<p>Guest page</p><img src="/slow?ms=500"><script>
       parent.postMessage("guest", "*");
       addEventListener("message", ({ data }) => parent.postMessage("heard " + data, "*"));
     </script>`,
  );
  await app.goto(`${origin.origin}/`);
  const log = async () => (await app.content()).evaluate(() => (window as unknown as { log: string[] }).log);
  await expect.poll(log).toContain("heard at load");
  expect(await log()).toEqual(["guest", "frame", "page", "heard at load"]);
});

test("a frame of another site is asked for as browsers do, under the page's policy and the frame's own", async ({
  app,
  origin,
  otherOrigin,
}) => {
  const guest = `${otherOrigin.origin}/guest`;
  otherOrigin.page(
    "/guest",
    "<p>Guest</p><script>parent.postMessage(location.search + document.referrer, '*')</script>",
  );
  origin.page(
    "/page",
    `<script>window.log = []; addEventListener("message", ({ data }) => log.push(data))</script>
     <iframe src="${guest}?plain"></iframe><iframe src="${otherOrigin.origin}/redirect/302?to=/guest?moved"></iframe>
     <iframe src="${guest}?none" referrerpolicy="no-referrer"></iframe>
     <iframe src="${guest}?whole" referrerpolicy="unsafe-url"></iframe>
     <iframe src="${guest}?own" referrerpolicy="same-origin"></iframe>`,
  );
  await app.goto(`${origin.origin}/page?q=1`);
  const expected = {
    "?plain": `${origin.origin}/`,
    "?moved": `${origin.origin}/`,
    "?none": "",
    "?whole": `${origin.origin}/page?q=1`,
    "?own": "",
  };
  const log = async () => (await app.content()).evaluate(() => (window as unknown as { log: string[] }).log);
  const told = Object.entries(expected).map(([search, referrer]) => search + referrer);
  await expect.poll(async () => (await log()).toSorted()).toEqual(told.toSorted());
  for (const [search, referrer] of Object.entries(expected)) {
    const headers = otherOrigin.requests.find(({ url }) => url === `/guest${search}`)?.headers ?? {};
    expect(headers.referer ?? "", search).toBe(referrer);
    expect(headers).toMatchObject({
      "sec-fetch-site": "cross-site",
      "sec-fetch-mode": "navigate",
      "sec-fetch-dest": "iframe",
    });
    expect(headers["sec-fetch-user"]).toBeUndefined();
  }
});

test("a frame without a document, one that fails, and one that is removed let the page load", async ({
  app,
  origin,
  otherOrigin,
}) => {
  origin.page(
    "/",
    `<p>Outer</p><iframe src="${otherOrigin.origin}/status/204"></iframe><iframe src="http://127.0.0.1:9/"></iframe>
     <iframe id="gone" src="${otherOrigin.origin}/silent"></iframe>
     <iframe loading="lazy" style="margin-top: 9000px" src="${otherOrigin.origin}/silent"></iframe>
     <script>setTimeout(() => document.getElementById("gone").remove(), 300)</script>`,
  );
  await app.goto(`${origin.origin}/`);
  expect(await app.phase()).toBe("loaded");
});

test("a frame that is redirected to a third site loads once, in the name of the page", async ({
  app,
  origin,
  otherOrigin,
}) => {
  const third = await startTestOrigin({ ip: "127.0.0.13" });
  third.page("/arrived", "<p>Arrived</p>");
  origin.page(
    "/",
    `${LOG}<iframe title="Guest" onload="log.push('frame')" src="${otherOrigin.origin}/redirect/302?to=${third.origin}/arrived"></iframe>`,
  );
  await app.goto(`${origin.origin}/`);
  const content = await app.content();
  expect(await content.evaluate(() => (window as unknown as { log: string[] }).log)).toEqual(["frame", "page"]);
  const guest = app.frame().frameLocator('iframe[title="Guest"]');
  await expect(guest.getByText("Arrived")).toBeVisible();
  expect(third.requestsTo("/arrived")).toHaveLength(1);
  expect(third.requestsTo("/arrived")[0]?.headers.referer).toBe(`${origin.origin}/`);
  await third.close();
});
