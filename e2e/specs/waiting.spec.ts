/** What a person sees and gets while the link is gone, and when it comes back. */
import { expect, test } from "../fixtures/browser.ts";

test("a page asked for while offline waits, says so, and loads by itself", async ({ app, origin, link, context }) => {
  origin.page("/", "<p>Worth the wait</p>");
  link.offline();
  await context.setOffline(true);
  await app.ask(`${origin.origin}/`);
  await expect(app.page.locator(".link-pill")).toHaveText(/offline, waiting for the link, \d+ s/i);
  await expect(app.page.locator("html")).toHaveAttribute("data-page", "loading");
  await expect(app.told("Offline")).toBeAttached();
  link.online();
  await context.setOffline(false);
  await expect(app.frame().getByText("Worth the wait")).toBeVisible();
  await expect(app.page.locator(".link-pill")).toHaveCount(0);
  expect(origin.requestsTo("/").length).toBe(1);
});

test("a page that waits can be given up", async ({ app, origin, link, context }) => {
  link.offline();
  await context.setOffline(true);
  await app.ask(`${origin.origin}/`);
  await app.page.getByRole("button", { name: "Cancel" }).click();
  await expect(app.page.locator("html")).toHaveAttribute("data-page", "idle");
  link.online();
  await context.setOffline(false);
  await expect.poll(async () => (await app.stats()).sockets).toBeGreaterThan(0);
  expect(origin.requestsTo("/")).toEqual([]);
});

test("a slow site is waited for in words until its first bytes come", async ({ app, origin }) => {
  let answer: () => void = () => {};
  origin.route("/", async ({ reply }) => {
    await new Promise<void>((resolve) => {
      answer = resolve;
    });
    reply(200, { "content-type": "text/html" }, "<p>At last</p>");
  });
  const words = app.page.getByText("Waiting for the first bytes");
  const { linkBytesDown } = await app.stats();
  await app.ask(`${origin.origin}/`);
  // The edge has said something, if not of this page.
  await expect.poll(async () => (await app.stats()).linkBytesDown).toBeGreaterThan(linkBytesDown);
  await expect.poll(() => origin.requestsTo("/").length).toBe(1);
  // The bar is drawn ten times a second.
  await app.page.waitForTimeout(300);
  await expect(words).toBeVisible();
  answer();
  await expect(app.frame().getByText("At last")).toBeVisible();
  await expect(words).toHaveCount(0);
});

test("the wait does not move what is on the screen", async ({ app, origin, link }) => {
  origin.page("/", "<p>Here</p>");
  await app.goto(`${origin.origin}/`);
  const bar = app.page.locator(".bar");
  const before = await bar.boundingBox();
  link.offline();
  await expect(app.page.locator(".link-pill")).toBeVisible();
  expect(await bar.boundingBox()).toEqual(before);
  await expect(app.frame().getByText("Here")).toBeVisible();
  link.online();
  await expect(app.page.locator(".link-pill")).toHaveCount(0);
});

test("a socket that dies in mid-page without a word is replaced, and the page goes on", async ({
  app,
  origin,
  link,
}) => {
  const half = `<p>First half</p>${"<!-- -->".repeat(2_000)}`;
  let finish: () => void = () => {};
  origin.route("/", async ({ response, write }) => {
    response.writeHead(200, { "content-type": "text/html", "content-length": half.length + 18 });
    await write(half);
    await new Promise<void>((resolve) => {
      finish = resolve;
    });
    response.end("<p>Second half</p>");
  });
  await app.ask(`${origin.origin}/`);
  await expect(app.frame().getByText("First half")).toBeVisible();
  const { connections } = link;
  link.pause();
  // The phone is on another network from here: its old socket is dead, and nobody says so.
  await app.page.evaluate(() => window.dispatchEvent(new Event("online")));
  finish();
  await expect(app.page.locator(".link-pill")).toBeVisible();
  link.cut();
  link.resume();
  await expect(app.frame().getByText("Second half")).toBeVisible();
  expect(link.connections).toBeGreaterThan(connections);
  expect(origin.requestsTo("/").length).toBe(1);
});
