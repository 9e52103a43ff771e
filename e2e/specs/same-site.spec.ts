import { expect, testInOneApp as test } from "../fixtures/browser.ts";
import { startTestOrigin } from "../fixtures/test-origin/test-origin.ts";

const SECRET = "balance-4711";
const GIF = Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64");

test("a page that takes its port reads nothing of a sibling of its site but what it could embed", async ({ app }) => {
  const [bankServer, evilServer] = [await startTestOrigin(), await startTestOrigin()];
  const bank = `http://bank.x.localhost:${bankServer.port}`;
  const evil = `http://evil.x.localhost:${evilServer.port}`;
  const secret = (type: string, fields: Record<string, string> = {}, body = SECRET) =>
    bankServer.route(`/${type.split("/")[1]}`, ({ request, reply }) => {
      const isKnown = request.headers.cookie?.includes("session=1") === true;
      reply(200, { "content-type": type, ...fields }, isKnown ? body : "run()");
    });
  bankServer.route("/", ({ page }) => page("<p>Bank", { "set-cookie": "session=1; HttpOnly; SameSite=Strict" }));
  secret("text/html", { "cross-origin-resource-policy": "same-origin" }, `<p>${SECRET}`);
  secret("text/plain");
  secret("application/json", {}, `{"secret":"${SECRET}"}`);
  bankServer.route("/face.gif", ({ reply }) => reply(200, { "content-type": "image/gif", "x-secret": SECRET }, GIF));
  bankServer.route("/use.js", ({ reply }) => reply(200, { "content-type": "text/plain" }, "window.used = true"));
  evilServer.page("/", "<p>Evil</p>");
  try {
    await app.goto(`${bank}/`);
    await app.goto(`${evil}/`);
    const page = await app.content();
    const shell = new URL(app.page.url()).origin;
    const urls = ["/html", "/plain", "/json", "/face.gif"].map((path) => bank + path);
    const heard = await page.evaluate(
      ([shellOrigin, targets]) =>
        new Promise<string[]>((resolve) => {
          const texts: string[] = [];
          const wanted = new Map<number, string>();
          const attack = (port: MessagePort): void => {
            port.onmessage = (
              event: MessageEvent<{ type: string; id: number; chunk?: Uint8Array; head?: unknown }[]>,
            ) => {
              for (const { type, id, chunk, head } of event.data) {
                texts.push(
                  `${type} ${wanted.get(id)} ${JSON.stringify(head)} ${chunk && new TextDecoder().decode(chunk)}`,
                );
                if (type === "response") port.postMessage([{ type: "credit", id, bytes: 100_000 }]);
                if (type === "end" || type === "error") wanted.delete(id);
                if (type !== "pong" && wanted.size === 0) resolve(texts);
              }
            };
            const claims = ["", "image", "script", "style", "video", "font", "object", "iframe", "document"].flatMap(
              (destination) => ["no-cors", "cors", "same-origin", "navigate"].map((mode) => ({ destination, mode })),
            );
            for (const url of targets) {
              for (const claim of claims) {
                const id = 1_000 + wanted.size;
                wanted.set(id, `${claim.destination} ${claim.mode} ${url}`);
                const head = {
                  method: "GET",
                  url,
                  headers: [],
                  credentials: "include",
                  redirect: "follow",
                  referrer: "",
                };
                port.postMessage([{ type: "request", id, body: null, head: { ...head, ...claim } }]);
              }
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
    expect(heard.filter((text) => text.includes(SECRET))).toEqual([]);
    expect(heard.filter((text) => text.includes("face.gif")).join("\n")).toContain("GIF89a");
    // The cookie went along: it is the edge that keeps what came back.
    expect(bankServer.requestsTo("/html").some(({ headers }) => headers.cookie?.includes("session=1"))).toBe(true);

    await app.goto(`${evil}/`);
    const used = await (await app.content()).evaluate(async (bankOrigin) => {
      const load = (element: HTMLElement): Promise<string> =>
        new Promise((resolve) => {
          element.onload = () => resolve("load");
          element.onerror = () => resolve("error");
          document.body.append(element);
        });
      const image = await load(Object.assign(new Image(), { src: `${bankOrigin}/face.gif` }));
      const script = await load(Object.assign(document.createElement("script"), { src: `${bankOrigin}/use.js` }));
      const json = await load(Object.assign(document.createElement("script"), { src: `${bankOrigin}/json` }));
      const opaque = await fetch(`${bankOrigin}/json`, { mode: "no-cors", credentials: "include" });
      return { image, script, json, ran: "used" in window, opaque: await opaque.text() };
    }, bank);
    expect(used).toEqual({ image: "load", script: "load", json: "error", ran: true, opaque: "" });
  } finally {
    await Promise.all([bankServer.close(), evilServer.close()]);
  }
});
