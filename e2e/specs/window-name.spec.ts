/** `window.name`, which sites use to keep things in and to pass them on. */
import type { Frame, Page } from "@playwright/test";
import { expect, testInOneApp as test } from "../fixtures/browser.ts";
import type { TestOrigin } from "../fixtures/test-origin/test-origin.ts";

function serve(origin: TestOrigin, otherOrigin: TestOrigin): void {
  for (const each of [origin, otherOrigin]) {
    each.page("/", "<p>First</p>");
    each.page("/next", "<p>Next</p>");
    // Past what the app puts in the name's place, at the last moment too.
    each.page(
      "/late",
      `<p>Late</p><iframe></iframe><script>
         const { set } = Object.getOwnPropertyDescriptor(document.querySelector("iframe").contentWindow, "name");
         for (const type of ["beforeunload", "pagehide", "visibilitychange", "unload"])
           addEventListener(type, () => { set.call(window, "late"); window.name = "late"; });
       </script>`,
    );
  }
}

const nameIn = (page: Page | Frame) => page.evaluate(() => window.name);
/** Past what the app puts in its place. */
const rawNameIn = (page: Page | Frame) =>
  page.evaluate(() => {
    const frame = document.createElement("iframe");
    document.body.append(frame);
    const { get } = Object.getOwnPropertyDescriptor(frame.contentWindow ?? window, "name") ?? {};
    frame.remove();
    return get?.call(window) as string;
  });

test("a site's name of the window is there for its next page and on the way back, and for no other site", async ({
  app,
  origin,
  otherOrigin,
}) => {
  serve(origin, otherOrigin);
  const back = app.page.getByRole("button", { name: "Back" });
  const expectName = async (name: string) => expect(await nameIn(await app.content())).toBe(name);
  const setName = async (name: string) =>
    (await app.content()).evaluate((given) => {
      window.name = given;
    }, name);
  await app.goto(`${origin.origin}/`);
  await expectName("");
  await setName("bank's secret");
  await app.goto(`${origin.origin}/next`);
  await expectName("bank's secret");
  await app.goto(`${otherOrigin.origin}/`);
  await expectName("");
  await setName("other's");
  await app.goto(`${origin.origin}/`);
  await expectName("");
  await app.navigated(() => back.click());
  await expectName("other's");
  await app.navigated(() => back.click());
  await expectName("bank's secret");
});

test("links and forms find the window by its name", async ({ app, origin, otherOrigin }) => {
  serve(origin, otherOrigin);
  origin.page("/named", `<script>window.name = "mine"</script><a target=mine href="/next">Link</a>`);
  origin.page("/form", `<form target=mine method=post action="/echo"><button>Send</button></form>`);
  await app.goto(`${origin.origin}/named`);
  await app.navigated(() => app.frame().getByText("Link").click());
  await expect(app.frame().getByText("Next")).toBeVisible();
  await app.goto(`${origin.origin}/form`);
  await app.navigated(() => app.frame().getByText("Send").click());
  expect((await origin.requestTo("/echo")).method).toBe("POST");
});

test("a page that names the window as it goes leaves nothing to the next site", async ({
  app,
  origin,
  otherOrigin,
}) => {
  serve(origin, otherOrigin);
  await app.goto(`${origin.origin}/late`);
  await app.goto(`${otherOrigin.origin}/`);
  for (const path of ["/next", "/"]) {
    const page = await app.content();
    expect(await nameIn(page)).toBe("");
    expect(await rawNameIn(page)).toBe("");
    await app.goto(otherOrigin.origin + path);
  }
  // A document that no script of the app begins.
  otherOrigin.route("/sandboxed", ({ page }) =>
    page("<!doctype html><title>Sandboxed</title><p id=said></p><script>said.textContent = '[' + name + ']'</script>", {
      "content-security-policy": "sandbox allow-scripts",
    }),
  );
  await app.goto(`${origin.origin}/`);
  await (await app.content()).evaluate(() => {
    window.name = "bank's secret";
  });
  await app.goto(`${otherOrigin.origin}/sandboxed`);
  await expect(app.frame().locator("#said")).toHaveText("[]");
});
