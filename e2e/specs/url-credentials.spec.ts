import { expect, testInOneApp as test } from "../fixtures/browser.ts";

test("user and password in an address go to the origin, once", async ({ app, origin }) => {
  origin.route("/private", ({ request, reply }) => {
    const isKnown = request.headers.authorization === `Basic ${btoa("user:secret")}`;
    const text = isKnown ? "Welcome" : "Refused";
    reply(isKnown ? 200 : 401, { "content-type": "text/html" }, `<!doctype html><title>${text}</title><p>${text}</p>`);
  });
  await app.goto(`${origin.origin.replace("://", "://user:secret@")}/private`);
  await expect(app.frame().getByText("Welcome")).toBeVisible();
  await expect(app.address).toHaveValue(`${origin.origin}/private`);
  expect(origin.requestsTo("/private")).toHaveLength(1);
});

test("user and password in an address that redirects to another host", async ({ app, origin, otherOrigin }) => {
  origin.route("/moved", ({ reply }) => reply(302, { location: `${otherOrigin.origin}/here` }));
  otherOrigin.page("/here", "<p>Moved here</p>");
  await app.goto(`${origin.origin.replace("://", "://user:secret@")}/moved`);
  await expect(app.frame().getByText("Moved here")).toBeVisible();
  expect(origin.requestsTo("/moved")).toHaveLength(1);
  expect(otherOrigin.requestsTo("/here").map(({ headers }) => headers.authorization)).toEqual([undefined]);
});
