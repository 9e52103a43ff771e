import { type AppPage, expect, testInOneApp as test } from "../fixtures/browser.ts";
import { type ReceivedForm, receivedForm } from "../fixtures/received-form.ts";
import { noiseBytes } from "../fixtures/test-origin/noise.ts";

const FIELDS = `<input name="word" value="sea &amp; süß"><input type="checkbox" name="tick" checked>
  <select name="pick"><option>one<option selected>two</select><textarea name="text">a
b</textarea><button name="go" value="now">Send</button>`;

async function submit(app: AppPage, url: string): Promise<ReceivedForm> {
  await app.goto(url);
  await app.navigated(() => app.frame().getByRole("button", { name: "Send" }).click());
  return receivedForm(app);
}

const expected = [
  { name: "word", value: "sea & süß" },
  { name: "tick", value: "on" },
  { name: "pick", value: "two" },
  { name: "text", value: "a\r\nb" },
  { name: "go", value: "now" },
];

test("a GET form puts its fields into the address", async ({ app, origin }) => {
  origin.page("/", `<form action="/form">${FIELDS}</form>`);
  const received = await submit(app, `${origin.origin}/`);
  expect(received).toEqual({ method: "GET", type: "", fields: expected });
  expect(origin.requestsTo("/form")).toHaveLength(1);
  await expect(app.address).toHaveValue(/\/form\?word=sea/);
});

test("a POST form sends its fields urlencoded", { tag: "@deno" }, async ({ app, origin }) => {
  origin.page("/", `<form action="/form" method="post">${FIELDS}</form>`);
  const received = await submit(app, `${origin.origin}/`);
  expect(received).toEqual({ method: "POST", type: "application/x-www-form-urlencoded", fields: expected });
  expect(origin.requestsTo("/form")[0]?.headers.origin).toBe(origin.origin);
});

test("a multipart form sends fields and files", { tag: "@deno" }, async ({ app, origin }) => {
  origin.page(
    "/",
    `<form action="/form" method="post" enctype="multipart/form-data">${FIELDS}<input type="file" name="file"></form>`,
  );
  await app.goto(`${origin.origin}/`);
  const file = { name: "chart.bin", mimeType: "application/octet-stream", buffer: noiseBytes(300_000) };
  await app.frame().locator("input[type=file]").setInputFiles(file);
  await app.navigated(() => app.frame().getByRole("button", { name: "Send" }).click());
  const received = await receivedForm(app);
  expect(received.type).toBe("multipart/form-data");
  expect(received.fields).toEqual([...expected, { name: "file", value: "chart.bin 300000 bytes" }]);
});

test("a form goes over https where the page's policy has requests upgraded", async ({ app, direct, origin }) => {
  const policy = { "content-type": "text/html", "content-security-policy": "upgrade-insecure-requests" };
  origin.route("/", ({ reply }) =>
    reply(200, policy, `<form action="http://nowhere.invalid/form" method="post">${FIELDS}</form>`),
  );
  await direct.page.goto(`${origin.origin}/`);
  const request = direct.page.waitForRequest(/nowhere/);
  await direct.page.getByRole("button", { name: "Send" }).click();
  const url = (await request).url();
  expect(url).toBe("https://nowhere.invalid/form");
  await app.goto(`${origin.origin}/`);
  const asked = app.page.evaluate(
    () =>
      new Promise<string>((resolve) => {
        addEventListener("message", ({ data }) => data.type === "navigate" && resolve(data.url));
      }),
  );
  await app.frame().getByRole("button", { name: "Send" }).click();
  expect(await asked).toBe(url);
  await expect(app.page.locator(".notice-bar")).toHaveText(/^nowhere\.invalid did not open/);
});

test("a form may post to another site", async ({ app, origin, otherOrigin }) => {
  origin.page("/", `<form action="${otherOrigin.origin}/form" method="post">${FIELDS}</form>`);
  const received = await submit(app, `${origin.origin}/`);
  expect(received).toMatchObject({ method: "POST", fields: expected });
  const [request] = otherOrigin.requestsTo("/form");
  expect(request?.headers.origin).toBe(origin.origin);
  await expect(app.address).toHaveValue(new RegExp(otherOrigin.origin.replace("http://", "")));
});

test("a form sent by script arrives like one sent by hand", async ({ app, origin }) => {
  origin.page("/", `<form action="/form" method="post">${FIELDS}</form>`);
  await app.goto(`${origin.origin}/`);
  const frame = await app.content();
  await app.navigated(() => frame.evaluate(() => document.forms[0]?.submit()));
  const received = await receivedForm(app);
  expect(received.fields).toEqual(expected.slice(0, -1));
});

test("a form that is redirected to its own address is not sent again by Reload", async ({ app, origin }) => {
  const page = `<p>Saved</p><form method="post"><input name="a" value="1"><button>Send</button></form>`;
  origin.route("/edit", async ({ request, body, reply, page: show }) => {
    if (request.method === "GET") return show(page);
    await body();
    reply(302, { location: "/edit" });
  });
  await app.goto(`${origin.origin}/edit`);
  await app.navigated(() => app.frame().getByRole("button", { name: "Send" }).click());
  await app.navigated(() => app.page.getByRole("button", { name: "Reload" }).click());
  await expect(app.frame().getByText("Saved")).toBeVisible();
  expect(origin.requestsTo("/edit").map(({ method }) => method)).toEqual(["GET", "POST", "GET", "GET"]);
});

test("Reload asks before it sends a form again", async ({ app, origin }) => {
  origin.page("/", `<form action="/form" method="post">${FIELDS}</form>`);
  await submit(app, `${origin.origin}/`);
  const notice = app.page.getByRole("navigation").getByText(/has to be sent again/);
  const methods = () => origin.requestsTo("/form").map(({ method }) => method);

  await app.page.getByRole("button", { name: "Reload" }).click();
  await expect(notice).toBeVisible();
  await app.page.getByRole("button", { name: "Dismiss" }).click();
  await expect(notice).toBeHidden();
  await expect(app.page.locator("html")).toHaveAttribute("data-page", "loaded");
  expect(methods()).toEqual(["POST"]);

  await app.page.getByRole("button", { name: "Reload" }).click();
  await app.navigated(() => app.page.getByRole("button", { name: "Send again" }).click());
  expect(methods()).toEqual(["POST", "POST"]);
  await expect(notice).toBeHidden();

  await (await app.content()).evaluate(() => history.replaceState(null, "", "?now"));
  await expect(app.address).toHaveValue(/\?now$/);
  await app.navigated(() => app.page.getByRole("button", { name: "Reload" }).click());
  expect(methods()).toEqual(["POST", "POST", "GET"]);
});

test("forms of a page in another encoding, and those that ask for one, send their fields in that", async ({
  app,
  origin,
}) => {
  const form = (method: string, action: string) =>
    `<form method="${method}" action="${action}"><input name="word" value="s&uuml;&szlig;"><button>${action}</button></form>`;
  origin.route("/", ({ reply }) =>
    reply(200, { "content-type": "text/html; charset=iso-8859-1" }, form("get", "/echo?a") + form("post", "/echo?b")),
  );
  origin.route("/told", ({ reply }) =>
    reply(
      200,
      { "content-type": "text/html" },
      `<meta charset="windows-1252">${form("post", `${origin.origin}/echo?c`)}`,
    ),
  );
  origin.page("/asks", form("post", "/echo?d").replace("<form", '<form accept-charset="windows-1252"'));
  for (const [page, button] of [
    ["/", "/echo?a"],
    ["/", "/echo?b"],
    ["/told", `${origin.origin}/echo?c`],
    ["/asks", "/echo?d"],
  ] as const) {
    await app.goto(origin.origin + page);
    await app.navigated(() => app.frame().getByRole("button", { name: button }).click());
    await expect(app.frame().getByText("word=s%FC%DF")).toBeVisible();
  }
});
