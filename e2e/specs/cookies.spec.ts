import { expect, testInOneApp as test } from "../fixtures/browser.ts";

test("cookies set by the site are read back by scripts and sent with the next request", async ({ app, origin }) => {
  origin.page("/", "<p>Jar</p>");
  await app.goto(
    `${origin.origin}/set-cookies?theme=dark&secret=${encodeURIComponent("x; HttpOnly")}&deep=${encodeURIComponent("y; Path=/deep")}`,
  );
  await expect.poll(async () => (await app.content()).evaluate(() => document.cookie)).toBe("theme=dark");
  await app.goto(`${origin.origin}/`);
  expect(await (await app.content()).evaluate(() => document.cookie)).toBe("theme=dark");
  const sent = origin.requestsTo("/")[0]?.headers.cookie?.split("; ").sort();
  expect(sent).toEqual(["secret=x", "theme=dark"]);
  await (await app.content()).evaluate(() => fetch("/deep/file"));
  expect(origin.requestsTo("/deep/file")[0]?.headers.cookie).toContain("deep=y");
});

test("cookies set by a script are sent, changed and deleted", async ({ app, origin }) => {
  origin.page(
    "/",
    `<script>document.cookie = "count=1"; document.cookie = "gone=1"; document.cookie = "gone=; max-age=0"</script>`,
  );
  origin.page("/again", `<script>document.cookie = "count=2; max-age=3600"</script>`);
  origin.page("/third", "<p>Third</p>");
  await app.goto(`${origin.origin}/`);
  await app.goto(`${origin.origin}/again`);
  await app.goto(`${origin.origin}/third`);
  expect(origin.requestsTo("/again")[0]?.headers.cookie).toBe("count=1");
  expect(origin.requestsTo("/third")[0]?.headers.cookie).toBe("count=2");
});

test("a script sees at once what a fetch set", async ({ app, origin }) => {
  origin.page("/", "<p>Jar</p>");
  await app.goto(`${origin.origin}/`);
  const cookies = await (await app.content()).evaluate(async () => {
    await (await fetch("/set-cookies?fresh=1")).text();
    return document.cookie;
  });
  expect(cookies).toBe("fresh=1");
});

test("what a script sets is in the cookies of all documents of its origin at once, as in a direct visit", async ({
  app,
  direct,
  origin,
}) => {
  origin.page("/", `<iframe src="/inner"></iframe><iframe></iframe><p>Jar</p>`);
  origin.page("/inner", "<p>Inner</p>");
  await direct.page.goto(`${origin.origin}/`);
  await app.goto(`${origin.origin}/`);
  for (const frame of [direct.page, await app.content()]) {
    const documents = (value: string | null, at = 0): Promise<string[]> =>
      frame.evaluate(
        ([set, setter]) => {
          const frames = [...document.querySelectorAll("iframe")].map((each) => each.contentDocument as Document);
          const all = [document, ...frames];
          const setting = all[Number(setter)];
          if (set !== null && setting) setting.cookie = String(set);
          return all.map((each) => each.cookie);
        },
        [value, at] as const,
      );
    for (const at of [0, 1, 2]) {
      await documents(`at=${at}`, at);
      // Chromium itself may need another turn.
      expect(await documents(null)).toEqual([`at=${at}`, `at=${at}`, `at=${at}`]);
    }
  }
});

test("a fetch that omits credentials sends no cookies", async ({ app, origin }) => {
  origin.page("/", "<p>Jar</p>");
  await app.goto(`${origin.origin}/set-cookies?a=1`);
  await (await app.content()).evaluate(() => fetch("/echo", { credentials: "omit" }));
  expect(origin.requestsTo("/echo")[0]?.headers.cookie).toBeUndefined();
});

test("cookies last over a visit to another site and a restart of the app", async ({ app, origin, otherOrigin }) => {
  origin.page("/", "<p>Home</p>");
  otherOrigin.page("/", "<p>Away</p>");
  await app.goto(`${origin.origin}/set-cookies?kept=${encodeURIComponent("1; max-age=3600")}`);
  await app.goto(`${otherOrigin.origin}/`);
  expect(otherOrigin.requestsTo("/")[0]?.headers.cookie).toBeUndefined();
  await app.page.reload();
  // The page that is opened again counts as loaded, too.
  await expect(app.frame().getByText("Away")).toBeVisible();
  await app.goto(`${origin.origin}/`);
  expect(origin.requestsTo("/").at(-1)?.headers.cookie).toBe("kept=1");
  expect(await (await app.content()).evaluate(() => document.cookie)).toBe("kept=1");
});

test("what a script asks for right after it set a cookie goes with that", async ({ app, origin }) => {
  origin.page("/", "<p>Setter</p>");
  origin.route("/seen", ({ request, reply }) =>
    reply(200, { "content-type": "text/plain" }, request.headers.cookie ?? ""),
  );
  await app.goto(`${origin.origin}/`);
  const late = await (await app.content()).evaluate(async () => {
    const missed: number[] = [];
    for (let turn = 0; turn < 40; turn++) {
      // biome-ignore lint/suspicious/noDocumentCookie: what is tested.
      document.cookie = `turn=${turn}`;
      const seen = await (await fetch("/seen")).text();
      if (!seen.split("; ").includes(`turn=${turn}`)) missed.push(turn);
    }
    return missed;
  });
  expect(late).toEqual([]);
});

test("a script that looks for the widest domain of its location sets the site's own cookie", async ({
  app,
  origin,
}) => {
  origin.page(
    "/",
    `<script>
    const labels = location.hostname.split(".");
    for (let from = labels.length - 1; from >= 0 && !document.cookie.includes("widest"); from--)
      document.cookie = "widest=1; domain=." + labels.slice(from).join(".");
    document.cookie = "whole=1; domain=" + location.hostname;
    </script>`,
  );
  origin.page("/next", "<p>Next</p>");
  await app.goto(`${origin.origin}/`);
  expect(await (await app.content()).evaluate(() => document.cookie)).toBe("widest=1; whole=1");
  await app.goto(`${origin.origin}/next`);
  expect(origin.requestsTo("/next")[0]?.headers.cookie).toBe("widest=1; whole=1");
});
