/** Films and sounds wait where a page has a budget, or pictures are off: nothing of them comes before the person taps. */
import { type AppPage, expect, testInOneApp as test } from "../fixtures/browser.ts";
import { choosePictures } from "../fixtures/picture-settings.ts";
import { recording } from "../fixtures/recording.ts";
import type { TestOrigin } from "../fixtures/test-origin/test-origin.ts";

const FILM = recording(30);

function serveFilms(origin: TestOrigin, ...paths: string[]): void {
  for (const path of paths) {
    origin.route(path, ({ reply, request }) => {
      const [, first] = String(request.headers.range).match(/bytes=(\d+)-/) ?? [];
      const head = { "content-type": "audio/wav", "accept-ranges": "bytes" };
      if (first === undefined) return reply(200, head, FILM);
      const range = `bytes ${first}-${FILM.length - 1}/${FILM.length}`;
      reply(206, { ...head, "content-range": range }, FILM.subarray(Number(first)));
    });
  }
}

async function open(app: AppPage, origin: TestOrigin): Promise<number> {
  // The page before gets nothing more.
  await app.page.getByRole("button", { name: "Home" }).click();
  let before = -1;
  const isStill = async () => {
    const last = before;
    before = (await app.stats()).linkBytesDown;
    return before === last;
  };
  await expect.poll(isStill).toBe(true);
  await app.goto(`${origin.origin}/`);
  return before;
}

test("a film waits with its size and in its box, and a tap plays it", async ({ app, origin }) => {
  serveFilms(origin, "/film.wav", "/made.wav", "/late.wav");
  origin.page(
    "/",
    `<meta name="viewport" content="width=device-width"><p>Before</p>
    <video id="film" autoplay muted controls width="320" height="180"><source src="/film.wav"></video>
    <div id="made"></div><p id="after">After</p>
    <script>
      let errors = 0;
      const made = document.createElement("video");
      made.onerror = () => errors++;
      made.src = "/made.wav";
      document.querySelector("#made").append(made);
    </script>`,
  );
  await choosePictures(app, "off", "300 kB");
  const before = await open(app, origin);
  const frame = await app.content();
  const waiting = frame.getByRole("button", { name: `Film: load, ${Math.ceil(FILM.length / 1000)} kB` });
  await expect(waiting).toHaveCount(2);
  expect((await app.stats()).linkBytesDown - before).toBeLessThan(20_000);
  expect(await waiting.first().boundingBox()).toMatchObject({ width: 320, height: 180 });
  expect(await frame.evaluate("errors")).toBe(0);

  await waiting.first().tap();
  await expect(waiting).toHaveCount(1);
  await expect.poll(() => frame.evaluate('document.querySelector("#film").currentTime')).toBeGreaterThan(0);
  expect(await frame.evaluate('document.querySelector("#film").controls')).toBe(true);
  await waiting.press("Enter");
  await expect.poll(() => frame.evaluate("made.currentTime")).toBeGreaterThan(0);

  // What waits later takes nothing back.
  await frame.evaluate('document.body.append(Object.assign(document.createElement("video"), { src: "/late.wav" }))');
  await expect(waiting).toHaveCount(1);
  await expect(waiting).toHaveAttribute("src", "/late.wav");
});

test("a sound waits, and a tap plays it", async ({ app, origin }) => {
  serveFilms(origin, "/sound.wav");
  origin.page("/", '<audio controls src="/sound.wav"></audio>');
  await choosePictures(app, "none");
  const before = await open(app, origin);
  const frame = await app.content();
  const waiting = frame.getByRole("button", { name: /^Sound: load, \d+ kB$/ });
  await expect(waiting).toBeVisible();
  expect((await app.stats()).linkBytesDown - before).toBeLessThan(20_000);
  await waiting.tap();
  await expect.poll(() => frame.evaluate('document.querySelector("audio").currentTime')).toBeGreaterThan(0);
});

test("a sound that is in no page waits, too, until all that waits is loaded", async ({ app, origin }) => {
  serveFilms(origin, "/sound.wav");
  origin.page("/", '<script>const sound = new Audio("/sound.wav");</script>');
  await choosePictures(app, "none");
  const before = await open(app, origin);
  await app.page.getByRole("button", { name: "Site information" }).click();
  const button = app.page.getByRole("button", { name: "Load what waits" });
  await expect(button).toHaveAccessibleDescription(/^1 film waits, 662 kB/);
  expect((await app.stats()).linkBytesDown - before).toBeLessThan(20_000);
  await app.navigated(() => button.click());
  await expect.poll(async () => (await app.content()).evaluate("sound.readyState")).toBeGreaterThan(0);
});
