import { expect, test } from "../fixtures/browser.ts";
import { COUNTED, counts, serve, servePicture, visit } from "../fixtures/stored-site.ts";

test.use({ experiment: COUNTED });

test("a hard reload asks for all of the page, whatever is stored, and later visits are as ever", async ({
  app,
  origin,
}) => {
  serve(origin);
  servePicture(origin);
  await app.storeReady();
  await visit(app, origin);
  const all = counts(origin);

  for (const press of [
    () => app.page.keyboard.press("Control+Shift+R"),
    () => app.page.getByRole("button", { name: "Reload" }).click({ modifiers: ["Shift"] }),
  ]) {
    origin.forget();
    await app.navigated(press);
    expect(counts(origin)).toEqual(all);
    expect(origin.requests.flatMap(({ headers }) => headers["if-none-match"] ?? [])).toEqual([]);
    expect(origin.requestsTo("/page")[0]?.headers["cache-control"]).toBe("no-cache");
  }

  await app.page.getByRole("button", { name: "Home" }).click();
  origin.forget();
  await visit(app, origin);
  expect(counts(origin)).toEqual({ "/page": 1, "/stale.js": 1, "/never.js": 1 });
});
