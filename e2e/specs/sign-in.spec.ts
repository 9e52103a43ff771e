/** Servers that ask for a name and a password (HTTP authentication): the app asks in their name. */
import { createHash } from "node:crypto";
import type { AppPage } from "../fixtures/app-page.ts";
import { expect, testInOneApp as test } from "../fixtures/browser.ts";
import type { Exchange } from "../fixtures/test-origin/test-exchange.ts";

const dialog = (app: AppPage) => app.page.getByRole("dialog");

async function signIn(app: AppPage, name: string, password: string): Promise<void> {
  await dialog(app).getByLabel("Name").fill(name);
  await dialog(app).getByLabel("Password").fill(password);
  await app.page.keyboard.press("Enter");
}

test("a name and a password go to the server that asks, and to no other @deno", async ({
  app,
  origin,
  otherOrigin,
}) => {
  const wanted = `Basic ${Buffer.from("ann:sesame").toString("base64")}`;
  const guarded = (body: string) => (exchange: Exchange) => {
    const isIn = exchange.request.headers.authorization === wanted;
    const refusal = { "www-authenticate": 'Basic realm="Members"', "content-type": "text/html" };
    if (isIn) exchange.reply(200, { "content-type": "text/html", "cache-control": "no-store" }, body);
    else exchange.reply(401, refusal, "<!doctype html><p>Not in");
  };
  const page = `<!doctype html><p>Members only</p><p id=told></p><script>
    Promise.all([fetch("/data"), fetch("${otherOrigin.origin}/data").catch(() => {})]).then(async ([own]) => {
      told.textContent = own.status + await own.text();
    })</script>`;
  origin.route("/club", guarded(page));
  origin.route("/data", guarded("the data"));
  otherOrigin.page("/data", "");

  await app.goto(`${origin.origin}/club`);
  await expect(dialog(app)).toContainText(new URL(origin.origin).host);
  await expect(dialog(app)).toContainText("Members");
  await signIn(app, "ann", "wrong");
  await expect(dialog(app).getByRole("alert")).toHaveText("Name or password is wrong.");
  await signIn(app, "ann", "sesame");
  await expect(app.frame().locator("#told")).toHaveText("200the data");
  await expect(dialog(app)).toHaveCount(0);
  for (const { headers } of otherOrigin.requestsTo("/data")) expect(headers).not.toHaveProperty("authorization");

  // As long as the app runs.
  await app.goto(`${otherOrigin.origin}/data`);
  await app.goto(`${origin.origin}/club`);
  await expect(app.frame().locator("#told")).toHaveText("200the data");
  origin.forget();
  await app.page.reload();
  await expect(dialog(app)).toContainText("Members");
  for (const { headers } of origin.requestsTo("/club")) expect(headers).not.toHaveProperty("authorization");
  await app.page.keyboard.press("Escape");
  await expect(app.frame().getByText("Not in")).toBeVisible();
});

test("pictures and data of a page that its server refuses wait for the person, and the page stays", async ({
  app,
  origin,
  otherOrigin,
}) => {
  const wanted = `Basic ${Buffer.from("ann:sesame").toString("base64")}`;
  const guarded = (type: string, body: string) => (exchange: Exchange) => {
    const { authorization } = exchange.request.headers;
    const refusal = { "www-authenticate": 'Basic realm="Members"', "content-type": "text/html" };
    if (authorization === wanted) exchange.reply(200, { "content-type": type, "cache-control": "no-store" }, body);
    else exchange.reply(401, refusal, "<!doctype html><p>Not in");
  };
  const boat = '<svg xmlns="http://www.w3.org/2000/svg" width="7" height="7"/>';
  for (const site of [origin, otherOrigin]) site.route("/club", guarded("text/html", "<!doctype html><p>Members only"));
  origin.route("/data", guarded("text/plain", "the data"));
  origin.route("/boat.svg", guarded("image/svg+xml", boat));
  const parts = `<input aria-label="Draft"><p id=told></p><p id=sent></p><img src="/boat.svg"><script>
    fetch("/data").then(async (own) => { told.textContent = own.status + await own.text(); });
    fetch("/data", { method: "POST" }).then(({ status }) => { sent.textContent = status; });
  </script>`;
  for (const path of ["/", "/again"]) origin.page(path, parts);
  const told = app.frame().locator("#told");
  const width = () =>
    app
      .frame()
      .locator("img")
      .evaluate((image: HTMLImageElement) => image.naturalWidth);

  // The person will not, and is not asked once more for this page.
  await app.ask(`${origin.origin}/`);
  await expect(dialog(app)).toContainText("Members");
  await app.page.keyboard.press("Escape");
  await expect(told).toHaveText("401<!doctype html><p>Not in");
  expect(await width()).toBe(0);
  await expect(dialog(app)).toHaveCount(0);

  await app.ask(`${origin.origin}/again`);
  await expect(dialog(app)).toContainText("Members");
  await (await app.content()).evaluate(() => {
    (document.querySelector("input") as HTMLInputElement).value = "kept";
  });
  await signIn(app, "ann", "wrong");
  await expect(dialog(app).getByRole("alert")).toHaveText("Name or password is wrong.");
  await signIn(app, "ann", "sesame");
  await expect(told).toHaveText("200the data");
  await expect.poll(width).toBe(7);
  await expect(app.frame().getByLabel("Draft")).toHaveValue("kept");
  await expect(dialog(app)).toHaveCount(0);
  // Nothing is sent twice.
  await expect(app.frame().locator("#sent")).toHaveText("401");
  expect(origin.requests.filter(({ method }) => method === "POST")).toHaveLength(2);

  // For a frame of the own site the page comes once more.
  otherOrigin.page("/", '<iframe src="/club"></iframe>');
  await app.ask(`${otherOrigin.origin}/`);
  await expect(dialog(app)).toContainText("Members");
  await signIn(app, "ann", "sesame");
  await expect(app.frame().frameLocator("iframe").getByText("Members only")).toBeVisible();
});

test("a person who will not sign in sees the page that the server has for that", async ({ app, origin }) => {
  origin.route("/closed", ({ reply }) =>
    reply(401, { "www-authenticate": "Basic realm=x", "content-type": "text/html" }, "<!doctype html><p>Not in"),
  );
  await app.goto(`${origin.origin}/closed`);
  await expect(dialog(app)).toBeVisible();
  await app.page.keyboard.press("Escape");
  await expect(dialog(app)).toHaveCount(0);
  await expect(app.frame().getByText("Not in")).toBeVisible();
});

test("servers that ask by digest get one, and a new one where theirs is stale", async ({ app, origin }) => {
  const md5 = (text: string) => createHash("md5").update(text).digest("hex");
  let nonce = "first";
  const counts: string[] = [];
  origin.route("/digest", ({ request, reply }) => {
    const sent = request.headers.authorization ?? "";
    const read = (name: string) => new RegExp(`\\b${name}="?([^",]*)`).exec(sent)?.[1] ?? "";
    const a1 = md5("ann:Members:sesame");
    const part = `${read("nonce")}:${read("nc")}:${read("cnonce")}:auth`;
    const isRight = sent !== "" && read("response") === md5(`${a1}:${part}:${md5("GET:/digest?q=1")}`);
    const stale = isRight && read("nonce") !== nonce ? ", stale=true" : "";
    if (isRight && stale === "") {
      counts.push(`${read("nonce")} ${read("nc")}`);
      return reply(200, { "content-type": "text/html", "cache-control": "no-store" }, "<!doctype html><p>In by digest");
    }
    const challenge = `Digest realm="Members", qop="auth", algorithm=MD5, nonce="${nonce}"${stale}`;
    return reply(401, { "www-authenticate": challenge, "content-type": "text/html" }, "<!doctype html><p>Not in");
  });
  await app.goto(`${origin.origin}/digest?q=1`);
  await signIn(app, "ann", "sesame");
  await expect(app.frame().getByText("In by digest")).toBeVisible();
  nonce = "second";
  await app.page.keyboard.press("F5");
  await expect.poll(() => counts).toEqual(["first 00000001", "second 00000001"]);
  await expect(app.frame().getByText("In by digest")).toBeVisible();
  await expect(dialog(app)).toHaveCount(0);
});
