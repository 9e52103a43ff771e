import { test as alone, expect, testInOneApp as test } from "../fixtures/browser.ts";
import { setBrowserCookies } from "../fixtures/browser-cookies.ts";

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
    // The shell itself, which no read of `top` gives. What is written to `top.location` leads the page, as in a browser.
    `<p>Stuck</p><script>
      try { Reflect.set(Reflect.get(window, "to" + "p"), "location", "/stolen") } catch { document.title = "blocked" }
    </script>`,
  );
  await app.goto(`${origin.origin}/`);
  await expect(app.frame().getByText("Stuck")).toBeVisible();
  await expect(app.address).toBeVisible();
  expect(origin.requestsTo("/stolen")).toEqual([]);
  expect(new URL(app.page.url()).hostname).toBe("ropeway.localhost");
});

test("the call that reads pass through gives a page none of the objects that it is there to hide", async ({
  app,
  origin,
  otherOrigin,
}) => {
  for (const each of [origin, otherOrigin]) each.page("/inner", "<p>Inner</p>");
  origin.page("/", `<p>Page</p><iframe src="/inner"></iframe><iframe src="${otherOrigin.origin}/inner"></iframe>`);
  origin.route("/worker.js", ({ reply }) =>
    reply(
      200,
      { "content-type": "text/javascript" },
      `const hook = self["ropeway" + "$"];
       postMessage([0, 1, 2].flatMap((kind) => [hook(location, hook, kind), hook(self, hook, kind).location].map(String)));`,
    ),
  );
  await app.goto(`${origin.origin}/`);
  const content = await app.content();
  for (const index of [0, 1])
    await expect(app.frame().frameLocator("iframe").nth(index).getByText("Inner")).toBeVisible();
  for (const frame of [content, ...content.childFrames()]) {
    // The edge marks none of this: `location` and `top` are the browser's own here.
    const got = await frame.evaluate(() => {
      const { top, location: place } = window;
      const hook = Reflect.get(window, "ropeway$") as (value: unknown, hook: unknown, kind: unknown) => object;
      const given = { place, top, window, document, frames: window.frames, self, view: document.defaultView };
      return Object.entries(given).flatMap(([name, value]) =>
        [0, 1, 2, undefined].flatMap((kind) => {
          const answer = hook(value, hook, kind);
          const parts = kind === 1 && !["place", "top"].includes(name) ? answer : {};
          const taken = [answer, Reflect.get(parts, "location"), Reflect.get(parts, "top")];
          return taken.some((each) => each === place || each === top) ? [`${name} by ${kind}`] : [];
        }),
      );
    });
    expect(got, frame.url()).toEqual([]);
  }
  const ofWorker = await content.evaluate(
    () =>
      new Promise((resolve) => {
        new Worker("/worker.js").onmessage = ({ data }) => resolve(data);
      }),
  );
  expect(ofWorker).toEqual(Array.from({ length: 6 }, () => `${origin.origin}/worker.js`));
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

test("a page that takes its service worker's port gets no document of another site, and none of its cookies", async ({
  app,
  origin,
  otherOrigin,
}) => {
  await app.goto(`${otherOrigin.origin}/set-cookies?secret=${encodeURIComponent("1; HttpOnly; SameSite=Strict")}`);
  otherOrigin.page("/account", "<p>Balance</p>");
  origin.page("/", "<p>Evil</p>");
  origin.route("/leave", ({ response }) => {
    response.writeHead(302, { location: `${otherOrigin.origin}/account` }).end();
  });
  await app.goto(`${origin.origin}/`);
  const shell = new URL(app.page.url()).origin;
  const urls = [`${origin.origin}/leave`, `${otherOrigin.origin}/account`];
  const got = await (await app.content()).evaluate(
    ([shellOrigin, targets]) =>
      new Promise<string>((resolve) => {
        const heard: unknown[] = [];
        setTimeout(() => resolve(JSON.stringify(heard)), 3_000);
        const attack = (port: MessagePort): void => {
          port.onmessage = (event: MessageEvent<{ type: string; id: number; chunk?: Uint8Array }[]>) => {
            for (const message of event.data) {
              heard.push(message, message.chunk ? new TextDecoder().decode(message.chunk) : "");
              if (message.type === "response") port.postMessage([{ type: "credit", id: message.id, bytes: 100_000 }]);
            }
          };
          const head = {
            method: "GET",
            headers: [],
            destination: "document",
            mode: "navigate",
            credentials: "include",
          };
          for (const [id, url] of targets.entries()) {
            const asked = { ...head, url, redirect: "follow", referrer: "" };
            port.postMessage([{ type: "request", id, body: null, head: asked }]);
          }
        };
        ServiceWorker.prototype.postMessage = (_message: unknown, options: unknown) => {
          const [port] = (options as { transfer?: MessagePort[] } | undefined)?.transfer ?? [];
          if (port !== undefined) attack(port);
        };
        window.top?.postMessage({ tag: "ropeway.1", type: "port-wanted" }, shellOrigin);
      }),
    [shell, urls] as const,
  );
  expect(got).toContain("bound");
  expect(got).not.toContain("Balance");
  expect(otherOrigin.requestsTo("/account")).toEqual([]);
});

test("a page that asks in an element's place gets no more than the element would, and no document", async ({
  app,
  origin,
  otherOrigin,
}) => {
  const bank = otherOrigin.origin;
  const signedIn = "session=signed-in";
  otherOrigin.route("/sign-in", ({ request, reply }) =>
    reply(200, {
      "access-control-allow-origin": request.headers.origin ?? "",
      "access-control-allow-credentials": "true",
      "set-cookie": `${signedIn}; SameSite=None; Secure`,
    }),
  );
  const serve = (path: string, type: string, body: string, fields = {}) =>
    otherOrigin.route(path, ({ reply }) => reply(200, { "content-type": type, ...fields }, body));
  serve("/account", "application/json", `{"secret":"${SECRET}"}`);
  serve("/page", "text/html", `<!doctype html><p>${SECRET}`);
  serve("/own.svg", "image/svg+xml", `<svg>${SECRET}</svg>`, { "cross-origin-resource-policy": "same-origin" });
  otherOrigin.route("/moved", ({ reply }) => reply(302, { location: "/account" }));
  otherOrigin.route("/script", ({ request, reply }) =>
    reply(200, { "content-type": "text/javascript" }, `log("${request.headers.cookie ? SECRET : "stranger"}")`),
  );
  origin.page("/", "<p>Evil</p>");
  origin.page("/document", "<script>parent.ran = typeof WebTransport</script>");
  await app.goto(`${origin.origin}/`);
  const page = await app.content();
  await page.evaluate((url) => fetch(`${url}/sign-in`, { credentials: "include" }), bank);
  await page.evaluate((url) => fetch(`${url}/sign-in`, { credentials: "include" }), bank);
  expect(otherOrigin.requestsTo("/sign-in").at(-1)?.headers.cookie).toBe(signedIn);

  const targets = ["/account", "/page", "/own.svg", "/moved", "/script"].map((path) => bank + path);
  const loot = await page.evaluate((urls) => {
    const kinds = ["audio", "font", "image", "script", "style", "track", "video"];
    const others = ["", "document", "image\r\nx-own: 1"];
    const asked = [...kinds, ...others].flatMap((kind) =>
      urls.flatMap((url) =>
        [
          { kind, url },
          { kind, url, cors: "" },
        ].map((each) => new URLSearchParams(each)),
      ),
    );
    const requests: RequestInit[] = [
      {
        credentials: "include",
        headers: { accept: "a/b", authorization: "Basic eA==", "x-own": "1", range: "bytes=1-" },
      },
      { credentials: "include", redirect: "manual" },
      { credentials: "include", method: "POST", body: "x" },
    ];
    return Promise.all(
      asked.flatMap((query) =>
        requests.map(async (request) => {
          const answer = await fetch(`/.ropeway/download?${query}`, request).catch(() => null);
          return `${query} ${answer?.status} ${await answer?.text()}`;
        }),
      ),
    );
  }, targets);
  const seen = targets.flatMap((url) => otherOrigin.requestsTo(new URL(url).pathname));
  // Scripts are had, as strangers get them.
  expect(loot.join("\n")).toContain("stranger");
  expect(loot.filter((each) => each.includes(SECRET))).toEqual([]);
  for (const { method, headers } of seen) {
    expect([method, headers.authorization, headers["x-own"]]).toEqual(["GET", undefined, undefined]);
    // As with any `fetch` of the page.
    if (headers["sec-fetch-mode"] !== "cors") expect(headers.cookie).toBeUndefined();
    expect(headers["sec-fetch-dest"]).toMatch(/^(?:audio|font|image|script|style|track|video)$/);
    expect(headers["sec-fetch-mode"]).toMatch(/^(?:no-)?cors$/);
  }

  const paths = [
    ...["", "document", "image"].map((kind) => `/.ropeway/download?kind=${kind}&url=${origin.origin}/document`),
    "/.ropeway/page.js?written",
  ];
  for (const path of paths) {
    const answered = app.page.waitForResponse((response) => response.url().endsWith(path));
    await page.evaluate((src) => {
      const frame = document.createElement("iframe");
      document.body.append(frame);
      (frame.contentWindow as Window).location.href = `${window.origin}${src}`;
    }, path);
    const answer = await answered;
    const isSaved = answer.headers()["content-disposition"]?.startsWith("attachment") ?? false;
    expect(isSaved || answer.status() === 204, path).toBe(true);
  }
  const scripts = otherOrigin.requestsTo("/script").length;
  const answered = app.page.waitForResponse((response) => response.url().endsWith(`kind=script&url=${bank}/script`));
  await page.evaluate((url) => void new Worker(`/.ropeway/download?kind=script&url=${url}/script`), bank);
  expect((await answered).status()).toBe(204);
  expect(otherOrigin.requestsTo("/script")).toHaveLength(scripts);
  expect(await page.evaluate(() => Reflect.get(window, "ran"))).toBeUndefined();
});

test("a page that speaks to the shell sends no request that a link could not, and deletes no cookies", async ({
  app,
  origin,
  otherOrigin,
}) => {
  await app.goto(`${otherOrigin.origin}/set-cookies?session=${encodeURIComponent("1; Path=/")}`);
  otherOrigin.page("/api", "<p>Bank</p>");
  origin.page("/", "<p>Evil</p>");
  origin.page("/site-data", "<p>Nothing deleted</p>");
  await app.goto(`${origin.origin}/`);
  const shell = new URL(app.page.url()).origin;
  const say = async (message: Record<string, unknown>): Promise<void> => {
    const page = await app.content();
    await app.navigated(() =>
      page.evaluate(
        ([shellOrigin, said]) => {
          const link = { tag: "ropeway.1", type: "navigate", headers: [], body: null, referrer: "", replace: false };
          window.top?.postMessage({ ...link, ...said }, shellOrigin);
        },
        [shell, message] as const,
      ),
    );
  };
  const toEdge = [
    [":scheme", "ropeway"],
    [":authority", ""],
  ];
  await say({ url: `${origin.origin}/site-data`, method: "DELETE", headers: toEdge });
  await expect(app.frame().getByText("Nothing deleted")).toBeVisible();
  const headers = [
    ["content-type", "application/json"],
    ["x-requested-with", "XMLHttpRequest"],
  ];
  await say({ url: `${otherOrigin.origin}/api`, method: "PUT", headers, referrer: `${otherOrigin.origin}/` });
  await expect(app.frame().getByText("Bank")).toBeVisible();
  const [asked] = otherOrigin.requestsTo("/api");
  expect(asked?.method).toBe("GET");
  expect(asked?.headers).not.toHaveProperty("x-requested-with");
  expect(asked?.headers.referer ?? "").not.toContain(otherOrigin.origin);
  expect(asked?.headers.cookie).toContain("session=1");
});

test("a page cannot put another site's address into the address bar", async ({ app, origin }) => {
  origin.page("/", "<title>Evil</title><p>Evil</p>");
  await app.goto(`${origin.origin}/`);
  const shell = new URL(app.page.url()).origin;
  await (await app.content()).evaluate(
    ([shellOrigin, real]) => {
      const lie = { tag: "ropeway.1", url: "https://bank.example/login", title: "Bank", icon: null, historyKey: "x" };
      window.top?.postMessage({ ...lie, type: "document", phase: "loaded" }, shellOrigin);
      window.top?.postMessage({ ...lie, type: "failed", code: 1, message: "" }, shellOrigin);
      // Nor anything that the bar could not show: no browser has such an address.
      const own = { ...lie, url: `${location.origin}/${"y".repeat(3_000_000)}`, type: "document", phase: "loaded" };
      for (const title of ["Long", 7, null]) window.top?.postMessage({ ...own, title }, shellOrigin);
      window.top?.postMessage({ ...own, url: `${location.origin}/kept`, historyKey: own.url }, shellOrigin);
      // A few objects that hold each other twice: to follow all ways through them takes for ever.
      let tree: object = {};
      for (let level = 0; level < 60; level += 1) tree = level % 2 === 0 ? { one: tree, other: tree } : [tree, tree];
      for (const part of ["picture", "opens", "tree"])
        window.top?.postMessage({ ...own, type: "held", url: `${location.origin}/`, [part]: tree }, shellOrigin);
      window.top?.postMessage(
        { ...own, url: `${real}/failed`, type: "failed", code: 1, message: own.url },
        shellOrigin,
      );
    },
    [shell, origin.origin] as const,
  );
  await app.page.waitForTimeout(500);
  await expect(app.address).toHaveValue(`${origin.origin}/`);
  // A page that has too long a title, or icon, is heard all the same.
  await (await app.content()).evaluate(() => {
    const long = "y".repeat(3_000_000);
    document.head.insertAdjacentHTML("beforeend", `<link rel=icon href="data:image/png;base64,${long}">`);
    document.title = long;
    history.pushState(null, "", "/further");
  });
  await expect(app.address).toHaveValue(`${origin.origin}/further`);
});

test("a page that opens pages without scripts of another site never has their address in the bar", async ({
  app,
  origin,
  otherOrigin,
}) => {
  const sandbox = { "content-type": "text/html", "content-security-policy": "sandbox" };
  otherOrigin.route("/raw", ({ reply }) => reply(200, sandbox, "<!doctype html><p>Raw</p>"));
  otherOrigin.page("/around", `<iframe src="/raw"></iframe>`);
  otherOrigin.route("/nothing", ({ reply }) => reply(204, {}));
  const opens = (path: string) => `<button onclick="window.open('${otherOrigin.origin}${path}')">${path}</button>`;
  origin.page("/", `<p>Evil</p>${opens("/raw")}${opens("/around")}`);
  const shown = app.frame();
  for (const [path, raw] of [
    ["/raw", shown],
    ["/around", shown.frameLocator("iframe")],
  ] as const) {
    await app.goto(`${origin.origin}/`);
    const page = await app.content();
    await shown.getByRole("button", { name: path }).click();
    // The page is on its way to that site, too, and stays where it is.
    await page.evaluate((url) => location.assign(url), `${otherOrigin.origin}/nothing`);
    await expect(raw.getByText("Raw")).toBeVisible();
    await expect(app.address).toHaveValue(otherOrigin.origin + path);
    await app.page.getByRole("button", { name: "Close", exact: true }).click();
    await expect(shown.getByText("Evil")).toBeVisible();
    await expect(app.address).toHaveValue(`${origin.origin}/`);
  }
});

test("a site that learnt the host of the page that framed it can neither show that page's site nor ask it for anything", async ({
  app,
  origin,
  otherOrigin,
}) => {
  origin.page("/", `<p>Bank</p><iframe title="Advert" src="${otherOrigin.origin}/advert"></iframe>`);
  origin.page("/transfer", "<p>Transferred</p>");
  otherOrigin.page("/advert", `<p>Advert</p><script>fetch("/learnt?" + location.ancestorOrigins[0])</script>`);
  otherOrigin.route("/learnt", ({ reply }) => reply(204, {}));
  otherOrigin.page("/evil", "<p>Evil</p>");
  otherOrigin.page("/secretive", `<meta name="referrer" content="no-referrer"><p>Evil</p>`);
  await app.goto(`${origin.origin}/set-cookies?session=${encodeURIComponent("1; HttpOnly; SameSite=Strict; Path=/")}`);
  await app.goto(`${origin.origin}/`);
  const [, slot = ""] = (await otherOrigin.requestTo("/learnt")).url.split("?");
  const target = encodeURIComponent("/transfer");
  const real = encodeURIComponent(`${origin.origin}/transfer`);
  const paths = [
    "/transfer",
    `/.ropeway/boot#then=${target}`,
    `/.ropeway/boot?then=${target}`,
    `/.ropeway/boot?top&then=${target}`,
    `/.ropeway/frame?url=${real}`,
    `/.ropeway/go?url=${real}`,
  ];
  for (const page of ["/evil", "/secretive"]) {
    await app.goto(otherOrigin.origin + page);
    await (await app.content()).evaluate(
      ([bank, places]) => {
        for (const path of places) {
          const made = document.createElement("iframe");
          document.body.append(made);
          if (made.contentWindow !== null) made.contentWindow.location.href = bank + path;
          // The frame has a page of the bank's slot by then.
          made.addEventListener("load", () => made.contentWindow?.location.replace(`${bank}/transfer`), { once: true });
        }
      },
      [slot, paths] as const,
    );
    await app.page.waitForTimeout(2_000);
    const shown = await Promise.all(
      (await app.content()).childFrames().map((frame) => frame.content().catch(() => "")),
    );
    expect(shown.join()).not.toContain("Transferred");
  }
  expect(origin.requestsTo("/transfer")).toEqual([]);
});

test("a frame that is sent to a host of the edge shows nothing, and the edge does not ask itself for it", async ({
  app,
  origin,
  otherOrigin,
}) => {
  const ofFrames = (url: string) => `<iframe class="written" src="${url}"></iframe>
    <iframe name="linked"></iframe><a target="linked" href="${url}">Link</a>
    <iframe name="sent"></iframe><form target="sent" action="${url}"><button>Send</button></form>
    <iframe src="${origin.origin}/moved?${encodeURIComponent(url)}"></iframe>`;
  origin.route("/moved", ({ request, reply }) =>
    reply(302, { location: decodeURIComponent(request.url.split("?")[1] ?? "") }),
  );
  otherOrigin.page("/", "<p>Other</p>");
  await app.goto(`${otherOrigin.origin}/`);
  const slot = new URL((await app.content()).url()).origin;
  const { origin: base } = new URL(app.page.url());
  for (const host of [slot, slot.replace(/\/\/[^.]+/, "//s0000000"), base]) {
    const frames = ofFrames(`${host}/page`);
    origin.page("/", `${frames}<div></div>`);
    await app.goto(`${origin.origin}/`);
    await app.frame().getByRole("link", { name: "Link" }).click();
    await app.frame().getByRole("button", { name: "Send" }).click();
    await (await app.content()).evaluate((url) => {
      const made = document.createElement("iframe");
      made.src = url;
      document.querySelector("div")?.append(made);
    }, `${host}/page`);
    for (const index of [0, 1, 2, 3, 4])
      await expect(app.frame().frameLocator("iframe").nth(index).getByText("cannot be shown")).toBeVisible();
  }
});

/** What the app asks its hosts for, one by one, beside scripts with names that tell their content. */
const NEEDED = [
  "/sw.js",
  "/.ropeway/config.json",
  "/.ropeway/tunnel/down",
  "/.ropeway/tunnel/up",
  "/.ropeway/pair",
  "/.ropeway/boot",
  "/.ropeway/sw.js",
  "/.ropeway/frame",
  "/manifest.webmanifest",
  "/icons",
];

alone.describe("with one socket, not as many as pay on what the phone takes the link for", () => {
  alone.use({ experiment: { channels: 1 } });

  alone(
    "cookies that a page sets for all hosts of the app are gone before others have them, and do not stop the app",
    async ({ app, origin, otherOrigin }) => {
      origin.page("/", "<p>Setter</p>");
      otherOrigin.page("/", "<p>Reader</p>");
      const { page } = app;
      /** For all hosts of the app. Returns what can be read then. */
      const setCookies = async (count: number, size: number, path: string): Promise<string> => {
        const { hostname } = new URL(app.base);
        const cookie = (_: unknown, index: number) =>
          `c${index}=${"x".repeat(size)}; path=${path}; domain=${hostname}; max-age=9999`;
        return setBrowserCookies(await app.content(), Array.from({ length: count }, cookie));
      };
      const cookies = async () => (await page.context().cookies()).length;

      await page.evaluate(() => navigator.serviceWorker.ready);
      await app.goto(`${origin.origin}/`);
      // The app may have taken it away before it is read.
      await expect.poll(() => setCookies(1, 10, "/")).toContain("c0=x");
      await expect.poll(cookies).toBe(0);
      await app.goto(`${otherOrigin.origin}/`);
      expect(await setCookies(0, 0, "/")).toBe("");
      for (const path of ["/", "/.ropeway", "/.ropeway/tunnel"]) await setCookies(50, 4_000, path);
      await expect.poll(cookies).toBe(0);
      for (const path of NEEDED) {
        await setCookies(50, 4_000, path);
        await expect.poll(cookies, path).toBe(0);
      }
      await page.reload();
      await expect.poll(async () => (await app.stats()).sockets).toBe(1);
      // Rejects where the worker's script cannot be had.
      await page.evaluate(async () => void (await (await navigator.serviceWorker.ready).update()));
    },
  );

  test("cookies that came while nobody looked go when the app is opened, and updates with them", async ({ app }) => {
    const { page } = app;
    await page.evaluate(() => navigator.serviceWorker.ready);
    const base = new URL(page.url()).hostname;
    // As a version before left them: it had not asked to be told of these paths.
    await page.evaluate(async (paths) => {
      const { cookies } = (await navigator.serviceWorker.ready) as unknown as {
        cookies: { unsubscribe(urls: readonly { url: string }[]): Promise<void> };
      };
      await cookies.unsubscribe(paths.map((url) => ({ url })));
    }, NEEDED);
    const cookie = { value: "x".repeat(4_000), domain: `.${base}`, path: "/sw.js" };
    const cookies = Array.from({ length: 50 }, (_, index) => ({ ...cookie, name: `c${index}` }));
    await page.context().addCookies(cookies);
    expect(await page.context().cookies()).toHaveLength(50);
    await page.reload();
    await expect.poll(async () => (await page.context().cookies()).length).toBe(0);
    await page.evaluate(async () => void (await (await navigator.serviceWorker.ready).update()));
  });
});
