import { expect, testInOneApp as test } from "../fixtures/browser.ts";

test("pages whose address is no percent-encoded UTF-8 are shown", async ({ app, origin }) => {
  for (const path of ["/sale-50%-off", "/caf%E9"]) {
    origin.route(path, ({ reply }) => reply(200, { "content-type": "text/html" }, "<title>Odd</title><p>Shown</p>"));
    await app.goto(`${origin.origin}${path}`);
    await expect(app.frame().getByText("Shown")).toBeVisible();
    await expect(app.address).toHaveValue(`${origin.origin}${path}`);
  }
});
