import { test as alone, expect, testInOneApp as test } from "../fixtures/browser.ts";

const ACTIONS = {
  "a link": '<a id="go" href="TARGET">Go</a>',
  "a link with target=_blank": '<a id="go" href="TARGET" target="_blank" rel="noopener">Go</a>',
  "a link with target=_blank whose click the page keeps to itself":
    '<a id="go" href="TARGET" target="_blank" onclick="event.stopPropagation()">Go</a>',
  "a script's click on such a link": `<button id="go" onclick="this.nextSibling.click()">Go</button><a href="TARGET" target="_blank" onclick="event.cancelBubble = true">There</a>`,
  "a link with target=_top": '<a id="go" href="TARGET" target="_top">Go</a>',
  "an assignment to location": `<button id="go" onclick="location = 'TARGET'">Go</button>`,
  "location.href": `<button id="go" onclick="location.href = 'TARGET'">Go</button>`,
  "location.replace": `<button id="go" onclick="location.replace('TARGET')">Go</button>`,
  "window.open": `<button id="go" onclick="window.open('TARGET')">Go</button>`,
  "a meta refresh": `<button id="go" onclick="document.head.insertAdjacentHTML('beforeend', '<meta http-equiv=refresh content=\\'0;url=TARGET\\'>')">Go</button>`,
};

for (const [name, html] of Object.entries(ACTIONS)) {
  for (const kind of ["same", "other"] as const) {
    // Of tabs that open one after the other the app asks the person.
    const it = html.includes("_blank") ? alone : test;
    it(`${name} leads to a page of the ${kind} site`, async ({ app, origin, otherOrigin, network }) => {
      const target = kind === "same" ? origin : otherOrigin;
      target.page("/target", "<p>Arrived</p>", "Target page");
      origin.page("/", html.replace("TARGET", kind === "same" ? "/target" : `${otherOrigin.origin}/target`));
      await app.goto(`${origin.origin}/`);
      await app.navigated(() => app.frame().locator("#go").click());
      await expect(app.frame().getByText("Arrived")).toBeVisible();
      await expect(app.address).toHaveValue(new RegExp(`:${target.port}/target`));
      await expect(app.page).toHaveTitle(/Target page/);
      expect(target.requestsTo("/target")).toHaveLength(1);
      expect(app.page.context().pages()).toHaveLength(1);
      expect(network.leaks("localhost")).toEqual([]);
    });
  }
}

test("links within the page and history.pushState load nothing", async ({ app, origin }) => {
  origin.page(
    "/",
    `<a href="#below">Down</a><button onclick="history.pushState({}, '', '/pushed?x=1')">Push</button><p id="below" style="margin-top:200vh">Below</p>`,
  );
  await app.goto(`${origin.origin}/`);
  await app.frame().getByRole("link", { name: "Down" }).click();
  await expect(app.frame().getByText("Below")).toBeInViewport();
  await app.frame().getByRole("button", { name: "Push" }).click();
  await expect(app.address).toHaveValue(/\/pushed\?x=1/);
  expect(origin.requests.map(({ path }) => path)).toEqual(["/"]);
});

test("scripts see the path, query and fragment of the real address", async ({ app, origin }) => {
  origin.page("/a/b", "<p>Here</p>");
  await app.goto(`${origin.origin}/a/b?c=d#e`);
  const seen = await (await app.content()).evaluate(() => {
    const link = document.createElement("a");
    link.href = "../x?y";
    return [location.pathname, location.search, location.hash, link.pathname + link.search];
  });
  expect(seen).toEqual(["/a/b", "?c=d", "#e", "/x?y"]);
});

test("a link to a person leaves the page as it is, and opens another app where the person lets the site", async ({
  app,
  origin,
}) => {
  origin.page("/", `<a href="mailto:a@b.example">Write</a><p>Here</p>`);
  await app.goto(`${origin.origin}/`);
  await app.frame().getByRole("link", { name: "Write" }).click();
  await expect(app.page.locator(".notice-bar")).toContainText("wants to open another app (mailto:)");
  await app.page.getByRole("button", { name: "Block" }).click();
  await expect(app.page.locator(".notice-bar")).toHaveCount(0);
  expect(await app.phase()).toBe("loaded");
  await expect(app.frame().getByText("Here")).toBeVisible();
  await expect(app.page.getByText(/Cannot open/)).toHaveCount(0);
});

test("a link that the site leads on to another app leaves the page as it is, and asks", async ({
  app,
  origin,
  otherOrigin,
}) => {
  origin.route("/sign", ({ reply }) => reply(302, { location: "bankid:///?autostarttoken=1" }));
  otherOrigin.route("/sign", ({ reply }) => reply(302, { location: "tel:+49301234" }));
  origin.page("/", `<a href="/sign">Here</a> <a href="${otherOrigin.origin}/sign">Elsewhere</a><p>Stays</p>`);
  await app.goto(`${origin.origin}/`);
  for (const [name, scheme] of Object.entries({ Here: "bankid:", Elsewhere: "tel:" })) {
    await app.frame().getByRole("link", { name, exact: true }).click();
    await expect(app.page.locator(".notice-bar")).toContainText(`wants to open another app (${scheme})`);
    await app.page.getByRole("button", { name: "Block" }).click();
    await expect(app.frame().getByText("Stays")).toBeVisible();
    expect(await app.phase()).toBe("loaded");
    await expect(app.page.getByText(/Cannot open/)).toHaveCount(0);
  }
});

test("another part of the page shown is there without a request", async ({ app, origin }) => {
  origin.page("/", '<p style="margin-top: 200vh" id="below">Below</p>');
  await app.goto(`${origin.origin}/`);
  await app.goto(`${origin.origin}/#below`);
  await expect(app.frame().getByText("Below")).toBeInViewport();
  await expect(app.address).toHaveValue(/#below$/);
  expect(origin.requestsTo("/")).toHaveLength(1);
});
