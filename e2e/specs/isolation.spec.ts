import { expect, test } from "../fixtures/browser.ts";

const SECRET = "harbour-secret-4711";

test("a page cannot read another site's storage, cookies or document, nor the shell's", async ({
  app,
  origin,
  otherOrigin,
  edge,
}) => {
  origin.page("/", `<p>Bank</p><script>document.cookie = "session=${SECRET}; path=/"</script>`, "Bank");
  otherOrigin.page("/", "<p>Evil</p>", "Evil");
  origin.route("/account", ({ request, reply }) => {
    const headers = {
      "access-control-allow-origin": request.headers.origin ?? "*",
      "access-control-allow-credentials": "true",
      "content-type": "text/plain",
    };
    reply(200, headers, request.headers.cookie?.includes(SECRET) ? SECRET : "stranger");
  });

  await app.goto(`${origin.origin}/`);
  await (await app.content()).evaluate(async (secret) => {
    localStorage.setItem("secret", secret);
    const store = await caches.open("mine");
    await store.put("/secret", new Response(secret));
    await new Promise((resolve) => {
      const opening = indexedDB.open(`database-${secret}`);
      opening.onsuccess = resolve;
    });
  }, SECRET);
  const own = await (await app.content()).evaluate(() => fetch("/account").then((answer) => answer.text()));
  expect(own).toBe(SECRET);

  await app.goto(`${otherOrigin.origin}/`);
  const loot = await (await app.content()).evaluate(async (bank) => {
    const attempt = async (steal: () => unknown): Promise<string> => {
      try {
        return JSON.stringify(await steal()) ?? "undefined";
      } catch (error) {
        return (error as Error).name;
      }
    };
    const cacheNames = await caches.keys();
    const cached = await Promise.all(
      cacheNames.map(async (name) => {
        const store = await caches.open(name);
        const answers = await store.matchAll();
        return Promise.all(answers.map((answer) => answer.text()));
      }),
    );
    return {
      cookies: document.cookie,
      storage: JSON.stringify({ ...localStorage }),
      databases: JSON.stringify(await indexedDB.databases()),
      caches: JSON.stringify(cached),
      account: await attempt(() =>
        fetch(`${bank}/account`, { credentials: "include" }).then((answer) => answer.text()),
      ),
      shellDocument: await attempt(() => window.top?.document.documentElement.outerHTML),
      shellStorage: await attempt(() => window.top?.localStorage.length),
      shellApi: await attempt(() => (window.top as unknown as { ropeway: unknown }).ropeway),
      shellAddress: await attempt(() => window.top?.location.href),
      parentFrames: await attempt(() =>
        Array.from({ length: window.parent.length }, (_, index) => window.parent[index]).map((frame) =>
          frame === window ? "self" : frame?.document.body.innerHTML,
        ),
      ),
      opener: await attempt(() => window.opener),
    };
  }, origin.origin);

  expect(JSON.stringify(loot)).not.toContain(SECRET);
  expect(JSON.stringify(loot)).not.toContain(edge.accessKey);
  expect(loot.account).toBe('"stranger"');
  expect(loot.cookies).toBe("");
  expect(loot.storage).toBe("{}");
  for (const wall of ["shellDocument", "shellStorage", "shellApi", "shellAddress"] as const) {
    expect(loot[wall], wall).toBe("SecurityError");
  }
  expect(loot.opener).toBe("null");

  await app.goto(`${origin.origin}/`);
  const kept = await (await app.content()).evaluate(() => [localStorage.getItem("secret"), document.cookie]);
  expect(kept).toEqual([SECRET, `session=${SECRET}`]);
});

test("a page cannot leave its frame or take the shell along", async ({ app, origin }) => {
  origin.page(
    "/",
    `<p>Stuck</p><script>try { top.location = "/stolen" } catch { document.title = "blocked" }</script>`,
  );
  await app.goto(`${origin.origin}/`);
  await expect(app.frame().getByText("Stuck")).toBeVisible();
  await expect(app.address).toBeVisible();
  expect(origin.requestsTo("/stolen")).toEqual([]);
  expect(new URL(app.page.url()).origin).toBe(app.base);
});

test("the access key is in no URL that was sent, and not in the address any more", async ({
  app,
  link,
  network,
  edge,
}) => {
  const sent = [...network.requests.map(({ url }) => url.split("#")[0]), ...link.requests.map(({ path }) => path)];
  expect(sent.filter((url) => url?.includes(edge.accessKey))).toEqual([]);
  await expect.poll(() => app.page.url()).not.toContain(edge.accessKey);
});
