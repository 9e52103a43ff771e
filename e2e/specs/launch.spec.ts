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

test("the shortcut to the start page opens it where a page would be resumed, which Back leads to", async ({
  app,
  origin,
}) => {
  origin.page("/", "<p>Where I was</p>");
  await app.goto(`${origin.origin}/`);
  await expect
    .poll(() => app.page.evaluate(() => localStorage.getItem("ropeway.history") ?? ""))
    .toContain(origin.origin);
  const shortcut = await app.page.evaluate(async () => {
    const href = document.querySelector<HTMLLinkElement>('link[rel="manifest"]')?.href ?? "";
    const { shortcuts } = (await (await fetch(href)).json()) as { shortcuts: { name: string; url: string }[] };
    return shortcuts.find(({ name }) => name === "Start page")?.url;
  });
  const { base } = app;
  await app.page.goto("about:blank");
  await app.page.goto(`${base}${shortcut}`);
  await expect(app.page.getByRole("region", { name: "Recent" })).toBeVisible();
  await expect(app.page.locator("html")).toHaveAttribute("data-page", "idle");
  await app.page.getByRole("button", { name: "Back" }).click();
  await expect(app.frame().getByText("Where I was")).toBeVisible();
});

test("an open app goes where it is launched for, and stays where it is opened by its icon or key", async ({
  app,
  origin,
  edge,
}) => {
  origin.page("/shared", "<p>Shared</p>");
  origin.page("/", '<input aria-label="Words" />');
  await app.page.addInitScript(() => {
    const queue = {
      setConsumer: (consumer: unknown) => Object.assign(window, { launched: consumer }),
    };
    Object.defineProperty(window, "launchQueue", { value: queue });
  });
  const { base } = app;
  await app.page.goto(`${base}/`);
  await app.goto(`${origin.origin}/`);
  await app.frame().getByLabel("Words").fill("typed");
  const launch = (path: string) =>
    app.page.evaluate(
      (url) => (window as unknown as { launched(launch: object): void }).launched({ targetURL: url }),
      `${base}/${path}`,
    );
  const token = () => app.page.evaluate(() => localStorage.getItem("ropeway.token"));
  const paired = await token();
  await launch("");
  await launch(`#key=${edge.accessKey}`);
  await expect(app.frame().getByLabel("Words")).toHaveValue("typed");
  await launch(`?url=${encodeURIComponent(`${origin.origin}/shared`)}`);
  await expect(app.frame().getByText("Shared")).toBeVisible();
  expect(origin.requestsTo("/shared")[0]?.headers["sec-fetch-site"]).toBe("cross-site");
  // In a tab of its own: nothing that was typed is lost.
  await app.page.getByRole("button", { name: "Tabs: 2" }).click();
  await app.page.getByRole("dialog", { name: "2 tabs" }).locator(".tab-main").first().click();
  await expect(app.frame().getByLabel("Words")).toHaveValue("typed");
  await launch("?view=settings");
  await expect(app.page.getByRole("dialog").getByRole("heading", { name: "Settings" })).toBeVisible();
  await launch("?view=start");
  await expect(app.page.locator("html")).toHaveAttribute("data-page", "idle");
  // The link that has paired the phone pairs it no second time: that would forget all that is stored.
  expect(await token()).toBe(paired);
});
