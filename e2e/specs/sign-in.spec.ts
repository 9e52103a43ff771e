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

test("parts of a page ask for its own server, once, and come with the page once the person has signed in", async ({
  app,
  origin,
  otherOrigin,
}) => {
  const wanted = `Basic ${Buffer.from("ann:sesame").toString("base64")}`;
  const guarded = (type: string, body: string) => (exchange: Exchange) => {
    const refusal = {
      "www-authenticate": 'Basic realm="Members"',
      "content-type": "text/html",
      "access-control-allow-origin": "*",
    };
    if (exchange.request.headers.authorization === wanted)
      exchange.reply(200, { "content-type": type, "cache-control": "no-store" }, body);
    else exchange.reply(401, refusal, "<!doctype html><p>Not in");
  };
  for (const site of [origin, otherOrigin]) site.route("/data", guarded("text/plain", "the data"));
  origin.route("/boat.svg", guarded("image/svg+xml", '<svg xmlns="http://www.w3.org/2000/svg" width="7" height="7"/>'));
  origin.route("/frame", guarded("text/html", "<!doctype html><p>Framed"));
  const parts = (path: string) => `<input aria-label="Draft"><p id=told></p><p id=sent></p>${path}<script>
    fetch("/data").then(async (own) => { told.textContent = own.status + await own.text(); });
    fetch("/data", { method: "POST" }).then(({ status }) => { sent.textContent = status; });
  </script>`;
  origin.page("/", parts('<img src="/boat.svg">'));
  origin.page("/framed", '<iframe src="/frame"></iframe>');
  origin.page(
    "/other",
    `<p>Other</p><img src="${otherOrigin.origin}/data"><script>
    fetch("${otherOrigin.origin}/data").then(({ status }) => { document.body.append(status); });
  </script>`,
  );
  const told = app.frame().locator("#told");
  const width = () =>
    app
      .frame()
      .locator("img")
      .evaluate((image: HTMLImageElement) => image.naturalWidth);

  // What is of another server, or is sent, asks for nothing.
  await app.goto(`${origin.origin}/other`);
  await expect(app.frame().getByText("401")).toBeVisible();
  await expect(dialog(app)).toHaveCount(0);

  // A person who will not is asked no more for this page, which has what its server says.
  await app.goto(`${origin.origin}/`);
  await expect(dialog(app)).toContainText("Members");
  await expect(told).toHaveText("401<!doctype html><p>Not in");
  await app.page.keyboard.press("Escape");
  const content = await app.content();
  expect(await content.evaluate(async () => (await fetch("/data")).status)).toBe(401);
  await expect(dialog(app)).toHaveCount(0);
  expect(await width()).toBe(0);

  await app.page.getByRole("button", { name: "Reload" }).click();
  await expect(dialog(app)).toContainText("Members");
  await signIn(app, "ann", "wrong");
  await expect(dialog(app).getByRole("alert")).toHaveText("Name or password is wrong.");
  await signIn(app, "ann", "sesame");
  await expect(told).toHaveText("200the data");
  await expect(app.frame().locator("#sent")).toHaveText("200");
  await expect.poll(width).toBe(7);
  await expect(dialog(app)).toHaveCount(0);
  await app.goto(`${origin.origin}/framed`);
  await expect(app.frame().frameLocator("iframe").getByText("Framed")).toBeVisible();
  for (const { headers } of otherOrigin.requestsTo("/data")) expect(headers).not.toHaveProperty("authorization");
});

test("a frame of the page's own server asks, too, and once for the page", async ({ app, origin }) => {
  const wanted = `Basic ${Buffer.from("ann:sesame").toString("base64")}`;
  origin.route("/frame", ({ request, reply }) => {
    const isIn = request.headers.authorization === wanted;
    const fields = { "content-type": "text/html", ...(isIn ? {} : { "www-authenticate": "Basic realm=Frame" }) };
    reply(isIn ? 200 : 401, fields, `<!doctype html><p>${isIn ? "Framed" : "Not in"}`);
  });
  origin.page("/", '<iframe src="/frame"></iframe>');
  await app.goto(`${origin.origin}/`);
  await expect(dialog(app)).toContainText("Frame");
  await app.page.keyboard.press("Escape");
  const content = await app.content();
  await content.evaluate(async () => {
    const frame = document.querySelector("iframe") as HTMLIFrameElement;
    const loaded = new Promise((resolve) => frame.addEventListener("load", resolve, { once: true }));
    frame.src = "/frame?again";
    await loaded;
  });
  await expect(app.frame().frameLocator("iframe").getByText("Not in")).toBeVisible();
  await expect(dialog(app)).toHaveCount(0);
  await app.page.getByRole("button", { name: "Reload" }).click();
  await expect(dialog(app)).toContainText("Frame");
  await signIn(app, "ann", "sesame");
  await expect(app.frame().frameLocator("iframe").getByText("Framed")).toBeVisible();
});

test("a server's question waits for a person who types an address", async ({ app, origin }) => {
  let answer = () => {};
  origin.page("/", "<p>Shown</p>");
  origin.route("/late", async ({ reply }) => {
    await new Promise<void>((resolve) => {
      answer = resolve;
    });
    reply(
      401,
      { "www-authenticate": 'Basic realm="Members"', "content-type": "text/html" },
      "<!doctype html><p>Not in",
    );
  });
  await app.goto(`${origin.origin}/`);
  await app.ask(`${origin.origin}/late`);
  await origin.requestTo("/late");
  await app.address.focus();
  await app.page.keyboard.type("har");
  answer();
  for (const letter of "bour of the lighthouse") await app.page.keyboard.press(letter, { delay: 20 });
  await expect(app.address).toHaveValue("harbour of the lighthouse");
  await expect(dialog(app)).toHaveCount(0);
  await app.page.keyboard.press("Escape");
  await app.page.keyboard.press("Escape");
  await expect(dialog(app)).toContainText("Members");
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
  const bodies: string[] = [];
  origin.route("/digest", async ({ request, body, reply }) => {
    bodies.push(`${request.method} ${await body()}`);
    const sent = request.headers.authorization ?? "";
    const read = (name: string) => new RegExp(`\\b${name}="?([^",]*)`).exec(sent)?.[1] ?? "";
    const a1 = md5("ann:Members:sesame");
    const part = `${read("nonce")}:${read("nc")}:${read("cnonce")}:auth`;
    const isRight = sent !== "" && read("response") === md5(`${a1}:${part}:${md5(`${request.method}:${request.url}`)}`);
    const stale = isRight && read("nonce") !== nonce ? ", stale=true" : "";
    if (isRight && stale === "") {
      counts.push(`${read("nonce")} ${read("nc")}`);
      return reply(
        200,
        { "content-type": "text/html", "cache-control": "no-store" },
        `<!doctype html><p>In by digest, ${request.method}</p>
        <form method="post"><input name="told" value="this"><button>Send</button></form>`,
      );
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
  // Parts of the page, and a form, whose body goes out once more.
  nonce = "third";
  const content = await app.content();
  const load = () => Promise.all([2, 3, 4].map(async (part) => (await fetch(`/digest?q=${part}`)).status));
  expect(await content.evaluate(load)).toEqual([200, 200, 200]);
  nonce = "fourth";
  await app.navigated(() => app.frame().getByRole("button").click());
  await expect(app.frame().getByText("In by digest, POST")).toBeVisible();
  const third = ["third 00000001", "third 00000002", "third 00000003"];
  expect(counts.slice(2).sort()).toEqual(["fourth 00000001", ...third]);
  expect(bodies.slice(-2)).toEqual(["POST told=this", "POST told=this"]);
  await expect(dialog(app)).toHaveCount(0);
});
