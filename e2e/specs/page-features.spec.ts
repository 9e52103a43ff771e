import type { Frame } from "@playwright/test";
import { photo } from "../demo/pictures.ts";
import { test as alone, expect, testInOneApp as test } from "../fixtures/browser.ts";
import { choosePictures } from "../fixtures/picture-settings.ts";

test("an intersection observer without a root has the page's viewport, with its margin", async ({ app, origin }) => {
  origin.page("/", `<p>Top</p><p id="far" style="position: absolute; top: 150vh">Far</p>`);
  await app.goto(`${origin.origin}/`);
  const seen = await (await app.content()).evaluate(
    () =>
      new Promise((resolve) => {
        const observer = new IntersectionObserver(
          ([entry]) => {
            const { isIntersecting, rootBounds } = entry as IntersectionObserverEntry;
            resolve({ isIntersecting, height: (rootBounds?.height ?? 0) / innerHeight, root: observer.root });
          },
          { rootMargin: "0px 0px 100% 0px" },
        );
        observer.observe(document.querySelector("#far") as Element);
      }),
  );
  expect(seen).toEqual({ isIntersecting: true, height: 2, root: null });
});

test("what must be of the page's own origin may be named by its whole address", async ({ app, origin }) => {
  origin.page(
    "/",
    `<svg><use id="written" href="${origin.origin}/sprite.svg#dot"/><use id="old" xlink:href="${origin.origin}/sprite.svg#dot"/></svg>`,
  );
  const sprite = `<svg xmlns="http://www.w3.org/2000/svg"><rect id="dot" width="7" height="7"/></svg>`;
  origin.route("/sprite.svg", ({ reply }) => reply(200, { "content-type": "image/svg+xml" }, sprite));
  await app.goto(`${origin.origin}/`);
  const frame = await app.content();
  await frame.evaluate((site) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", "use");
    made.id = "made";
    made.setAttributeNS("http://www.w3.org/1999/xlink", "xlink:href", `${site}/sprite.svg#dot`);
    document.querySelector("svg")?.append(made);
  }, origin.origin);
  for (const id of ["written", "old", "made"])
    await expect
      .poll(() => frame.evaluate((name) => document.getElementById(name)?.getBoundingClientRect().width, id))
      .toBe(7);
  const fetched = await frame.evaluate(async (site) => {
    const init: RequestInit = { mode: "same-origin" };
    const answers = [await fetch(`${site}/echo?1`, init), await fetch(new Request(`${site}/echo?2`, init))];
    return Promise.all(answers.map(async (answer) => ((await answer.json()) as { url: string }).url));
  }, origin.origin);
  expect(fetched).toEqual(["/echo?1", "/echo?2"]);
});

test("a page is told that a film's list of parts does not play by itself, and that all else does as directly", async ({
  app,
  direct,
  origin,
}) => {
  origin.page("/", "<p>Films</p>");
  const ask = (page: Pick<Frame, "evaluate">) =>
    page.evaluate(async () => {
      const player = document.createElement("video");
      const types = ["video/mp4", "audio/ogg; codecs=opus", `video/webm; codecs="vp9"`, "text/html", "undefined"];
      const lists = ["application/vnd.apple.mpegurl", "Application/X-MPEGURL; charset=utf-8", "audio/mpegurl"];
      const size = { width: 640, height: 360, bitrate: 1_000_000, framerate: 30 };
      const video = { contentType: `video/webm; codecs="vp9"`, ...size };
      return {
        lists: lists.map((type) => player.canPlayType(type)),
        others: types.map((type) => player.canPlayType(type)),
        parts: types.map((type) => MediaSource.isTypeSupported(type)),
        decoded: (await navigator.mediaCapabilities.decodingInfo({ type: "media-source", video })).supported,
        length: player.canPlayType.length,
      };
    });
  await direct.page.goto(`${origin.origin}/`);
  const wanted = await ask(direct.page);
  await app.goto(`${origin.origin}/`);
  expect(await ask(await app.content())).toEqual({ ...wanted, lists: ["", "", ""] });
});

test("a worker made from a data: address runs, and its requests go through the tunnel", async ({
  app,
  origin,
  network,
}) => {
  origin.page("/", "<p>Home</p>");
  await app.goto(`${origin.origin}/`);
  const said = await (await app.content()).evaluate(
    (url) =>
      new Promise((resolve) => {
        const script = `fetch("${url}").then((answer) => answer.json()).then(({ url }) => postMessage(url))`;
        const worker = new Worker(`data:text/javascript,${encodeURIComponent(script)}`);
        worker.onmessage = ({ data }) => resolve(data);
        worker.onerror = () => resolve("error");
      }),
    `${origin.origin}/echo?worker`,
  );
  expect(said).toBe("/echo?worker");
  expect(network.leaks("localhost")).toEqual([]);
});

alone(
  "a shared worker that would outlive its site ends when the site is left",
  async ({ app, origin, otherOrigin }) => {
    origin.page("/", "<p>Home</p>");
    otherOrigin.page("/", "<p>Other</p>");
    const script = `setInterval(() => fetch("/tick"), 100); onconnect = ({ ports: [port] }) => port.postMessage("there")`;
    origin.route("/worker.js", ({ reply }) => reply(200, { "content-type": "text/javascript" }, script));
    origin.route("/tick", ({ reply }) => reply(200, {}));
    await app.goto(`${origin.origin}/`);
    const heard = await (await app.content()).evaluate(
      () =>
        new Promise((resolve) => {
          const options = { name: "long", extendedLifetime: true } as WorkerOptions;
          new SharedWorker("/worker.js", options).port.onmessage = ({ data }) => resolve(data);
        }),
    );
    expect(heard).toBe("there");
    await origin.requestTo("/tick");
    await app.goto(`${otherOrigin.origin}/`);
    await expect(async () => {
      origin.forget();
      await app.page.waitForTimeout(1_000);
      expect(origin.requestsTo("/tick")).toEqual([]);
    }).toPass({ timeout: 10_000 });
  },
);

test("a page may lock the pointer after a click", async ({ app, origin }) => {
  origin.page(
    "/",
    `<button onclick="this.requestPointerLock().then(() => { document.title = 'locked'; }, (error) => { document.title = error.name; })">Lock</button>`,
  );
  await app.goto(`${origin.origin}/`);
  await app.frame().getByRole("button", { name: "Lock" }).click();
  await expect.poll(async () => (await app.content()).title()).toBe("locked");
});

test("addresses of frames and embeds read as the page wrote them", async ({ app, origin, otherOrigin }) => {
  const guest = otherOrigin.origin.replace("http:", "");
  origin.page("/", `<iframe src="${guest}/guest"></iframe><embed src="movie.swf"><object data="movie.swf"></object>`);
  otherOrigin.page("/guest", "<p>Guest</p>");
  await app.goto(`${origin.origin}/`);
  const read = await (await app.content()).evaluate((address) => {
    const made = document.createElement("iframe");
    made.setAttribute("src", `${address}/made`);
    return [
      ...[...document.querySelectorAll("iframe, embed"), made].map((element) => element.getAttribute("src")),
      document.querySelector("object")?.getAttribute("data"),
    ];
  }, guest);
  expect(read).toEqual([`${guest}/guest`, "movie.swf", `${guest}/made`, "movie.swf"]);
});

alone("pictures are coded anew, or wait for a tap, as the person has chosen", async ({ app, origin }) => {
  const picture = photo("harbour", 600);
  origin.route("/picture.png", ({ reply }) => reply(200, { "content-type": "image/png" }, picture));
  origin.page(
    "/",
    '<p>Before</p><img id="picture" src="/picture.png" alt="A harbour" style="max-width: 100%"><p id="after">After</p>',
  );
  const seen = async () =>
    (await app.content()).evaluate(() => {
      const image = document.querySelector("#picture") as HTMLImageElement;
      const { top } = (document.querySelector("#after") as Element).getBoundingClientRect();
      return { width: image.naturalWidth, height: image.naturalHeight, role: image.getAttribute("role"), top };
    });
  const load = async () => {
    const before = (await app.stats()).linkBytesDown;
    await app.goto(`${origin.origin}/?${Math.random()}`);
    return (await app.stats()).linkBytesDown - before;
  };
  await choosePictures(app, "none");
  const bytesHeld = await load();
  const frame = await app.content();
  const button = frame.getByRole("button", { name: /^A harbour: load, \d+ kB$/ });
  await expect(button).toBeVisible();
  const held = await seen();
  expect(held).toMatchObject({ width: 600, height: 400 });
  expect(bytesHeld).toBeLessThan(picture.length / 4);

  await button.focus();
  await app.page.keyboard.press("Enter");
  await expect(frame.getByRole("img", { name: "A harbour" })).toBeVisible();
  await expect.poll(async () => (await app.stats()).linkBytesDown).toBeGreaterThan(bytesHeld + picture.length / 2);
  await expect.poll(seen).toEqual({ ...held, role: null });

  await choosePictures(app, "balanced");
  origin.route("/picture.png", ({ reply }) =>
    reply(200, { "content-type": "image/png", "cache-control": "no-store" }, picture),
  );
  expect(await load()).toBeLessThan(picture.length * 0.7);
  await expect.poll(seen).toEqual({ ...held, role: null });
});

alone(
  "trackers are stopped at the edge where the person wants that, but on sites that are excepted",
  async ({ app, origin }) => {
    const tracker = "/tracker-of-tests.json";
    origin.route(tracker, ({ reply }) => reply(200, { "content-type": "application/json" }, "{}"));
    origin.page(
      "/",
      `<p>Waiting</p><script>
      const show = (text) => { document.querySelector("p").textContent = text; };
      fetch("${tracker}").then(() => show("Loaded"), (error) => show(error.name));
    </script>`,
    );
    const { page } = app;
    const text = app.frame().locator("p");
    await page.getByRole("button", { name: "Menu" }).click();
    await page.getByRole("button", { name: "Settings" }).click();
    await page.getByRole("switch", { name: "Block trackers" }).click();
    await page.keyboard.press("Escape");
    // While the edge has no list yet, all goes.
    await expect(async () => {
      origin.forget();
      await app.goto(`${origin.origin}/?${Math.random()}`);
      await expect(text).toHaveText("TypeError", { timeout: 1_000 });
    }).toPass();
    expect(origin.requestsTo(tracker)).toEqual([]);
    expect((await app.stats()).trackersBlocked).toBeGreaterThan(0);

    await page.getByRole("button", { name: "Site information" }).click();
    const exception = page.getByRole("switch", { name: "Block trackers on this site" });
    await expect(exception).toHaveAccessibleDescription("1 request stopped on this page");
    await exception.click();
    await page.keyboard.press("Escape");
    await app.goto(`${origin.origin}/`);
    await expect(text).toHaveText("Loaded");
    expect(origin.requestsTo(tracker)).toHaveLength(1);
  },
);

alone(
  "sites hear that the person wants to save data, and what is stored otherwise is asked for anew",
  async ({ app, origin }) => {
    const setting = app.page.getByRole("switch", { name: "Ask sites to send less" });
    origin.route("/", ({ page }) =>
      page('<img src="/picture.png">', { vary: "Save-Data", "cache-control": "max-age=600" }),
    );
    const load = async () => {
      origin.forget();
      await app.goto(`${origin.origin}/`);
      return origin.requestsTo("/")[0]?.headers["save-data"];
    };
    const press = async () => {
      await app.page.getByRole("button", { name: "Menu" }).click();
      await app.page.getByRole("button", { name: "Settings" }).click();
      await setting.click();
      await app.page.keyboard.press("Escape");
    };
    expect(await load()).toBeUndefined();
    expect(origin.requestsTo("/")).toHaveLength(1);
    await press();
    // What is stored is of before.
    expect(await load()).toBe("on");
    await expect.poll(() => origin.requestsTo("/picture.png")[0]?.headers["save-data"]).toBe("on");
    await press();
    await choosePictures(app, "balanced");
    await app.page.getByRole("button", { name: "Menu" }).click();
    await app.page.getByRole("button", { name: "Settings" }).click();
    await expect(setting).toHaveAttribute("aria-checked", "false");
  },
);

alone("sites hear with smaller pictures that the person wants to save data", async ({ app, origin }) => {
  origin.page("/", "<p>Page</p>");
  await choosePictures(app, "balanced");
  await app.goto(`${origin.origin}/`);
  expect(origin.requestsTo("/")[0]?.headers["save-data"]).toBe("on");
});

test("scripts read the reason phrases of responses as in a direct visit, of what is stored too", async ({
  app,
  direct,
  origin,
  otherOrigin,
}) => {
  const lines: readonly [number, string][] = [
    [200, "OK"],
    [200, "All Fine"],
    [201, "Made It"],
    [404, "No Such Thing"],
    [500, "Out of Order (really!)"],
  ];
  for (const site of [origin, otherOrigin]) {
    site.page("/", "<p>Page</p>");
    for (const [index, [status, phrase]] of lines.entries())
      site.route(`/${index}`, ({ request, response }) => {
        const headers = { etag: '"1"', "cache-control": "no-cache", "access-control-allow-origin": "*" };
        if (request.headers["if-none-match"] === undefined) response.writeHead(status, phrase, headers).end("text");
        else response.writeHead(304, "Still So", headers).end();
      });
  }
  const paths = [origin.origin, otherOrigin.origin].flatMap((site) => lines.map((_, index) => `${site}/${index}`));
  const read = (frame: Frame) =>
    frame.evaluate(async (urls) => {
      const seen: unknown[] = [];
      for (const url of [...urls, ...urls]) {
        const { status, statusText } = await fetch(url);
        const opaque = await fetch(url, { mode: "no-cors" });
        const asked = new XMLHttpRequest();
        asked.open("GET", url);
        await new Promise((resolve) => {
          asked.onload = resolve;
          asked.send();
        });
        const isOwn = url.startsWith(self.origin);
        seen.push([url, status, statusText, asked.status, asked.statusText, isOwn ? "" : opaque.statusText]);
      }
      return seen;
    }, paths);
  await app.storeReady();
  await app.goto(`${origin.origin}/`);
  await direct.page.goto(`${origin.origin}/`);
  expect(await read(await app.content())).toEqual(await read(direct.page.mainFrame()));
});

alone(
  "pages and workers read that the person saves data, and pages hear when that changes",
  async ({ app, origin }) => {
    origin.page("/", `<iframe title="Inner" src="/inner"></iframe><iframe title="Blank"></iframe>`);
    origin.page("/inner", "<p>Inner</p>");
    origin.route("/worker.js", ({ reply }) =>
      reply(
        200,
        { "content-type": "text/javascript" },
        `/* A worker */ "use strict"; postMessage([navigator.connection.saveData, this === undefined, (function () { return this === undefined })()])`,
      ),
    );
    const setting = app.page.getByRole("switch", { name: "Ask sites to send less" });
    const press = async () => {
      await app.page.getByRole("button", { name: "Menu" }).click();
      await app.page.getByRole("button", { name: "Settings" }).click();
      await setting.click();
      await app.page.keyboard.press("Escape");
    };
    await app.goto(`${origin.origin}/`);
    const page = await app.content();
    const read = (frame: Frame) =>
      frame.evaluate(async () => {
        const inWorker = new Promise((resolve) => {
          new Worker("/worker.js").onmessage = ({ data }) => resolve(data);
        });
        const saves = (realm: Window) =>
          (realm.navigator as Navigator & { readonly connection: { readonly saveData: boolean } }).connection.saveData;
        const frames = [...document.querySelectorAll("iframe")].map(({ contentWindow }) =>
          saves(contentWindow as Window),
        );
        return [saves(window), ...frames, await inWorker];
      });
    expect(await read(page)).toEqual([false, false, false, [false, false, true]]);
    const changes = page.evaluate(
      () =>
        new Promise((resolve) => {
          const { connection } = navigator as Navigator & { readonly connection: EventTarget & { saveData?: boolean } };
          connection.addEventListener("change", () => resolve(connection.saveData), { once: true });
        }),
    );
    await press();
    expect(await changes).toBe(true);
    await expect.poll(() => read(page)).toEqual([true, true, true, [true, false, true]]);
    await app.goto(`${origin.origin}/`);
    expect(await read(await app.content())).toEqual([true, true, true, [true, false, true]]);
    await press();
    await expect.poll(async () => (await read(await app.content()))[0]).toBe(false);
  },
);
