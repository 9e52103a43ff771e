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
