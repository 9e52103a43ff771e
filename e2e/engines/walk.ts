/** What a person does with the app on the first day, in any engine. Each step begins where the app shows some page. */
import { hundredFiftyPage, PICTURE_COUNT, tilePicture } from "../demo/hundred-fifty.ts";
import { scriptlessSteps } from "./scriptless.ts";
import { go, press, SHOWN_ADDRESS, type Step } from "./step.ts";

const TITLE = "return document.title";
const PUSHES = "const { pushes, pushesClaimed } = await window.ropeway.stats(); return [pushes, pushesClaimed]";
const UPLOAD_BYTES = 2_000_000;
const COOKIE_PATHS = ["/sw.js", "/.ropeway/boot"];
/** By the built-ins of a blob: frame's second document, whose window had no blank document before. */
const SET_COOKIES = `
  const frame = document.createElement("iframe");
  document.body.append(frame);
  for (const text of ["first", "second"]) {
    const loaded = new Promise((resolve) => { frame.onload = resolve });
    frame.src = URL.createObjectURL(new Blob([text], { type: "text/html" }));
    await loaded;
  }
  const { set } = Object.getOwnPropertyDescriptor(frame.contentWindow.Document.prototype, "cookie");
  const base = location.hostname.slice(location.hostname.indexOf(".") + 1);
  for (const path of ${JSON.stringify(COOKIE_PATHS)}) set.call(document, "set=1; path=" + path + "; domain=" + base);`;
/** The paths whose documents have them. */
const READ_COOKIES = `
  const seen = [];
  for (const path of ${JSON.stringify(COOKIE_PATHS)}) {
    const frame = document.createElement("iframe");
    frame.hidden = true;
    frame.src = path;
    const loaded = new Promise((resolve) => { frame.onload = resolve });
    document.body.append(frame);
    await loaded;
    if (frame.contentDocument.cookie.includes("set=1")) seen.push(path);
    frame.remove();
  }
  return seen;`;

export const steps: readonly Step[] = [
  {
    name: "opens and pairs",
    async run({ browser, edgeUrl, accessKey }) {
      await browser.open(`${edgeUrl}/#key=${accessKey}`);
      await browser.until("app", "return (await window.ropeway.stats()).sockets > 0", true);
      await browser.until("app", "return navigator.serviceWorker.controller !== null", true);
    },
  },
  {
    name: "shows the newspaper, follows a link, and goes back",
    async run({ browser, demo }) {
      await go(browser, `${demo.hosts.news}/`);
      await browser.until("page", TITLE, "The Saltmere Lantern");
      const pictures = "return [...document.images].slice(0, 3).every((each) => each.naturalWidth > 0)";
      await browser.until("page", pictures, true);
      await browser.click("page", ".stories h2");
      await browser.until("page", "return location.pathname.startsWith('/article/')", true);
      await browser.until("page", "return document.querySelectorAll('#comments li').length", 2);
      await browser.until("app", "return document.documentElement.dataset.page", "loaded");
      await press(browser, "Back");
      await browser.until("page", TITLE, "The Saltmere Lantern");
      await browser.until("app", SHOWN_ADDRESS, `${demo.hosts.news}/`);
    },
  },
  {
    name: `shows ${PICTURE_COUNT} pictures, all pushed, all of use, each asked for once`,
    async run({ browser, origin }) {
      origin.route("/150/", ({ page }) => page(hundredFiftyPage()));
      for (let number = 1; number <= PICTURE_COUNT; number++) {
        const picture = tilePicture(number);
        origin.route(`/150/tile-${number}.png`, ({ reply }) => reply(200, { "content-type": "image/png" }, picture));
      }
      const [pushesBefore, claimedBefore] = (await browser.run("app", PUSHES)) as [number, number];
      await go(browser, `${origin.origin}/150/`);
      const whole = "return [...document.images].filter((each) => each.naturalWidth === 36).length";
      await browser.until("page", whole, PICTURE_COUNT);
      const [pushes, claimed] = (await browser.run("app", PUSHES)) as [number, number];
      const pushed = [pushes - pushesBefore, claimed - claimedBefore];
      if (pushed.some((count) => count !== PICTURE_COUNT)) throw new Error(`pushes and used ones: ${pushed}`);
      const asked = origin.requests.filter(({ path }) => path.startsWith("/150/tile-")).length;
      if (asked !== PICTURE_COUNT) throw new Error(`the origin was asked for ${asked} pictures`);
    },
  },
  {
    name: "follows a link to another site, and goes back",
    async run({ browser, origin, otherOrigin }) {
      origin.page("/out", `<a href="${otherOrigin.origin}/there">Out</a>`, "Out");
      otherOrigin.page("/there", "<p>There</p>", "There");
      await go(browser, `${origin.origin}/out`);
      await browser.until("page", TITLE, "Out");
      await browser.click("page", "a");
      await browser.until("page", TITLE, "There");
      await browser.until("app", SHOWN_ADDRESS, `${otherOrigin.origin}/there`);
      await press(browser, "Back");
      await browser.until("page", TITLE, "Out");
    },
  },
  {
    name: "follows redirects, a typed one and that of a link, within a site and to another",
    async run({ browser, origin, otherOrigin }) {
      const landing = `${otherOrigin.origin}/landing`;
      otherOrigin.page("/landing", "<p>Landed</p>", "Landed");
      origin.page("/near", "<p>Near</p>", "Near");
      origin.page("/leads", `<a href="/redirect/302?to=${encodeURIComponent(landing)}">Away</a>`, "Leads");
      await go(browser, `${origin.origin}/redirect/301?to=/near`);
      await browser.until("page", TITLE, "Near");
      await browser.until("app", SHOWN_ADDRESS, `${origin.origin}/near`);
      await go(browser, `${origin.origin}/leads`);
      await browser.until("page", TITLE, "Leads");
      await browser.click("page", "a");
      await browser.until("page", TITLE, "Landed");
      await browser.until("app", SHOWN_ADDRESS, landing);
    },
  },
  {
    name: "asks for nothing past the edge from a srcdoc frame, and loads a blob: frame",
    async run({ browser, origin, otherOrigin }) {
      const frame = `<iframe srcdoc="<p>Written</p><img src='${otherOrigin.origin}/dot.svg'>"></iframe>`;
      const script = `const frame = document.createElement("iframe");
        frame.onload = () => { document.title = "Loaded" };
        frame.src = URL.createObjectURL(new Blob(["<p>"], { type: "text/html" }));
        document.body.append(frame);`;
      origin.page("/frames", `${frame}<script>${script}</script>`, "Frames");
      await go(browser, `${origin.origin}/frames`);
      await browser.until("page", TITLE, "Loaded");
      await browser.until("page", "return frames[0].document.body.innerText.trim()", "Written");
      await browser.until("page", "return document.readyState", "complete");
      // What comes through the edge refers to the real page.
      const past = otherOrigin.requests.filter(({ headers }) => headers.referer?.includes(".localhost"));
      if (past.length > 0) throw new Error(`asked past the edge: ${past.map(({ path }) => path)}`);
    },
  },
  {
    name: "keeps cookies, of servers and of scripts",
    async run({ browser, origin }) {
      const headers = { "set-cookie": ["seen=1", "hidden=1; HttpOnly"] };
      origin.route("/cookies", ({ page }) =>
        page("<title>Cookies</title><script>document.cookie = 'own=2'</script>", headers),
      );
      await go(browser, `${origin.origin}/cookies`);
      await browser.until("page", TITLE, "Cookies");
      await browser.until("page", "return document.cookie.split('; ').sort()", ["own=2", "seen=1"]);
      const echoed = "return (await (await fetch('/echo')).json()).headers.cookie.split('; ').sort()";
      await browser.until("page", echoed, ["hidden=1", "own=2", "seen=1"]);
    },
  },
  {
    name: "deletes cookies that a page sets for the app's own host, whatever their path",
    async run({ browser, link, edgeUrl, origin }) {
      origin.page("/setter", "<p>Setter</p>", "Setter");
      await go(browser, `${origin.origin}/setter`);
      await browser.until("page", TITLE, "Setter");
      await browser.run("page", SET_COOKIES);
      await browser.until("app", READ_COOKIES, COOKIE_PATHS);
      link.offline();
      await browser.until("app", "return document.querySelector('.link-pill') !== null", true);
      link.online();
      await browser.until("app", READ_COOKIES, []);
      await browser.run("page", SET_COOKIES);
      await browser.until("app", READ_COOKIES, COOKIE_PATHS);
      await browser.open(edgeUrl);
      await browser.until("app", READ_COOKIES, []);
    },
  },
  ...[
    { name: "by GET", form: 'action="/form"', method: "GET", type: "" },
    {
      name: "by POST",
      form: 'action="/form" method="post"',
      method: "POST",
      type: "application/x-www-form-urlencoded",
    },
    {
      name: "in parts",
      form: 'action="/form" method="post" enctype="multipart/form-data"',
      method: "POST",
      type: "multipart/form-data",
    },
  ].map(
    ({ name, form, method, type }): Step => ({
      name: `sends a form ${name}`,
      async run({ browser, origin }) {
        origin.page(
          "/filled",
          `<form ${form}><input name="word" value="\u00e9t\u00e9"><button>Send</button></form>`,
          "Filled",
        );
        await go(browser, `${origin.origin}/filled`);
        await browser.until("page", TITLE, "Filled");
        await browser.click("page", "button");
        const received = JSON.stringify({ method, type, fields: [{ name: "word", value: "\u00e9t\u00e9" }] });
        await browser.until("page", "return document.querySelector('pre')?.textContent", received);
      },
    }),
  ),
  {
    name: "sends what scripts post: text, data of 2 MB, parts, XMLHttpRequest",
    async run({ browser, origin }) {
      origin.page("/posts", "<p>Posts</p>", "Posts");
      await go(browser, `${origin.origin}/posts`);
      await browser.until("page", TITLE, "Posts");
      const post = (body: string) => `return (await (await fetch('/echo', { method: 'POST', body: ${body} })).json())`;
      await browser.until("page", `${post("'words'")}.body`, "words");
      await browser.until("page", `${post(`new Uint8Array(${UPLOAD_BYTES})`)}.bodyBytes`, UPLOAD_BYTES);
      await browser.until("page", `${post("new Blob(['blob'])")}.body`, "blob");
      const parts = "(() => { const data = new FormData(); data.set('name', 'value'); return data })()";
      await browser.until("page", `${post(parts)}.body.includes('value')`, true);
      const xhr = `return new Promise((resolve) => {
        const request = new XMLHttpRequest();
        request.open('POST', '/echo');
        request.onloadend = () => resolve(JSON.parse(request.responseText).body);
        request.send('sent');
      })`;
      await browser.until("page", xhr, "sent");
    },
  },
  {
    name: "says when a page cannot be had, and goes on",
    async run({ browser, origin }) {
      origin.page("/fine", "<p>Fine</p>", "Fine");
      await go(browser, `${origin.origin}/reset`);
      await browser.until("app", "return document.querySelector('.notice-bar') !== null", true);
      await go(browser, `${origin.origin}/fine`);
      await browser.until("page", TITLE, "Fine");
    },
  },
  ...scriptlessSteps,
];
