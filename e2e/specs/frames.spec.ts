import { expect, testInOneApp as test } from "../fixtures/browser.ts";
import { madeByOthers } from "../fixtures/test-origin/connection-owner.ts";
import { pageOf } from "../fixtures/test-origin/test-origin.ts";

test("frames of the same site and srcdoc frames are shown", async ({ app, origin }) => {
  origin.page(
    "/",
    `<iframe title="Inner" src="/inner"></iframe><iframe title="Written" srcdoc="<p>Written here</p><img src='/dot.svg'>"></iframe>
    `,
  );
  origin.page("/inner", `<p>Inside</p><script>parent.document.title = "set from inside"</script>`);
  await app.goto(`${origin.origin}/`);
  await expect(app.frame().frameLocator('iframe[title="Inner"]').getByText("Inside")).toBeVisible();
  await expect(app.frame().frameLocator('iframe[title="Written"]').getByText("Written here")).toBeVisible();
  await expect.poll(async () => (await app.content()).title()).toBe("set from inside");
  expect((await origin.requestTo("/dot.svg")).headers.referer).toContain(origin.origin);
});

test("a frame of the page's own site is shown, too, where the service worker has to ask for the way", async ({
  app,
  origin,
}) => {
  // Where the worker goes when it does not know which window's tunnel a frame's document is to come through.
  origin.page("/", '<p>Outer</p><iframe src="/.ropeway/boot?then=%2Finner"></iframe>');
  origin.page("/inner", "<p>Inner</p>");
  await app.goto(`${origin.origin}/`);
  await expect(app.frame().frameLocator("iframe").getByText("Inner")).toBeVisible();
});

test("what a blob frame asks for reaches an origin by the tunnel alone", async ({ app, edge, origin, network }) => {
  origin.page(
    "/",
    `<p>Outer</p><script>
       const markup = "<img src='" + location.protocol + "//${new URL(origin.origin).host}/dot.png'>" +
         "<script>fetch('${origin.origin}/echo', { mode: 'no-cors' })</" + "script>";
       const made = document.createElement("iframe");
       made.src = URL.createObjectURL(new Blob([markup], { type: "text/html" }));
       made.onload = () => { document.title = "frame settled"; };
       document.body.append(made);
     </script>`,
  );
  await app.goto(`${origin.origin}/`);
  await expect.poll(async () => (await app.content()).title()).toBe("frame settled");
  // The page's own request shows that everything before it had its chance.
  await (await app.content()).evaluate(() => fetch("/echo?last"));
  expect(network.leaks("localhost")).toEqual([]);
  expect(origin.requestsTo("/dot.png")).toHaveLength(1);
  expect(madeByOthers(edge.pid, origin.connections)).toEqual([]);
});

test("a frame of another site gets its own slot, or a placeholder to tap", async ({
  app,
  origin,
  otherOrigin,
  network,
}) => {
  origin.page("/", `<p>Outer</p><iframe title="Guest" src="${otherOrigin.origin}/guest"></iframe>`);
  otherOrigin.page("/guest", "<p>Guest page</p>");
  await app.goto(`${origin.origin}/`);
  const guest = app.frame().frameLocator('iframe[title="Guest"]');
  const shown = guest.getByText("Guest page");
  const placeholder = guest.getByRole("button");
  await expect(shown.or(placeholder).first()).toBeVisible();
  if (!(await shown.isVisible())) await placeholder.first().click();
  await expect(shown).toBeVisible();
  const inner = (await app.content()).childFrames()[0];
  const walls = await inner?.evaluate(() => {
    try {
      return window.parent.document.title;
    } catch (error) {
      return (error as Error).name;
    }
  });
  expect(walls).toBe("SecurityError");
  expect(otherOrigin.requestsTo("/guest")).toHaveLength(1);
  expect(network.leaks("localhost")).toEqual([]);
});

test("a page's policy shows the frames of other sites that it shows directly, however they come", async ({
  app,
  direct,
  origin,
  otherOrigin,
}) => {
  const guest = `${otherOrigin.origin}/guest`;
  otherOrigin.route("/guest", ({ page }) => page(pageOf("Guest", "<p>"), { "cache-control": "no-store" }));
  const frames = `<iframe src="${guest}?parsed"></iframe>
    <iframe src="/redirect/307?to=${encodeURIComponent(`${guest}?moved`)}"></iframe>
    <script>
      const made = Object.assign(document.createElement("iframe"), { src: "${guest}?made" });
      const inner = document.createElement("iframe");
      inner.srcdoc = '<iframe src="${guest}?inner"></iframe>';
      document.body.append(made, inner);
      addEventListener("load", () => { document.title = "settled"; });
    </script>`;
  const script = "script-src 'unsafe-inline'";
  const policies = {
    "/named": `frame-src 'self' ${otherOrigin.origin}; ${script}`,
    "/other": `frame-src 'self' https:; child-src *; ${script}`,
    "/child": `child-src 'self' http://elsewhere.example; ${script}`,
    "/default": `default-src 'self'; ${script}`,
  };
  for (const [path, policy] of Object.entries(policies))
    origin.route(path, ({ page }) => page(pageOf("Field", frames), { "content-security-policy": policy }));
  const element = `<meta http-equiv="content-security-policy" content="${policies["/other"]}">`;
  origin.route("/meta", ({ page }) => page(`<!doctype html><head>${element}</head>${frames}`));
  // In the body such an element is no policy.
  origin.route("/body", ({ page }) => page(`<!doctype html><body>${element}${frames}`));
  for (const path of [...Object.keys(policies), "/meta", "/body"]) {
    const asked: string[][] = [];
    for (const isDirect of [true, false]) {
      otherOrigin.forget();
      if (isDirect) await direct.page.goto(origin.origin + path);
      else await app.goto(origin.origin + path);
      const page = isDirect ? direct.page : await app.content();
      await expect.poll(() => page.title()).toBe("settled");
      asked.push(
        otherOrigin
          .requestsTo("/guest")
          .map(({ url }) => url)
          .sort(),
      );
    }
    expect([path, asked[1]]).toEqual([path, asked[0]]);
    expect(asked[0]).toHaveLength(["/named", "/body"].includes(path) ? 4 : 0);
  }
});

test("a page that must not be framed by others is not, but is shown by itself", async ({
  app,
  origin,
  otherOrigin,
}) => {
  otherOrigin.route("/shy", (exchange) =>
    exchange.page("<!doctype html><title>Shy</title><p>Shy page</p>", {
      "x-frame-options": "DENY",
      "content-security-policy": "frame-ancestors 'none'",
    }),
  );
  origin.page("/", `<p>Outer</p><iframe title="Guest" src="${otherOrigin.origin}/shy"></iframe>`);
  await app.goto(`${otherOrigin.origin}/shy`);
  await expect(app.frame().getByText("Shy page")).toBeVisible();
  await app.goto(`${origin.origin}/`);
  await expect(app.frame().getByText("Outer")).toBeVisible();
  const placeholder = app.frame().frameLocator('iframe[title="Guest"]').getByRole("button");
  if (await placeholder.first().isVisible()) await placeholder.first().click();
  await expect(app.frame().frameLocator('iframe[title="Guest"]').getByText("Shy page")).toHaveCount(0);
});

test("a page's own frame that wants to be in none is not shown, one that wants its own site is", async ({
  app,
  origin,
}) => {
  const route = (path: string, headers: Record<string, string>) =>
    origin.route(path, ({ page }) => page(`<!doctype html><title>Inner</title><p>Inner ${path}`, headers));
  route("/deny", { "x-frame-options": "DENY" });
  route("/none", { "content-security-policy": "frame-ancestors 'none'" });
  route("/own", { "x-frame-options": "SAMEORIGIN", "content-security-policy": "frame-ancestors 'self'" });
  const paths = ["/deny", "/none", "/own"];
  origin.page("/", paths.map((path) => `<iframe title="${path}" src="${path}"></iframe>`).join(""));
  await app.goto(`${origin.origin}/`);
  await expect(app.frame().frameLocator('iframe[title="/own"]').getByText("Inner /own")).toBeVisible();
  for (const path of ["/deny", "/none"]) {
    await origin.requestTo(path);
    await expect(app.frame().frameLocator(`iframe[title="${path}"]`).getByText("Inner")).toHaveCount(0);
  }
  await app.goto(`${origin.origin}/deny`);
  await expect(app.frame().getByText("Inner /deny")).toBeVisible();
});

test("a page's own site in a frame of another one has none of its cookies, and may refuse", async ({
  app,
  origin,
  otherOrigin,
}) => {
  origin.page("/", `<p>Bank</p><iframe title="Advert" src="${otherOrigin.origin}/advert"></iframe>`);
  otherOrigin.page(
    "/advert",
    `<p>Advert</p><iframe title="Act" src="${origin.origin}/act"></iframe>
     <iframe title="Refuses" src="${origin.origin}/refuses"></iframe>`,
  );
  origin.page("/act", "<p>Acted</p>");
  origin.route("/refuses", ({ reply }) =>
    reply(200, { "content-type": "text/html", "x-frame-options": "SAMEORIGIN" }, "<p>Framed</p>"),
  );
  await app.goto(`${origin.origin}/set-cookies?session=${encodeURIComponent("1; Path=/")}`);
  await app.goto(`${origin.origin}/`);
  const advert = app.frame().frameLocator('iframe[title="Advert"]');
  await expect(advert.frameLocator('iframe[title="Act"]').getByText("Acted")).toBeVisible();
  const asked = await origin.requestTo("/refuses");
  expect(origin.requestsTo("/")[0]?.headers.cookie).toContain("session=1");
  for (const request of [asked, ...origin.requestsTo("/act")]) expect(request.headers.cookie).toBeUndefined();
  await expect(advert.frameLocator('iframe[title="Refuses"]').getByText("Framed")).toHaveCount(0);
});

test("a page without referrers shows frames of its own site, which load once", async ({ app, origin }) => {
  origin.page(
    "/",
    `<meta name="referrer" content="no-referrer"><p>Outer</p>
     <iframe title="Inner" src="/inner" onload="this.loads = (this.loads ?? 0) + 1"></iframe>`,
  );
  origin.page("/inner", "<p>Inside</p>");
  await app.goto(`${origin.origin}/`);
  await expect(app.frame().frameLocator('iframe[title="Inner"]').getByText("Inside")).toBeVisible();
  const loads = () => document.querySelector<HTMLIFrameElement & { loads?: number }>("iframe")?.loads;
  await expect.poll(async () => (await app.content()).evaluate(loads)).toBe(1);
  expect(origin.requestsTo("/inner")).toHaveLength(1);
  expect(origin.requestsTo("/inner")[0]?.headers.referer).toBeUndefined();
});

test("a frame of another site that goes to the page's own site is shown", async ({ app, origin, otherOrigin }) => {
  origin.page("/", `<p>Outer</p><iframe title="Guest" src="${otherOrigin.origin}/guest"></iframe>`);
  origin.page("/back", "<p>Back home</p>");
  otherOrigin.page("/guest", `<p>Guest</p><script>location.href = "${origin.origin}/back"</script>`);
  await app.goto(`${origin.origin}/`);
  await expect(app.frame().frameLocator('iframe[title="Guest"]').getByText("Back home")).toBeVisible();
});
