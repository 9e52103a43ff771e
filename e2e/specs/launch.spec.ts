/** Addresses that open the app for a page can be links on any other page. */
import { expect, test } from "../fixtures/browser.ts";

for (const part of ["?", "#", "?text=", "#key="] as const) {
  test(`a page that the app is opened for by ${part} is asked for as from another site`, async ({
    app,
    origin,
    edge,
  }) => {
    origin.page("/account", "<p>Account</p>");
    const cookies = ["strict=1; SameSite=Strict", "lax=1; SameSite=Lax"].map((cookie) => {
      const [name = "", ...value] = cookie.split("=");
      return `${name}=${encodeURIComponent(value.join("="))}`;
    });
    await app.goto(`${origin.origin}/set-cookies?${cookies.join("&")}`);
    const url = encodeURIComponent(`${origin.origin}/account`);
    const launch = {
      "?": `?url=${url}`,
      "#": `#url=${url}`,
      "?text=": `?text=See+${url}`,
      "#key=": `#key=${edge.accessKey}&url=${url}`,
    };
    const { base } = app;
    await app.page.goto("about:blank");
    await app.page.goto(`${base}/${launch[part]}`);
    await expect(app.frame().getByText("Account")).toBeVisible();
    const [launched] = origin.requestsTo("/account");
    expect(launched?.headers).toMatchObject({ cookie: "lax=1", "sec-fetch-site": "cross-site" });

    await app.goto(`${origin.origin}/account`);
    const typed = origin.requestsTo("/account").at(-1);
    expect(typed?.headers["sec-fetch-site"]).toBe("none");
    expect(typed?.headers.cookie?.split("; ").sort()).toEqual(["lax=1", "strict=1"]);
  });
}

test("a page that opens the app gets no handle on its window", async ({ app, context, origin }) => {
  origin.page("/", '<button onclick="handle = window.open(document.title)">Open</button>', `${app.base}/`);
  const hostile = await context.newPage();
  await hostile.goto(`${origin.origin}/`);
  const opened = context.waitForEvent("page");
  await hostile.getByRole("button").click();
  const other = await opened;
  await expect(other.getByRole("textbox", { name: "Address" })).toBeVisible();
  await expect.poll(() => hostile.evaluate("handle.closed")).toBe(true);
  expect(await other.evaluate(() => window.opener)).toBeNull();
});
