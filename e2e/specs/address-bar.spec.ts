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
