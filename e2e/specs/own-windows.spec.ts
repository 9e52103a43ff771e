/** A window of the site's own: its scripts and those of the page that has opened it reach into each other, as directly. */
import type { Page } from "@playwright/test";
import { test as alone, expect, testInOneApp as test } from "../fixtures/browser.ts";
import { expectSameLog, LOG } from "../fixtures/compare.ts";

test("a calendar writes the day into the field of the page that has opened it, while it loads and later", async ({
  app,
  direct,
  origin,
}) => {
  origin.page(
    "/booking",
    `<form><input name=day></form><button>Choose</button><script>${LOG}
      function chosen(day, by) { log.push(["chosen", day, by.constructor === Object, document.forms[0].day.value]); }
      document.querySelector("button").onclick = () => {
        const shown = open("/calendar", "calendar", "width=300,height=300");
        shown.language = "de";
        shown.addEventListener("load", () => log.push(["load", shown.document.title, shown.heading.textContent]));
        log.push([typeof shown.document, shown.language, shown.closed]);
        onmessage = ({ data, source }) => {
          if (data !== "ready") return;
          log.push([source === shown, shown.location.pathname, shown.location.search, shown.document.readyState]);
          log.push([shown.opener === window, shown.say("Ann"), "say" in shown, "nothing" in shown, shown.length]);
          shown.document.querySelector("p").textContent = "From the page";
          log.push([shown.text(), shown.name, shown.origin === origin]);
          shown.location = "/month?of=day";
        };
      };
      function last(text, kept) { log.push(["last", text, kept]); end(); }
    </script>`,
  );
  origin.page(
    "/calendar",
    `<p id=heading>Day</p><script>
      const { day } = opener.document.forms[0];
      day.value = "29th";
      opener.chosen(language, {});
      opener.kept = "kept";
      function say(name) { return "Hello " + name; }
      var text = () => heading.textContent;
      addEventListener("load", () => setTimeout(() => opener.postMessage("ready", "*"), 0));
    </script>`,
    "Calendar",
  );
  origin.page(
    "/month",
    `<script>
      opener.last(opener.location.pathname, opener.kept);
      close();
    </script>`,
  );
  const log = await expectSameLog({ app, direct }, `${origin.origin}/booking`);
  expect(log).toContainEqual(["load", "Calendar", "Day"]);
});

test("a window that comes back from a sign-in at another site calls a function of the page, and closes", async ({
  app,
  direct,
  origin,
  otherOrigin,
}) => {
  const tries = `const tries = (other) => { try { return typeof other.document; } catch (error) { return error.name; } };`;
  origin.page(
    "/shop",
    `<button>Sign in</button><script>${LOG}${tries}
      let shown;
      function signedIn(token) { log.push([token, typeof shown.document, shown.location.search]); setTimeout(wait, 50); }
      const wait = () => (shown.closed ? (log.push("closed"), end()) : setTimeout(wait, 50));
      document.querySelector("button").onclick = () => { shown = open("${otherOrigin.origin}/login"); };
      onmessage = ({ data }) => log.push([data, tries(shown)]);
    </script>`,
  );
  otherOrigin.page(
    "/login",
    `<script>${tries} opener.postMessage(tries(opener), "*");</script><a href="${origin.origin}/callback?token=7">I am Ann</a>`,
  );
  origin.page("/callback", `<script>opener.signedIn(new URL(location).searchParams.get("token")); close();</script>`);
  const signIn = async (page: Page | null) => {
    const link = (page ?? app.frame()).getByRole("link", { name: "I am Ann" });
    await link.click();
  };
  const log = await expectSameLog({ app, direct }, `${origin.origin}/shop`, signIn);
  expect(log).toEqual([["SecurityError", "SecurityError"], ["7", "object", "?token=7"], "closed"]);
});

/** Notes what each call gives, or how it fails. */
const NOTE = `function note(name, read) {
  let value;
  try { value = read(); } catch (error) { value = error.name; }
  log.push([name, value !== null && /^(object|function)$/.test(typeof value) ? typeof value : value]);
}`;

test("all that a script does to a window of its own does to it what it does directly, also once it is closed", async ({
  app,
  direct,
  origin,
}) => {
  origin.page(
    "/page",
    `<button>Open</button><script>${LOG}${NOTE}
      document.querySelector("button").onclick = () => {
        const shown = open("/window", "own");
        note("early", () => { shown.moveTo(0, 0); shown.resizeTo(300, 300); return shown.name + shown.location.href; });
        note("no listener", () => shown.addEventListener("load", "text"));
        note("bad address", () => { shown.location = "http://"; });
        shown.onload = () => setTimeout(later, 0, shown);
      };
      const later = (shown) => {
        note("function", () => shown.plain === shown.plain && shown.plain());
        note("class", () => new shown.Array(3).length);
        note("delete", () => { delete shown.first; return "first" in shown; });
        note("keys", () => Object.keys(shown).includes("second") + " " + Object.hasOwn(shown, "second"));
        note("define", () => { Object.defineProperty(shown, "third", { value: 3, configurable: true }); return shown.read(); });
        note("tag", () => Object.prototype.toString.call(shown) + (Object.getPrototypeOf(shown) === shown.Window.prototype));
        note("addresses", () => [shown.location.href, shown.location + "", shown.document.location.href, shown.document.URL,
          shown.document.defaultView.location.href, shown.document.links[0].href, shown.origin, shown.name].join());
        note("style", () => shown.getComputedStyle(shown.document.body).display + shown.eval("1 + 1"));
        note("frames", () => shown.frames.length + shown.inner.document.body.textContent.trim() + shown.inner.location.href);
        note("itself", () => [shown.window === shown, shown.self === shown, shown.parent === shown, shown.top === shown].join());
        note("opener", () => shown.opener === window);
        shown.returned = "Returned";
        const entries = shown.navigation.entries().length;
        const at = (path, then) => {
          const isThere = shown.location.search === path && shown.document.readyState === "complete" && !shown.isOld;
          if (isThere) then(); else setTimeout(at, 20, path, then);
        };
        const go = (way) => { shown.isOld = true; way(); };
        shown.name = "renamed";
        go(() => shown.location.replace("/window?replaced"));
        at("?replaced", () => {
          note("replaced", () => shown.navigation.entries().length - entries);
          note("name", () => shown.name);
            go(() => { shown.location.href = "/window?on"; });
            at("?on", () => {
              let hasLeft = false;
              shown.addEventListener("pagehide", () => { hasLeft = true; });
              shown.returned = "Returned";
              shown.finish();
              const wait = () => {
                if (!shown.closed) return setTimeout(wait, 20);
                note("closed", () => [shown.returned, typeof shown.document].join());
                hearLeft();
              };
              const hearLeft = () => {
                if (!hasLeft) return setTimeout(hearLeft, 20);
                log.push("left");
                end();
              };
              wait();
            });
        });
      };
    </script>`,
  );
  origin.page("/inner", "Inner");
  origin.page(
    "/window",
    `<a href="/link">Link</a><iframe name=inner src="/inner"></iframe><script>
      var first = 1, second = 2;
      function plain() { return typeof this; }
      var read = () => third;
      var finish = () => setTimeout(close, 50);
    </script>`,
  );
  await expectSameLog({ app, direct }, `${origin.origin}/page`);
});

test("a window reaches the page by the frame that has opened it, and leads other frames there; its own window reaches both", async ({
  app,
  direct,
  origin,
}) => {
  origin.page(
    "/set",
    `<button>Open</button><iframe name=list src="/list"></iframe><iframe name=detail src="/detail?0"></iframe>
    <script>${LOG}${NOTE} var ofPage = "page", over = () => end(); document.querySelector("button").onclick = () => list.choose();</script>`,
  );
  origin.page("/list", `<script>var ofList = "list"; var choose = () => { open("/window", "of the list"); };</script>`);
  origin.page("/detail", `<script>var at = location.search; parent.frameCame?.(at);</script>`);
  origin.page(
    "/window",
    `<button>Next</button><script>
      const { note } = opener.parent;
      note("around", () => [opener.ofList, opener.parent.ofPage, opener.top.ofPage, opener.parent === opener].join());
      note("beside", () => opener.parent.frames.detail.at + opener.parent.frames.detail.location.href);
      opener.parent.frameCame = (at) => note("came", () => at);
      opener.parent.frames.detail.location.href = "/detail?1";
      document.querySelector("button").onclick = () => open("/second", "second");
    </script>`,
  );
  origin.page(
    "/second",
    `<script>
      opener.opener.parent.note("chain", () => opener.opener.ofList + opener.opener.closed);
      opener.opener.parent.over();
    </script>`,
  );
  const next = async (page: Page | null) => (page ?? app.frame()).getByRole("button", { name: "Next" }).click();
  const log = await expectSameLog({ app, direct }, `${origin.origin}/set`, next);
  expect(log).toContainEqual(["chain", "listfalse"]);
  expect(log).toContainEqual(["came", "?1"]);
});

alone("a page of another site gets nothing of where they find each other", async ({ app, origin, otherOrigin }) => {
  const all = `Array.from({ length: (0, eval)("top").length }, (_, at) => (0, eval)("top")[at])`;
  const frames = `${all}.map((each) => { try { return each.location.pathname; } catch { return each.length; } })`;
  origin.page("/page", `<button onclick='shown = window.open("/window")'>Open</button>`);
  origin.page("/window", `<p>Window</p>`);
  otherOrigin.page("/page", `<p>Other</p>`);
  await app.goto(`${origin.origin}/page`);
  const page = await app.content();
  await page.getByRole("button", { name: "Open" }).click();
  await expect(app.frame().getByText("Window")).toBeVisible();
  await expect.poll(async () => page.evaluate("shown.document.body.textContent.trim()")).toBe("Window");
  const meetings = async () =>
    ((await page.evaluate(frames)) as unknown[]).filter((each) => each === "/.ropeway/meeting");
  expect(await meetings()).toHaveLength(1);

  await app.page.getByRole("button", { name: "Menu" }).click();
  await app.page.getByRole("button", { name: "New tab" }).click();
  await app.goto(`${otherOrigin.origin}/page`);
  const other = await app.content();
  // As many as there ever will be, beside slots that are got ready, of which one was its own.
  const seen = (await other.evaluate(frames)) as unknown[];
  expect(seen.filter((each) => each === 0).length).toBeGreaterThan(7);
  expect(seen.filter((each) => each !== 0 && each !== "/.ropeway/boot")).toEqual([]);
  for (const each of ["location = 'about:blank'", "location.replace('about:blank')"])
    await other.evaluate(`for (const each of ${all}) try { each.${each} } catch {}`);
  expect(await meetings()).toHaveLength(1);
});

test("a window behind another goes back in its own history, and the one in front stays", async ({
  app,
  direct,
  origin,
}) => {
  origin.page(
    "/page",
    `<button>Open</button><script>${LOG}
      let opened;
      onmessage = ({ data }) => {
        log.push(data);
        if (log.length === 1) opened.location = "/first?on";
        if (log.length === 3) end();
      };
      document.querySelector("button").onclick = () => { opened = open("/first"); };
    </script>`,
  );
  origin.page(
    "/first",
    `<button>On</button><script>
      onpageshow = () => setTimeout(() => opener.postMessage(location.pathname + location.search, "*"), 0);
      onmessage = () => history.back();
      if (location.search === "?on") document.querySelector("button").onclick = () => open("/second");
    </script>`,
  );
  origin.page("/second", `<p>Second</p><script>onload = () => opener.postMessage("back", "*");</script>`);
  const openSecond = async (page: Page | null) => {
    if (page !== null) await page.waitForURL(/on$/);
    else await expect(app.address).toHaveValue(/on$/);
    await (page ?? app.frame()).getByRole("button", { name: "On" }).click();
  };
  const log = await expectSameLog({ app, direct }, `${origin.origin}/page`, openSecond);
  expect(log).toEqual(["/first", "/first?on", "/first"]);
  await expect(app.frame().getByText("Second")).toBeVisible();
});

test("a window of a blob: tells the page of its load, and keeps what that has put there", async ({
  app,
  direct,
  origin,
}) => {
  origin.page(
    "/page",
    `<button>Open</button><script>${LOG}
      document.querySelector("button").onclick = () => {
        const url = URL.createObjectURL(new Blob(["<title>Receipt</title><p>Made here"], { type: "text/html;charset=utf-8" }));
        const shown = open(url);
        URL.revokeObjectURL(url);
        shown.kept = "kept";
        shown.addEventListener("load", () => log.push(["listener", shown.document.title]));
        shown.onload = () => {
          log.push(["onload", shown.document.charset, shown.kept, shown.document.querySelector("p").textContent]);
          shown.close();
          setTimeout(end, 100);
        };
      };
    </script>`,
  );
  const log = await expectSameLog({ app, direct }, `${origin.origin}/page`);
  expect(log).toEqual([
    ["listener", "Receipt"],
    ["onload", "UTF-8", "kept", "Made here"],
  ]);
});
