/** Scripts that send a frame somewhere by its window's `location`, as sign-ins do that renew in a hidden frame. */
import type { Frame, Page } from "@playwright/test";
import { expect, testInOneApp as test } from "../fixtures/browser.ts";
import type { TestOrigin } from "../fixtures/test-origin/test-origin.ts";

/** The arrived documents tell the page around them. */
const ARRIVED = `<script>parent.postMessage(location.pathname + location.search + " from " + new URL(document.referrer).origin, "*")</script>`;

function serve(origin: TestOrigin, otherOrigin: TestOrigin): void {
  for (const each of [origin, otherOrigin]) each.page("/arrived", `<p>Arrived</p>${ARRIVED}`);
  for (const each of [origin, otherOrigin]) each.page("/before", "<p>Before</p>");
  origin.page(
    "/",
    `<p>Page</p><script>
       window.heard = [];
       addEventListener("message", ({ data, source, origin }) =>
         heard.push(data + (origin === "${origin.origin}" ? "" : " in " + Array.from(frames).indexOf(source))));
     </script>`,
  );
}

type Kind = "blank" | "written" | "srcdoc" | "own" | "other";
type Way = (typeof WAYS)[number];

const WAYS = ["set", "href", "replace", "assign", "frames", "name", "held", "from a frame"] as const;

/** Runs in the page. @returns what the page heard, and whether the frame's window was the same everywhere. */
async function steer(frame: Page | Frame, kind: Kind, way: Way, other: string, goal: string) {
  return frame.evaluate(
    async ([of, by, elsewhere, url]) => {
      const page = window as unknown as { heard: string[] };
      page.heard.length = 0;
      for (const former of document.querySelectorAll("iframe")) former.remove();
      const element = document.createElement("iframe");
      element.name = "steered";
      const loaded = () => new Promise((resolve) => element.addEventListener("load", resolve, { once: true }));
      if (of === "srcdoc") element.srcdoc = "<p>Written</p>";
      if (of === "own" || of === "other") element.src = `${of === "own" ? "" : elsewhere}/before`;
      const isThere = of === "blank" || of === "written" ? undefined : loaded();
      document.body.append(element);
      const held = element.contentWindow as Window;
      if (of === "written") element.contentDocument?.write("<p>Written</p>");
      if (of === "written") element.contentDocument?.close();
      await isThere;
      const steered = element.contentWindow as Window;
      const named = frames as unknown as { readonly [name: string]: Window };
      const same = [named.steered, named[0], held].every((each) => each === steered);
      if (by === "set") steered.location = url;
      if (by === "href") steered.location.href = url;
      if (by === "replace") steered.location.replace(url);
      if (by === "assign") steered.location.assign(url);
      if (by === "frames") (named[0] as Window).location = url;
      if (by === "name") (named.steered as Window).location = url;
      if (by === "held") held.location.replace(url);
      if (by === "from a frame") {
        const sibling = document.createElement("iframe");
        sibling.src = "/before";
        document.body.append(sibling);
        await new Promise((resolve) => sibling.addEventListener("load", resolve, { once: true }));
        const script = `parent.frames["steered"].location = ${JSON.stringify(url)}`;
        (sibling.contentWindow as unknown as { eval(text: string): void }).eval(script);
      }
      for (let turn = 0; turn < 1_200 && page.heard.length === 0; turn++)
        await new Promise((resolve) => setTimeout(resolve, 25));
      return { heard: [...page.heard], same };
    },
    [kind, way, other, goal] as const,
  );
}

/**
 * Not all with all: another origin's `location` has no `assign`, and browsers let no sandboxed frame, as the app's is,
 * steer one beside it.
 */
const TRIED: readonly (readonly [Kind, readonly Way[]])[] = [
  ["blank", WAYS],
  ["written", ["set", "replace", "held"]],
  ["srcdoc", ["set", "assign", "frames"]],
  ["own", ["href", "replace", "name"]],
  ["other", ["set", "href", "replace", "frames"]],
];

for (const [kind, ways] of TRIED) {
  // The others differ from these two by their first document alone.
  const tag = kind === "blank" || kind === "other" ? [] : "@long";
  test(`a script sends a frame with a document of the kind "${kind}" to real addresses, as in a direct visit`, {
    tag,
  }, async ({ app, origin, otherOrigin, direct, network }) => {
    serve(origin, otherOrigin);
    await app.goto(`${origin.origin}/`);
    await direct.page.goto(`${origin.origin}/`);
    const content = await app.content();
    for (const way of ways)
      for (const goal of [`${origin.origin}/arrived?own`, `${otherOrigin.origin}/arrived?other`]) {
        const wanted = await steer(direct.page, kind, way, otherOrigin.origin, goal);
        expect(wanted.heard, `directly, ${way}`).toHaveLength(1);
        const got = await steer(content, kind, way, otherOrigin.origin, goal);
        expect(got, `${way} to ${goal}`).toEqual(wanted);
      }
    expect(network.leaks("localhost")).toEqual([]);
  });
}

test("a sign-in that renews itself in a hidden frame gets its answer", async ({ app, origin, otherOrigin }) => {
  otherOrigin.route("/authorize", ({ request, reply }) => {
    const { searchParams } = new URL(request.url, otherOrigin.origin);
    const to = new URL(searchParams.get("redirect_uri") ?? "");
    to.search = `?state=${searchParams.get("state")}&code=c0de-${searchParams.get("state")}`;
    reply(302, { location: to.href });
  });
  origin.page(
    "/renewed",
    `<script>parent.postMessage({ source: "renewal", url: location.href }, "${origin.origin}")</script>`,
  );
  // As widely used client libraries do it: the frame's window is held before the address is known.
  origin.page(
    "/",
    `<p>Waiting</p><script>
       const renew = async (state) => {
         const frame = document.createElement("iframe");
         frame.style.cssText = "visibility: hidden; position: fixed; left: -1000px; top: 0";
         frame.width = frame.height = "0";
         document.body.append(frame);
         const held = frame.contentWindow;
         const answer = new Promise((resolve, reject) => {
           setTimeout(() => reject(new Error("timed out")), 60_000);
           addEventListener("message", ({ origin, data }) => {
             if (origin !== "${origin.origin}" || data?.source !== "renewal") return;
             const { searchParams } = new URL(data.url);
             if (searchParams.get("state") === state) resolve(searchParams.get("code"));
           });
         });
         await fetch("/echo");
         held.location.replace("${otherOrigin.origin}/authorize?prompt=none&redirect_uri=" +
           encodeURIComponent("${origin.origin}/renewed") + "&state=" + state);
         return answer.finally(() => frame.remove());
       };
       const tell = (text) => { document.querySelector("p").textContent = text; };
       renew("one").then((first) => renew("two").then((second) => tell(first + ", " + second))).catch(tell);
     </script>`,
  );
  await app.goto(`${origin.origin}/`);
  await expect(app.frame().locator("p")).toHaveText("c0de-one, c0de-two", { timeout: 90_000 });
});
