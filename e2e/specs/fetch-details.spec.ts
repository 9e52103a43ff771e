/** What scripts see of requests and answers, and origins of requests, in the corners: as on a direct visit. */
import type { Frame, Page } from "@playwright/test";
import { expect, test } from "../fixtures/browser.ts";
import type { TestOrigin } from "../fixtures/test-origin/test-origin.ts";

function serve(origin: TestOrigin): void {
  const [watched, corners, waited, seen] = [watchEvents, askInCorners, askAndWait, shapes].map(String);
  origin.route("/worker.js", ({ reply }) =>
    reply(
      200,
      { "content-type": "text/javascript" },
      `onmessage = async ({ data }) => {
        const events = await (${watched})(data);
        const [answers, waited, shapes] = [await (${corners})(data), (${waited})(data), (${seen})()];
        postMessage({ events, answers, waited, shapes });
      };`,
    ),
  );
  const open = { "access-control-allow-origin": "*" };
  const events = { "content-type": "text/event-stream" };
  origin.route("/events/ends", ({ reply }) => reply(200, { ...events, ...open }, "data: x\n\n"));
  origin.route("/events/refused", ({ reply }) => reply(200, events, "data: x\n\n"));
  origin.route("/events/500", ({ reply }) => reply(500, { ...events, ...open }, "data: x\n\n"));
  origin.route("/events/204", ({ reply }) => reply(204, { ...events, ...open }));
  origin.route("/events/404", ({ reply }) => reply(404, { ...open, "content-type": "text/html" }, "no"));
  origin.route("/events/206", ({ reply }) => reply(206, { ...events, ...open }, "data: x\n\n"));
  origin.route("/events/text", ({ reply }) => reply(200, { ...open, "content-type": "text/plain" }, "data: x\n\n"));
  origin.route("/events/none", ({ reply }) => reply(200, open, "data: x\n\n"));
  origin.route("/events/latin", ({ reply }) =>
    reply(200, { ...open, "content-type": "text/event-stream; charset=iso-8859-1" }, "data: x\n\n"),
  );
  origin.route("/events/away", ({ request, reply }) =>
    reply(302, { ...open, location: request.query.get("to") ?? "", "cache-control": "no-store" }),
  );
  origin.route("/events/loop", ({ reply }) =>
    reply(302, { ...open, location: "/events/loop", "cache-control": "no-store" }),
  );
  origin.route("/events/cut", ({ socket }) => void socket.destroy());

  origin.route("/tagged", ({ request, reply }) => {
    const isHeld = request.headers["if-none-match"] === '"a"';
    reply(
      isHeld ? 304 : 200,
      { ...open, "access-control-allow-headers": "*", etag: '"a"', "cache-control": "no-cache" },
      isHeld ? "" : "tagged",
    );
  });
  origin.route("/fresh", ({ reply }) =>
    reply(200, { ...open, "cache-control": "public, max-age=600", "content-type": "text/plain" }, "fresh"),
  );
  const lists: Readonly<Record<string, Record<string, string>>> = {
    "/lists/good": { "access-control-allow-methods": "PUT, DELETE", "access-control-allow-headers": "x-a,x-b" },
    "/lists/empty": { "access-control-allow-methods": ",PUT,,", "access-control-allow-headers": " , x-a," },
    "/lists/space": { "access-control-allow-methods": "PUT DELETE", "access-control-allow-headers": "x-a" },
    "/lists/names": { "access-control-allow-methods": "PUT", "access-control-allow-headers": "x-a, x b" },
    "/lists/slash": { "access-control-allow-methods": "PUT, a/b", "access-control-allow-headers": "x-a" },
    "/lists/quoted": { "access-control-allow-methods": "PUT", "access-control-allow-headers": '"x-a", x-a' },
    "/lists/none": {},
  };
  for (const [path, fields] of Object.entries(lists))
    origin.route(path, ({ reply }) => reply(200, { ...open, ...fields, "access-control-max-age": "0" }, "listed"));
}

/** How event sources go on after their first event, if one is heard of: open, connecting again, or closed. */
function watchEvents([own, other]: readonly [string, string]): Promise<Record<string, string>> {
  const addresses = ["ends", "refused", "500", "204", "404", "206", "text", "none", "latin", "loop", "cut"].map(
    (name) => `/events/${name}`,
  );
  const targets = [
    ...addresses.flatMap((address) => [own + address, other + address]),
    `${own}/events/away?to=${other}/events/refused`,
    `${own}/events/away?to=${other}/events/ends`,
    `${own}/events/away?to=ftp://a.example/`,
    `${other}/events/away?to=${own}/events/ends`,
    `${other}/events/ends?credentials`,
  ];
  const watch = (url: string) =>
    new Promise<readonly [string, string]>((resolve) => {
      const source = new EventSource(url, { withCredentials: url.endsWith("?credentials") });
      const seen: string[] = [];
      source.onopen = () => seen.push(`open ${source.readyState}`);
      source.onmessage = ({ data }) => seen.push(`message ${data}`);
      source.onerror = () => {
        seen.push(`error ${source.readyState}`);
        source.close();
        resolve([
          url.replace(own, "own").replace(other, "other").replace(own, "own").replace(other, "other"),
          seen.join(),
        ]);
      };
    });
  return Promise.all(targets.map(watch)).then((entries) => Object.fromEntries(entries));
}

async function askInCorners([own, other]: readonly [string, string]): Promise<Record<string, unknown>> {
  const seen: Record<string, unknown> = {};
  const name = (text: string) => text.replace(own, "own").replace(other, "other").replace(location.origin, "own");
  const note = async (key: string, asked: Promise<Response>) => {
    try {
      const answer = await asked;
      const fields = [...answer.headers]
        .map(([field]) => field)
        .filter((field) => !["age", "date", "connection", "keep-alive", "transfer-encoding"].includes(field));
      const { type, status, ok, redirected, statusText } = answer;
      seen[key] = {
        type,
        status,
        ok,
        redirected,
        statusText,
        url: name(answer.url),
        hasBody: answer.body !== null,
        fields,
        text: await answer.text(),
        cloned: answer.clone === undefined ? "" : answer.type,
      };
    } catch (error) {
      seen[key] = (error as Error).name;
    }
  };
  for (const [at, base] of [
    ["own", own],
    ["other", other],
    ["path", ""],
  ] as const) {
    await note(`${at} plain`, fetch(`${base}/fresh?plain`));
    await note(`${at} no-cors`, fetch(`${base}/fresh?opaque`, { mode: "no-cors" }));
    await note(`${at} no-cors head`, fetch(`${base}/fresh?opaque`, { mode: "no-cors", method: "HEAD" }));
    await note(`${at} no-cors post`, fetch(`${base}/fresh?posted`, { mode: "no-cors", method: "POST", body: "x" }));
    await note(`${at} no-cors 500`, fetch(`${base}/events/500`, { mode: "no-cors" }));
    await note(`${at} redirected`, fetch(`${base}/events/away?to=/fresh`));
    await note(`${at} no-cors redirected`, fetch(`${base}/events/away?to=/fresh`, { mode: "no-cors" }));
    await note(`${at} manual`, fetch(`${base}/events/away?to=/fresh`, { redirect: "manual" }));
    await note(`${at} condition`, fetch(`${base}/tagged?condition`, { headers: { "if-none-match": '"a"' } }));
    await note(`${at} other condition`, fetch(`${base}/tagged?condition`, { headers: { "if-none-match": '"b"' } }));
    await note(`${at} stored`, fetch(`${base}/tagged?stored`));
    await note(`${at} stored again`, fetch(`${base}/tagged?stored`));
    await note(`${at} stored, condition`, fetch(`${base}/tagged?stored`, { headers: { "if-none-match": '"a"' } }));
    await note(`${at} stored, no-store`, fetch(`${base}/tagged?stored`, { cache: "no-store" }));
    for (const list of ["good", "empty", "space", "names", "slash", "quoted", "none"]) {
      await note(`${at} PUT ${list}`, fetch(`${base}/lists/${list}`, { method: "PUT", body: "x" }));
      await note(`${at} x-a ${list}`, fetch(`${base}/lists/${list}`, { headers: { "x-a": "1" } }));
    }
  }
  await note("other site's blob", fetch("data:text/plain,x", { mode: "no-cors" }));
  seen.blob = (await fetch(URL.createObjectURL(new Blob(["x"])))).type;
  const error = Response.error();
  seen.made = [new Response("x").type, error.type, error.status, new Response().url];
  const requests: Record<string, Request> = {
    plain: new Request("/a"),
    whole: new Request(`${own}/a`),
    none: new Request("/a", { referrer: "" }),
    client: new Request("/a", { referrer: "about:client" }),
    path: new Request("/a", { referrer: "/elsewhere?x" }),
    wholeReferrer: new Request("/a", { referrer: `${own}/elsewhere?y` }),
    other: new Request(`${other}/a`, { referrer: "/elsewhere" }),
  };
  for (const [key, request] of Object.entries(requests)) seen[`referrer ${key}`] = name(request.referrer);
  return seen;
}

/** As workers may, unlike pages: nothing else of theirs runs before there is an answer. */
function askAndWait([own, other]: readonly [string, string]): unknown[] {
  const targets = ["", own, other].flatMap((base) => [
    ["GET", `${base}/fresh?waited`],
    ["HEAD", `${base}/fresh?waited`],
    ["POST", `${base}/events/404`],
    ["GET", `${base}/events/refused`],
    ["GET", `${base}/events/away?to=/fresh`],
    ["GET", `${base}/events/cut`],
    ["PUT", `${base}/lists/none`],
  ]);
  return targets.map(([method = "", url = ""]) => {
    const request = new XMLHttpRequest();
    request.open(method, url, false);
    try {
      request.send(method === "GET" ? null : "x");
    } catch (error) {
      return (error as Error).name;
    }
    const { status, responseURL, responseText } = request;
    const place = responseURL.replace(own, "own").replace(other, "other");
    return [status, place, responseText, request.getResponseHeader("content-type")];
  });
}

/** Those same things, as a worker sees them. */
function seeInWorker(origins: readonly [string, string]): Promise<{ readonly shapes: Record<string, string> }> {
  const worker = new Worker("/worker.js");
  worker.postMessage(origins);
  return new Promise((resolve, reject) => {
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = reject;
  });
}

/** Names and numbers of parameters of all that a page, or a worker, may call. */
function shapes(): Record<string, string> {
  const seen: Record<string, string> = {};
  const note = (owner: string, target: object) => {
    for (const [key, { value, get, set }] of Object.entries(Object.getOwnPropertyDescriptors(target)))
      for (const [kind, call] of [
        ["", value],
        ["get", get],
        ["set", set],
      ] as const)
        if (typeof call === "function")
          seen[`${owner}.${key} ${kind}`] = `${call.name} ${call.length} ${Object.hasOwn(call, "prototype")}`;
  };
  const realm = globalThis as unknown as Record<string, unknown>;
  note("window", realm);
  for (const key of Object.getOwnPropertyNames(realm)) {
    const value = realm[key];
    if (typeof value !== "function" || !/^[A-Z]/.test(key)) continue;
    note(key, value);
    const prototype: unknown = value.prototype;
    if (typeof prototype === "object" && prototype !== null) note(`${key}.prototype`, prototype);
  }
  return seen;
}

/** WebSocket is a class of Ropeway's own. What is missing is told in the limits. */
function alike(wanted: Record<string, string>, got: Record<string, string>): Record<string, string> {
  const keys = Object.keys(wanted).filter((key) => key in got && !key.startsWith("WebSocket"));
  return Object.fromEntries(keys.map((key) => [key, wanted[key] ?? ""]));
}

test("scripts see of event sources, answers and functions what they see directly", async ({
  app,
  direct,
  origin,
  otherOrigin,
}) => {
  for (const each of [origin, otherOrigin]) serve(each);
  origin.page("/", "<p>Home</p>");
  const origins = [origin.origin, otherOrigin.origin] as const;
  const see = async (page: Page | Frame) => ({
    events: await page.evaluate(watchEvents, origins),
    answers: await page.evaluate(askInCorners, origins),
    worker: await page.evaluate(seeInWorker, origins),
    shapes: await page.evaluate(shapes),
    fresh: await page.evaluate(async (other) => {
      await (await fetch(`${other}/fresh?again`)).text();
      await (await fetch(`${other}/fresh?again`, { cache: "no-store" })).text();
      await (await fetch(`${other}/fresh?again`, { cache: "reload" })).text();
    }, otherOrigin.origin),
    asked: otherOrigin.requests
      .filter(({ url }) => url === "/fresh?again")
      .map(({ headers }) => [headers["cache-control"], headers.pragma]),
  });
  await direct.page.goto(`${origin.origin}/`);
  const wanted = await see(direct.page);
  for (const each of [origin, otherOrigin]) each.forget();
  await app.storeReady();
  await app.goto(`${origin.origin}/`);
  const got = await see(await app.content());
  const inWindow = Object.keys(alike(wanted.shapes, got.shapes));
  const inWorker = Object.keys(alike(wanted.worker.shapes, got.worker.shapes));
  expect(inWindow.length).toBeGreaterThan(5_000);
  expect(inWorker.length).toBeGreaterThan(1_000);
  const shaped = (seen: typeof got, other: typeof got) => {
    const worker = { ...seen.worker, shapes: alike(seen.worker.shapes, other.worker.shapes) };
    return { ...seen, worker, shapes: alike(seen.shapes, other.shapes) };
  };
  expect(shaped(got, wanted)).toEqual(shaped(wanted, got));

  const failure = await (await app.content()).evaluate(() => {
    const request = new XMLHttpRequest();
    request.open("GET", "/fresh", false);
    try {
      request.send();
    } catch (error) {
      return (error as Error).name;
    }
  });
  expect(failure).toBe("NetworkError");
  const bar = app.page.getByRole("navigation", { name: "Browser" });
  await expect(bar.getByText("would stop the page until it has an answer")).toBeVisible();
});

/** UTF-8, with letters of Latin-1 alone and with others; Latin-1, GBK. */
const NAMES = ["gr\xc3\xbc\xc3\x9fe", "\xe2\x98\x83", "gr\xfc\xdfe", "\xc4\xe3\xba\xc3"];

test("files whose names come in raw bytes are saved under the names of a direct visit", async ({
  app,
  direct,
  origin,
}) => {
  origin.route("/save", ({ request, socket }) => {
    const name = NAMES[Number(request.query.get("name"))] ?? "";
    const fields = `Content-Type: application/octet-stream\r\nContent-Disposition: attachment; filename="${name}.bin"`;
    socket.end(
      Buffer.from(`HTTP/1.1 200 OK\r\n${fields}\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok`, "latin1"),
    );
  });
  const links = NAMES.flatMap((_, at) => ["", "download"].map((kind) => `<a ${kind} href="/save?name=${at}">Save</a>`));
  origin.page("/", links.join(" "));
  const namesOf = async (page: Page, frame: Page | Frame) => {
    const names: string[] = [];
    for (const at of links.keys()) {
      const saved = page.waitForEvent("download");
      await frame.evaluate((index) => document.links[index]?.click(), at);
      names.push((await saved).suggestedFilename());
    }
    return names;
  };
  await direct.page.goto(`${origin.origin}/`);
  const wanted = await namesOf(direct.page, direct.page);
  expect(wanted.slice(0, 4)).toEqual(["gr\u00fc\u00dfe.bin", "gr\u00fc\u00dfe.bin", "\u2603.bin", "\u2603.bin"]);
  await app.goto(`${origin.origin}/`);
  expect(await namesOf(app.page, await app.content())).toEqual(wanted);
});

test("a synchronous request is refused, also where the page's own permissions policy is malformed", async ({
  app,
  origin,
}) => {
  for (const [path, policy] of [
    ["/", "camera=()"],
    ["/malformed", "camera 'none'; microphone 'none',"],
  ] as const) {
    origin.route(path, ({ page }) => page("<p>Page</p>", { "permissions-policy": policy }));
    await app.goto(origin.origin + path);
    const outcome = await (await app.content()).evaluate(() => {
      const request = new XMLHttpRequest();
      request.open("GET", "/asked-at-once", false);
      try {
        request.send();
        return request.status;
      } catch (error) {
        return (error as Error).name;
      }
    });
    expect(outcome, path).toBe("NetworkError");
  }
  expect(origin.requestsTo("/asked-at-once")).toEqual([]);
});
