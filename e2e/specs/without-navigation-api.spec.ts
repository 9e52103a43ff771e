import { expect, test } from "../fixtures/browser.ts";

test("a browser without the Navigation API goes forth and back, follows redirects, and sends forms @long", async ({
  app,
  origin,
  otherOrigin,
}) => {
  await app.page.context().addInitScript(() => Reflect.deleteProperty(window, "navigation"));
  await app.page.reload();
  await app.watchLoads();
  const body = `<a href="/redirect/302?to=${otherOrigin.origin}/arrived">Moved</a>
     <form method="post" action="${otherOrigin.origin}/form"><input name="a" value="1"><button>Send</button></form>`;
  for (const path of ["/", "/pushed"]) origin.page(path, body);
  otherOrigin.page("/arrived", "<p>Arrived</p>");
  await app.goto(`${origin.origin}/`);
  const back = app.page.getByRole("button", { name: "Back", exact: true });
  await (await app.content()).evaluate(() => history.pushState(null, "", "/pushed"));
  await expect(app.address).toHaveValue(/pushed/);
  await app.navigated(() => app.frame().getByRole("link", { name: "Moved" }).click());
  await expect(app.frame().getByText("Arrived")).toBeVisible();
  await expect(back).toBeEnabled();
  await app.navigated(() => back.click());
  await app.navigated(() => app.frame().getByRole("button", { name: "Send" }).click());
  await expect(app.frame().getByText('"method":"POST"')).toBeVisible();
});
