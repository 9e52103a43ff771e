/** Frames that know one another by name, and frames, links and forms in places that have no page script of their own. */
import type { FrameLocator, Page } from "@playwright/test";
import { type AppPage, expect, testInOneApp as test } from "../fixtures/browser.ts";
import type { TestOrigin } from "../fixtures/test-origin/test-origin.ts";

interface Visit {
  readonly name: string;
  readonly around: Pick<FrameLocator, "locator" | "frameLocator" | "getByText">;
  go(url: string): Promise<unknown>;
  /** Where the page is. */
  url(): Promise<string>;
}

/** Directly, then through the app. */
function visits(app: AppPage, page: Page): readonly Visit[] {
  return [
    { name: "direct", around: page, go: (url) => page.goto(url), url: async () => page.url() },
    { name: "app", around: app.frame(), go: (url) => app.goto(url), url: () => app.address.inputValue() },
  ];
}

const TELLS = `<script>document.write("<i>" + [document.referrer.split("/")[2] ? "referred" : "", location.search].join(" ") + "</i>")</script>`;

async function shows(frame: FrameLocator, heading: string, told: string): Promise<void> {
  await expect(frame.locator("i")).toHaveText(told);
  await expect(frame.locator("h1")).toHaveText(heading);
}

function serveClasses(origin: TestOrigin, other: TestOrigin): void {
  const frameset = (path: string, body: string) =>
    origin.route(path, ({ page }) => page(`<!doctype html><html><head><title>Manual</title></head>${body}</html>`));
  frameset(
    "/",
    `<frameset cols="30%,70%"><frameset rows="50%,50%"><frame src="/packages" name="packages" title="packages">
     <frame src="/classes" name="classes" title="classes"></frameset>
     <frame src="${other.origin}/summary" name="main" title="main"><noframes>None</noframes></frameset>`,
  );
  origin.page(
    "/packages",
    `<a href="/classes?io" target="classes">io</a> <button>net</button><button>Set</button><button>again</button><button>count</button>
     <form action="/class" target="main"><input name="q" value="found"><button>find</button></form>
     <a href="/left" target="_top">leave</a><h2></h2><script>
       const acts = {
         net() { parent.classes.location.href = "/classes?net"; },
         Set() { parent.frames["main"].location = "/class?Set"; },
         again() { parent.frames.main.location.replace("${other.origin}/summary?again"); },
         count() { document.querySelector("h2").textContent = parent.frames.length + parent.frames[1].name + parent.document.querySelector("frame").contentWindow.name; },
       };
       for (const button of document.querySelectorAll("button")) button.onclick = acts[button.textContent];
     </script>`,
  );
  origin.page(
    "/classes",
    `${TELLS}<a href="/class?File" target="main">File</a><a href="${other.origin}/summary?File" target="main">Other</a>`,
  );
  origin.page("/class", `<h1>Class</h1>${TELLS}`);
  origin.page("/left", "<h1>Left</h1>");
  other.page("/summary", `<h1>Summary</h1>${TELLS}`);
}

test("a manual in nested framesets leads its frames by name, by links, forms and scripts @long", async ({
  app,
  direct,
  origin,
  otherOrigin,
  network,
}) => {
  serveClasses(origin, otherOrigin);
  for (const { name, around, go, url } of visits(app, direct.page)) {
    await test.step(name, async () => {
      await go(`${origin.origin}/`);
      const [packages, classes, main] = ["packages", "classes", "main"].map((title) =>
        around.frameLocator(`frame[title="${title}"]`),
      ) as [FrameLocator, FrameLocator, FrameLocator];
      await expect(main.locator("h1")).toHaveText("Summary");
      await packages.getByText("io").click();
      await expect(classes.locator("i")).toHaveText("referred ?io");
      await classes.getByText("File").click();
      await shows(main, "Class", "referred ?File");
      await classes.getByText("Other").click();
      await shows(main, "Summary", "referred ?File");
      await packages.getByText("net").click();
      await expect(classes.locator("i")).toHaveText("referred ?net");
      await packages.getByText("Set").click();
      await shows(main, "Class", "referred ?Set");
      await packages.getByText("again").click();
      await shows(main, "Summary", "referred ?again");
      await packages.getByText("find").click();
      await shows(main, "Class", "referred ?q=found");
      await packages.getByText("count").click();
      await expect(packages.locator("h2")).toHaveText("3classespackages");
      await packages.getByText("leave").click();
      await expect.poll(url).toBe(`${origin.origin}/left`);
    });
  }
  expect(network.leaks("localhost")).toEqual([]);
});

test("frames that scripts add in srcdoc and blank frames are shown, and none loads past the tunnel", async ({
  app,
  direct,
  origin,
  otherOrigin,
  network,
}) => {
  otherOrigin.page("/guest", "<h1>Guest</h1>");
  origin.page("/own", "<h1>Own</h1>");
  origin.route("/dot.svg", ({ reply }) =>
    reply(200, { "content-type": "image/svg+xml" }, `<svg xmlns="http://www.w3.org/2000/svg" width="7" height="7"/>`),
  );
  const adds = `for (const [title, src] of [["own", "${origin.origin}/own"], ["guest", "${otherOrigin.origin}/guest"]]) {
      const made = Object.assign(document.createElement("iframe"), { title, src });
      document.body.append(made);
    }
    const blank = Object.assign(document.createElement("iframe"), { title: "blank" });
    document.body.append(blank);
    blank.contentDocument.body.innerHTML = "<h1>Filled</h1><iframe title='deep' src='${otherOrigin.origin}/guest?deep'></iframe>";
    const inner = Object.assign(document.createElement("iframe"), { title: "inner", srcdoc: "<h1>Inner</h1><img src=/dot.svg?inner>" });
    document.body.append(inner);`;
  origin.page("/", `<iframe title="outer" srcdoc="<body><script>${adds.replaceAll('"', "&quot;")}</script>"></iframe>`);
  for (const { name, around, go } of visits(app, direct.page)) {
    await test.step(name, async () => {
      await go(`${origin.origin}/`);
      const outer = around.frameLocator('iframe[title="outer"]');
      const within = (title: string) => outer.frameLocator(`iframe[title="${title}"]`);
      await expect(within("own").locator("h1")).toHaveText("Own");
      await expect(within("guest").locator("h1")).toHaveText("Guest");
      await expect(within("blank").locator("h1")).toHaveText("Filled");
      await expect(within("blank").frameLocator('iframe[title="deep"]').locator("h1")).toHaveText("Guest");
      await expect(within("inner").locator("h1")).toHaveText("Inner");
      await expect
        .poll(() =>
          within("inner")
            .locator("img")
            .evaluate((image: HTMLImageElement) => image.naturalWidth),
        )
        .toBe(7);
    });
  }
  expect(network.leaks("localhost")).toEqual([]);
});

/** Elements in shadow roots, by which the frame "inner", the page or a form's target is led. */
const SHADOWS = (
  kind: "open" | "closed",
  elsewhere: string,
) => `<div id="host"></div><iframe name="inner" title="inner" src="/still"></iframe><script>
  const root = document.getElementById("host").attachShadow({ mode: "${kind}" });
  root.innerHTML = \`<a id="own" href="/shown?own" target="inner">own</a> <a id="other" href="${elsewhere}/shown?other" target="inner">other</a>
    <a id="kept" href="${elsewhere}/shown?kept" target="inner" onclick="event.preventDefault()">kept</a>
    <form id="get" action="${elsewhere}/shown" target="inner"><input name="a" value="get"><button>Get</button></form>
    <form id="post" method="post" action="${elsewhere}/form" target="inner"><input name="a" value="ü"><button name="b" value="1">Post</button></form>
    <form id="asked" action="/shown" target="inner"><input name="a" value="asked"></form>
    <form id="sent" action="${elsewhere}/shown" target="inner"><input name="a" value="sent"></form>
    <a id="new" href="${elsewhere}/shown?new" target="_top">new</a>\`;
  window.act = (id) => {
    const element = root.getElementById(id);
    if (id === "asked") element.requestSubmit();
    else if (id === "sent") element.submit();
    else (element.querySelector("button") ?? element).click();
  };
</script>`;

for (const kind of ["open", "closed"] as const)
  test(`links and forms with a target in ${kind} shadow roots lead the window that they name`, async ({
    app,
    direct,
    origin,
    otherOrigin,
    network,
  }) => {
    origin.page("/", SHADOWS(kind, otherOrigin.origin));
    for (const each of [origin, otherOrigin]) each.page("/shown", `<h1>Shown</h1>${TELLS}`);
    origin.page("/still", "<h1>Still</h1>");
    for (const { name, around, go, url } of visits(app, direct.page)) {
      await test.step(name, async () => {
        await go(`${origin.origin}/`);
        const inner = around.frameLocator('iframe[title="inner"]');
        const act = (id: string) =>
          around.locator("#host").evaluate((_host, of) => (window as unknown as { act(id: string): void }).act(of), id);
        await expect(inner.locator("h1")).toHaveText("Still");
        await act("kept");
        for (const [id, shown] of [
          ["own", "?own"],
          ["other", "?other"],
          ["get", "?a=get"],
          ["asked", "?a=asked"],
          ["sent", "?a=sent"],
        ] as const) {
          await act(id);
          await expect(inner.locator("i"), id).toHaveText(`referred ${shown}`);
        }
        await act("post");
        await expect(inner.locator("pre")).toContainText('"value":"ü"},{"name":"b","value":"1"');
        await act("new");
        await expect.poll(url).toBe(`${otherOrigin.origin}/shown?new`);
      });
    }
    expect(network.leaks("localhost")).toEqual([]);
  });

test("windows by number are those of the elements, and open gives back the one that it led", async ({
  app,
  direct,
  origin,
  otherOrigin,
}) => {
  otherOrigin.page("/guest", "<p>Guest</p>");
  origin.page("/inner", "<p>Inner</p>");
  origin.page(
    "/",
    `<iframe name="blank"></iframe><iframe name="own" src="/inner"></iframe><iframe name="guest" src="${otherOrigin.origin}/guest"></iframe>
     <script>
       var log = [];
       const elements = [...document.querySelectorAll("iframe")];
       const nameOf = (value) => value === null ? null : value === window ? "page" : (elements.find((each) => each.contentWindow === value)?.name ?? "another");
       elements.at(-1).onload = () => {
         log.push([window[0], self[1], window.frames[2], parent[0], top[1]].map(nameOf));
         for (let i = 0; i < window.length; i++) log.push(nameOf(window[i]), nameOf(window[i].parent));
         for (const args of [["#a", "_self", "noopener"], ["", "_self"], ["", "_self", "noreferrer"], ["", "_PARENT"], ["", "_top"],
           ["#b", "_top"], ["", "own"], ["/inner#c", "own"], ["/inner#d", "own", "noopener"], ["", "blank"]])
           log.push([...args, nameOf(window.open(...args))].join());
         log.push("done");
       };
     </script>`,
  );
  const logs: unknown[] = [];
  for (const { go, frame } of [
    { go: (url: string) => direct.page.goto(url), frame: () => direct.page },
    { go: (url: string) => app.goto(url), frame: () => app.content() },
  ]) {
    await go(`${origin.origin}/`);
    const page = await frame();
    await page.waitForFunction("log.includes('done')");
    logs.push(await page.evaluate("log"));
  }
  expect(logs[1]).toEqual(logs[0]);
  expect(logs[0]).toContainEqual(["blank", "own", "guest", "blank", "own"]);
});

test("a page that writes itself anew keeps its links, forms and messages", async ({
  app,
  direct,
  origin,
  otherOrigin,
}) => {
  for (const each of [origin, otherOrigin]) each.page("/shown", `<h1>Shown</h1>${TELLS}`);
  otherOrigin.page(
    "/guest",
    `<script>addEventListener("message", ({ data, source, origin }) => source.postMessage(data + " from " + origin, "*")); parent.postMessage("ready", "*")</script>`,
  );
  origin.page(
    "/",
    `<button onclick="anew()">Write</button><script>function anew() {
      document.open();
      document.write(\`<title>Anew</title><a href="${otherOrigin.origin}/shown?link">link</a> <a href="${origin.origin}/shown?own" target="_blank" rel="noopener">own</a>
        <form method="post" action="${otherOrigin.origin}/form"><input name="a" value="1"><button>Post</button></form>
        <p id="heard"></p><script>addEventListener("message", ({ data, origin }) => {
          heard.append(data + " at " + origin + ";");
          if (data === "ready") document.querySelector("iframe").contentWindow.postMessage("hello", "${otherOrigin.origin}");
        })<\\/script><iframe src="${otherOrigin.origin}/guest"></iframe>\`);
      document.close();
    }</script>`,
  );
  const heard = `ready at ${otherOrigin.origin};hello from ${origin.origin} at ${otherOrigin.origin};`;
  for (const { name, around, go, url } of visits(app, direct.page)) {
    await test.step(name, async () => {
      const write = async () => {
        await go(`${origin.origin}/`);
        await around.getByText("Write").click();
        await expect(around.locator("#heard")).toHaveText(heard);
      };
      await write();
      await around.getByText("link").click();
      await expect.poll(url).toBe(`${otherOrigin.origin}/shown?link`);
      await write();
      await around.getByText("Post").click();
      await expect(around.locator("pre")).toContainText('"method":"POST"');
      await write();
      if (name === "app") await expect(app.page).toHaveTitle(/Anew/);
    });
  }
});

test("on a page whose base is another site's, frames, links, forms and written documents work", async ({
  app,
  direct,
  origin,
  otherOrigin,
  network,
}) => {
  for (const each of [origin, otherOrigin]) each.page("/shown", `<h1>Shown</h1>${TELLS}`);
  origin.page(
    "/",
    `<base href="${otherOrigin.origin}/deep/"><iframe title="markup" src="/shown?markup"></iframe>
     <iframe title="own" src="${origin.origin}/shown?own"></iframe><iframe title="written" srcdoc="<h1>Written</h1>"></iframe>
     <script>
       const add = (title, rest) => document.body.append(Object.assign(document.createElement("iframe"), { title, ...rest }));
       add("script", { src: "../shown?script" });
       add("scripted", { srcdoc: "<h1>Scripted</h1><a href='../shown?inner'>inner</a>" });
       document.title = [...document.querySelectorAll("iframe")].map((frame) => frame.getAttribute("src")).join(" ");
     </script><a href="../shown?link">link</a><form action="../form" method="post"><input name="a" value="1"><button>Post</button></form>`,
  );
  const titles: string[] = [];
  for (const { name, around, go, url } of visits(app, direct.page)) {
    await test.step(name, async () => {
      await go(`${origin.origin}/`);
      const within = (title: string) => around.frameLocator(`iframe[title="${title}"]`);
      for (const title of ["markup", "own", "script"])
        await expect(within(title).locator("i")).toHaveText(`referred ?${title}`);
      await expect(within("written").locator("h1")).toHaveText("Written");
      await within("scripted").getByText("inner").click();
      await expect(within("scripted").locator("i")).toHaveText("referred ?inner");
      titles.push((await around.locator("title").textContent()) ?? "");
      await around.getByText("Post").click();
      await expect.poll(url).toBe(`${otherOrigin.origin}/form`);
      await go(`${origin.origin}/`);
      await around.getByText("link").click();
      await expect.poll(url).toBe(`${otherOrigin.origin}/shown?link`);
    });
  }
  expect(titles[1]).toBe(titles[0]);
  expect(network.leaks("localhost")).toEqual([]);
});
