import { expect, test } from "../fixtures/browser.ts";

test("the bar names the page that is visible until another site's is there", async ({ app, origin, otherOrigin }) => {
  let answer = () => {};
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  origin.page(
    "/",
    `<p>Log in</p><script>setTimeout(() => { location = "${otherOrigin.origin}/slow-page"; setTimeout(() => fetch("/echo"), 200); })</script>`,
    "Lure",
  );
  otherOrigin.route("/slow-page", async ({ page }) => {
    await answered;
    page("<title>Bank</title><p>The bank</p>");
  });
  otherOrigin.page("/", "<p>Welcome</p>");
  // With the bank's host on the phone set up, nothing takes the lure's place until the bank's page comes.
  await app.goto(`${otherOrigin.origin}/`);
  await app.ask(`${origin.origin}/`);
  await otherOrigin.requestTo("/slow-page");
  // It is there and at work: the automation waits for the next page before it looks into a frame.
  await origin.requestTo("/echo");
  await expect(app.page.locator("html")).toHaveAttribute("data-page", "loading");
  await expect(app.address).toHaveValue(`${origin.origin}/`);
  await expect(app.page).toHaveTitle("Lure");
  answer();
  await expect(app.frame().getByText("The bank")).toBeVisible();
  await expect(app.address).toHaveValue(`${otherOrigin.origin}/slow-page`);
  await expect(app.page).toHaveTitle("Bank");
});

/** Each is run in the page time and again. */
const WAYS = {
  "by itself": ({ at }: { readonly at: number }) => {
    location.href = `/none?${at}`;
  },
  "by messages to the app": ({ at }: { readonly at: number }) => {
    const going = { url: `${location.origin}/none?${at}`, method: "GET", headers: [], body: null, referrer: "" };
    top?.postMessage({ tag: "ropeway.1", type: "navigate", ...going, replace: false }, "*");
  },
};

for (const [way, go] of Object.entries(WAYS)) {
  test(`a page that goes elsewhere all the time, ${way}, is left by a typed address`, async ({
    app,
    origin,
    otherOrigin,
  }) => {
    origin.page("/", "<p>Stay</p>", "Trap");
    origin.route("/none", ({ response }) => void response.writeHead(204).end());
    otherOrigin.page("/", "<p>The bank</p>", "Bank");
    await app.goto(`${origin.origin}/`);
    // A script of the automation counts as a tap, for some seconds.
    const loop = `let at = 0;
      const isOver = setInterval(() => {
        if (navigator.userActivation.isActive) return;
        clearInterval(isOver);
        fetch("/loops");
        setInterval(() => (${go})({ at: at++ }), 30);
      }, 30);`;
    await (await app.content()).evaluate(loop);
    await origin.requestTo("/loops");
    await app.ask(`${otherOrigin.origin}/`);
    await expect(app.frame().getByText("The bank")).toBeVisible();
    await expect(app.address).toHaveValue(`${otherOrigin.origin}/`);
    await app.page.getByRole("button", { name: "Back" }).click();
    await expect(app.frame().getByText("Stay")).toBeVisible();
    await expect(app.address).toHaveValue(`${origin.origin}/`);
  });
}
