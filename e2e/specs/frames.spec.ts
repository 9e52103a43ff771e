import { expect, test } from "../fixtures/browser.ts";

test("frames of the same site, srcdoc and blob frames are shown", async ({ app, origin }) => {
  origin.page(
    "/",
    `<iframe title="Inner" src="/inner"></iframe><iframe title="Written" srcdoc="<p>Written here</p><img src='/dot.svg'>"></iframe>
     <iframe title="Made"></iframe><script>
       const blob = new Blob(["<p>Made here</p>"], { type: "text/html" });
       document.querySelector("[title=Made]").src = URL.createObjectURL(blob);
     </script>`,
  );
  origin.page("/inner", `<p>Inside</p><script>parent.document.title = "set from inside"</script>`);
  await app.goto(`${origin.origin}/`);
  await expect(app.frame().frameLocator('iframe[title="Inner"]').getByText("Inside")).toBeVisible();
  await expect(app.frame().frameLocator('iframe[title="Written"]').getByText("Written here")).toBeVisible();
  await expect(app.frame().frameLocator('iframe[title="Made"]').getByText("Made here")).toBeVisible();
  await expect.poll(async () => (await app.content()).title()).toBe("set from inside");
  expect((await origin.requestTo("/dot.svg")).headers.referer).toContain(origin.origin);
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
