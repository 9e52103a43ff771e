import { expect, testInOneApp as test } from "../fixtures/browser.ts";

test("origins see real referrers and origins, never a slot's", async ({ app, origin, otherOrigin, link }) => {
  otherOrigin.page("/arrived", "<p>Arrived</p>");
  origin.page(
    "/dir/page",
    `<a href="/dir/next?q=1">Same site</a><a href="${otherOrigin.origin}/arrived">Other site</a>
     <img src="${otherOrigin.origin}/picture.png"><script src="/dir/script.js"></script>`,
  );
  origin.page("/dir/next", `<a href="${otherOrigin.origin}/arrived">Other site</a>`);
  await app.goto(`${origin.origin}/dir/page?from=typed`);
  await (await app.content()).evaluate(async (other) => {
    await fetch("/echo", { method: "POST", body: "x" });
    await fetch(`${other}/cors/any`, { method: "POST", body: "x" });
  }, otherOrigin.origin);
  await app.navigated(() => app.frame().getByRole("link", { name: "Same site" }).click());
  expect(await (await app.content()).evaluate(() => document.referrer)).toBe(`${origin.origin}/dir/page?from=typed`);
  await app.navigated(() => app.frame().getByRole("link", { name: "Other site" }).click());
  expect(await (await app.content()).evaluate(() => document.referrer), "document.referrer over sites").toBe(
    `${origin.origin}/`,
  );

  const page = `${origin.origin}/dir/page?from=typed`;
  expect(origin.requestsTo("/dir/page")[0]?.headers.referer).toBeUndefined();
  expect(origin.requestsTo("/dir/script.js")[0]?.headers.referer).toBe(page);
  expect(origin.requestsTo("/echo")[0]?.headers).toMatchObject({ referer: page, origin: origin.origin });
  expect(otherOrigin.requestsTo("/picture.png")[0]?.headers.referer).toBe(`${origin.origin}/`);
  expect(otherOrigin.requestsTo("/cors/any").at(-1)?.headers).toMatchObject({
    referer: `${origin.origin}/`,
    origin: origin.origin,
  });
  expect(origin.requestsTo("/dir/next")[0]?.headers.referer).toBe(page);
  expect(otherOrigin.requestsTo("/arrived")[0]?.headers.referer).toBe(`${origin.origin}/`);

  for (const request of [...origin.requests, ...otherOrigin.requests]) {
    expect(request.rawHeaders.join("\n"), request.url).not.toMatch(
      new RegExp(`localhost|:${link.port}\\b|ropeway`, "i"),
    );
  }
});

test("referrer policies are kept", async ({ app, origin, otherOrigin }) => {
  otherOrigin.page("/a", "<p>A</p>");
  origin.route("/none", (exchange) =>
    exchange.page(`<!doctype html><title>None</title><img src="/one.png"><a href="${otherOrigin.origin}/a">Go</a>`, {
      "referrer-policy": "no-referrer",
    }),
  );
  origin.page("/full", `<meta name="referrer" content="unsafe-url"><img src="${otherOrigin.origin}/two.png">`);
  await app.goto(`${origin.origin}/none`);
  await app.navigated(() => app.frame().getByRole("link", { name: "Go" }).click());
  expect(otherOrigin.requestsTo("/a")[0]?.headers.referer).toBeUndefined();
  expect(origin.requestsTo("/one.png")[0]?.headers.referer).toBeUndefined();
  await app.goto(`${origin.origin}/full?x`);
  expect((await otherOrigin.requestTo("/two.png")).headers.referer).toBe(`${origin.origin}/full?x`);

  // A redirect does not change it.
  for (const [policy, referer] of [
    ["unsafe-url", `${origin.origin}/led?unsafe-url`],
    ["no-referrer-when-downgrade", `${origin.origin}/led?no-referrer-when-downgrade`],
    ["same-origin", undefined],
    ["", `${origin.origin}/`],
  ] as const) {
    const headers = { "referrer-policy": policy };
    origin.route("/led", ({ page }) => page(`<!doctype html><title>Led</title><img src="/away?${policy}">`, headers));
    origin.route("/away", ({ request, reply }) =>
      reply(302, { location: `${otherOrigin.origin}/end-${request.url.split("?")[1]}.png` }),
    );
    await app.goto(`${origin.origin}/led?${policy}`);
    expect((await otherOrigin.requestTo(`/end-${policy}.png`)).headers.referer, policy).toBe(referer);
  }
});

test("a link that the site itself leads on to another tells that one what a direct visit does", async ({
  app,
  origin,
  otherOrigin,
}) => {
  origin.route("/from", ({ page, request }) => {
    const [, policy = ""] = request.url.split("?");
    page(`<!doctype html><title>From</title><a href="/out?${policy}">Out</a>`, { "referrer-policy": policy });
  });
  origin.route("/out", ({ request, reply }) => {
    const [, policy = ""] = request.url.split("?");
    const hop = policy === "origin" ? { "referrer-policy": "no-referrer" } : {};
    reply(302, { location: `${otherOrigin.origin}/to-${policy}`, ...hop });
  });
  for (const [policy, referer] of [
    ["", `${origin.origin}/`],
    ["unsafe-url", `${origin.origin}/from?unsafe-url`],
    ["same-origin", undefined],
    // The redirect has another.
    ["origin", undefined],
  ] as const) {
    otherOrigin.page(`/to-${policy}`, "<p>There</p>", `To ${policy}`);
    await app.goto(`${origin.origin}/from?${policy}`);
    await app.navigated(() => app.frame().getByRole("link", { name: "Out" }).click());
    expect((await otherOrigin.requestTo(`/to-${policy}`)).headers.referer, policy).toBe(referer);
    const told = await (await app.content()).evaluate(() => document.referrer);
    expect(told, policy).toBe(referer ?? "");
  }
});

test("CORS decides as it does directly", async ({ app, origin, otherOrigin }) => {
  origin.page("/", "<p>Asker</p>");
  await app.goto(`${origin.origin}/`);
  const outcome = await (await app.content()).evaluate(async (other) => {
    const ask = (path: string, init: RequestInit = {}): Promise<string> =>
      fetch(other + path, init).then(
        async (answer) => `${await answer.text()} ${answer.headers.get("x-answer")}`,
        (error: Error) => error.name,
      );
    return {
      any: await ask("/cors/any"),
      none: await ask("/cors/none"),
      opaque: await ask("/cors/none", { mode: "no-cors" }),
      preflighted: await ask("/cors/any", { method: "PUT", headers: { "x-test": "1" } }),
      refusedHeader: await ask("/cors/any", { headers: { "x-forbidden": "1" } }),
      anyWithCredentials: await ask("/cors/any", { credentials: "include" }),
      credentials: await ask("/cors/origin", { credentials: "include" }),
    };
  }, otherOrigin.origin);
  expect(outcome).toEqual({
    any: "cors 42",
    none: "TypeError",
    opaque: " null",
    preflighted: "cors 42",
    refusedHeader: "TypeError",
    anyWithCredentials: "TypeError",
    credentials: "cors 42",
  });
});

test("a page with a referrer policy sends what scripts and forms post, and each once", async ({ app, origin }) => {
  const posted: string[] = [];
  origin.route("/posted", async ({ request, body, reply }) => {
    posted.push(`${request.method} ${await body()} ${request.headers.referer ?? "none"}`);
    reply(200, { "content-type": "text/html" }, "<p>Posted</p>");
  });
  const form = `<form action="/posted" method="post"><input name="a" value="form"><button>Send</button></form>`;
  origin.route("/", ({ page }) => page(form, { "referrer-policy": "same-origin" }));
  await app.goto(`${origin.origin}/`);
  const content = await app.content();
  const sent = await content.evaluate(async () => {
    const post = (init: RequestInit) => fetch("/posted", { method: "POST", ...init }).then(({ status }) => status);
    return [await post({ body: "fetch" }), await post({ body: "origin", referrerPolicy: "origin" })];
  });
  expect(sent).toEqual([200, 200]);
  await app.navigated(() => app.frame().getByRole("button").click());
  await expect(app.frame().getByText("Posted")).toBeVisible();
  const page = `${origin.origin}/`;
  expect(posted).toEqual([`POST fetch ${page}`, `POST origin ${page}`, `POST a=form ${page}`]);
});
