/** Pages that are cross-origin isolated by COOP and COEP (HTML section 7.1.4), so that their scripts may run in threads. */
import { expect, testInOneApp as test } from "../fixtures/browser.ts";
import { startTestOrigin, type TestOrigin } from "../fixtures/test-origin/test-origin.ts";

const OPENER = { "cross-origin-opener-policy": "same-origin" };
const EMBEDDER = { "cross-origin-embedder-policy": "require-corp" };
const PICTURE = `<svg xmlns="http://www.w3.org/2000/svg" width="7" height="7"/>`;

const WORKER = `onmessage = ({ data }) => { Atomics.add(data, 0, 41); postMessage(crossOriginIsolated); }`;

/** Fails to make memory for threads where it may not be shared. */
const PAGE = (
  other: string,
) => `<title>Threads</title><iframe id="own" src="/inner"></iframe><iframe id="blank"></iframe>
<script>
  async function tell() {
    const seen = { isolated: crossOriginIsolated, shared: typeof SharedArrayBuffer };
    for (const path of ["plain", "site", "open", "shared?cors"]) {
      const picture = new Image();
      if (path.endsWith("cors")) picture.crossOrigin = "anonymous";
      picture.src = "${other}/" + path;
      seen[path] = await picture.decode().then(() => picture.naturalWidth, () => "refused");
    }
    const own = new Image();
    own.src = "/plain";
    seen.own = await own.decode().then(() => own.naturalWidth, () => "refused");
    for (const id of ["own", "blank"]) {
      const { contentWindow } = document.getElementById(id);
      seen[id + " frame"] = [contentWindow.crossOriginIsolated, contentWindow.document.body.textContent.trim()];
    }
    for (const url of ["/worker.js", URL.createObjectURL(new Blob([${JSON.stringify(WORKER)}]))]) {
      const worker = new Worker(url);
      const buffer = crossOriginIsolated ? new SharedArrayBuffer(4) : new ArrayBuffer(4);
      const numbers = new Int32Array(buffer);
      const answer = new Promise((resolve) => {
        worker.onmessage = ({ data }) => resolve([data, Atomics.load(numbers, 0)]);
        worker.onerror = () => resolve("refused");
      });
      worker.postMessage(numbers);
      seen["worker " + url.slice(0, 4)] = await answer;
    }
    return seen;
  }
</script>`;

function serve(origin: TestOrigin, otherOrigin: TestOrigin, fields: Record<string, string>): void {
  const svg = { "content-type": "image/svg+xml" };
  origin.route("/", ({ reply }) => reply(200, { "content-type": "text/html", ...fields }, PAGE(otherOrigin.origin)));
  origin.route("/inner", ({ reply }) => reply(200, { "content-type": "text/html", ...fields }, "<p>Inner</p>"));
  origin.route("/worker.js", ({ reply }) => reply(200, { "content-type": "text/javascript", ...fields }, WORKER));
  origin.route("/plain", ({ reply }) => reply(200, svg, PICTURE));
  const resource = (policy: string) => ({ ...svg, "cross-origin-resource-policy": policy });
  otherOrigin.route("/plain", ({ reply }) => reply(200, svg, PICTURE));
  otherOrigin.route("/site", ({ reply }) => reply(200, resource("same-origin"), PICTURE));
  otherOrigin.route("/open", ({ reply }) => reply(200, resource("cross-origin"), PICTURE));
  otherOrigin.route("/shared", ({ reply }) => reply(200, { ...svg, "access-control-allow-origin": "*" }, PICTURE));
}

for (const [name, fields, isIsolated] of [
  [
    "a page that isolates itself shares memory with its workers, and embeds what allows it",
    { ...OPENER, ...EMBEDDER },
    true,
  ],
  [
    "a page that isolates itself without credentials embeds also what says nothing",
    { ...OPENER, "cross-origin-embedder-policy": "credentialless" },
    true,
  ],
  ["a page with one of the two policies is not isolated", OPENER, false],
] as const)
  test(name, async ({ app, direct, origin, otherOrigin }) => {
    serve(origin, otherOrigin, fields);
    await app.goto(`${origin.origin}/`);
    await direct.page.goto(`${origin.origin}/`);
    const seen = await (await app.content()).evaluate("tell()");
    expect(seen).toEqual(await direct.page.evaluate("tell()"));
    expect(seen).toMatchObject({ isolated: isIsolated });
  });

test("an isolated page without credentials sends a sibling of its site no cookies for pictures, and its own origin all", async ({
  app,
}) => {
  const server = await startTestOrigin();
  const [own, sibling] = ["own", "sibling"].map((name) => `http://${name}.x.localhost:${server.port}`);
  const cookies: string[] = [];
  server.route("/cookie", ({ reply }) =>
    reply(200, { "content-type": "text/html", "set-cookie": "known=1; Domain=x.localhost" }, "<p>Set</p>"),
  );
  const fields = { ...OPENER, "cross-origin-embedder-policy": "credentialless" };
  for (const path of ["plain", "isolated"])
    server.route(`/${path}`, ({ page }) => page("<p>Page</p>", path === "isolated" ? fields : {}));
  server.route("/picture", ({ request, reply }) => {
    cookies.push(
      `${request.url?.split("?")[1]} ${request.headers.host?.split(".")[0]} ${request.headers.cookie ?? "none"}`,
    );
    reply(200, { "content-type": "image/svg+xml", "cache-control": "no-store" }, PICTURE);
  });
  try {
    await app.goto(`${own}/cookie`);
    for (const path of ["plain", "isolated"]) {
      await app.goto(`${own}/${path}`);
      const content = await app.content();
      const shown = await content.evaluate(
        (urls) =>
          Promise.all(
            urls.map((url) => {
              const picture = new Image();
              picture.src = url;
              return picture.decode().then(
                () => "shown",
                () => "refused",
              );
            }),
          ),
        [`${own}/picture?${path}`, `${sibling}/picture?${path}`],
      );
      expect(shown).toEqual(["shown", "shown"]);
    }
    expect(cookies.sort()).toEqual([
      "isolated own known=1",
      "isolated sibling none",
      "plain own known=1",
      "plain sibling known=1",
    ]);
  } finally {
    await server.close();
  }
});
