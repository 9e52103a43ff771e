/** What sites ask of the person: location, clipboard, camera; passkeys, which fail; and what needs no question. */
import type { Locator } from "@playwright/test";
import { type AppPage, expect, testInOneApp as test } from "../fixtures/browser.ts";

const HERE = { latitude: 59.9, longitude: 10.7 };

const question = ({ page }: AppPage) => page.locator(".notice-bar");
const answer = (app: AppPage, label: string) => question(app).getByRole("button", { name: label }).click();

/** A page whose buttons ask, and that shows what became of it. */
const ASKING = `<button id=place>Place</button><button id=paste>Paste</button><ol></ol><script>
  const told = (text) => document.querySelector("ol").insertAdjacentHTML("beforeend", "<li>" + text);
  const isPosition = (it) => it instanceof GeolocationPosition && it.coords instanceof GeolocationCoordinates;
  const ask = () => navigator.geolocation.getCurrentPosition(
    (it) => told("at " + it.coords.latitude + " " + isPosition(it)),
    (it) => told("no " + it.code + " " + (it.code === it.PERMISSION_DENIED)));
  place.onclick = ask;
  paste.onclick = () => navigator.clipboard.readText().then((it) => told("read " + it), (it) => told(it.name + ": " + it.message));
  const states = ["geolocation", "clipboard-read"].map(async (name) => {
    const status = await navigator.permissions.query({ name });
    status.onchange = () => told(name + " is " + status.state);
    return status.state;
  });
  Promise.all(states).then((all) => told(all.join()));
</script>`;

test.beforeEach(async ({ app }) => {
  const context = app.page.context();
  await context.clearPermissions();
  await context.setGeolocation(HERE);
});

test("a site is asked about once, by its name; the answer holds, and is changed in the site panel", async ({
  app,
  origin,
  otherOrigin,
  direct,
}) => {
  for (const place of [origin, otherOrigin]) place.page("/", ASKING);
  const { page } = app;
  const { host } = new URL(origin.origin);
  await page.context().grantPermissions(["geolocation", "clipboard-read", "clipboard-write"], { origin: app.base });
  await app.goto(`${origin.origin}/`);
  const lines = app.frame().locator("li");
  await expect(lines).toHaveText(["prompt,prompt"]);

  await app.frame().locator("#place").click();
  await expect(question(app)).toContainText(`${host} wants to know where this phone is`);
  await answer(app, "Allow");
  await expect(lines).toHaveText(["prompt,prompt", "geolocation is granted", "at 59.9 true"]);
  await page.evaluate(() => navigator.clipboard.writeText("of the person"));
  await app.frame().locator("#paste").click();
  await expect(question(app)).toContainText(`${host} wants to read what you have copied`);
  await answer(app, "Block");
  await expect(lines.last()).toHaveText("NotAllowedError: Read permission denied.");

  // Another site has nothing of it, and the first one everything again.
  await app.goto(`${otherOrigin.origin}/`);
  await expect(lines).toHaveText(["prompt,prompt"]);
  await app.goto(`${origin.origin}/`);
  await expect(lines).toHaveText(["granted,denied"]);
  await app.frame().locator("#place").click();
  await expect(lines.last()).toHaveText("at 59.9 true");
  await app.frame().locator("#paste").click();
  await expect(lines.last()).toHaveText("NotAllowedError: Read permission denied.");
  await expect(question(app)).toHaveCount(0);

  await page.getByRole("button", { name: "Site information" }).click();
  await page.getByRole("switch", { name: "Reading what was copied" }).click();
  await page.getByRole("switch", { name: "Location" }).click();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toHaveCount(0);
  await app.drawn();
  await app.frame().locator("#paste").click();
  await expect(lines.last()).toHaveText("read of the person");
  await app.frame().locator("#place").click();
  await expect(lines.last()).toHaveText("no 1 true");

  // The same script hears the same of a browser.
  await direct.page.context().grantPermissions(["geolocation"], { origin: origin.origin });
  await direct.page.context().setGeolocation(HERE);
  await direct.page.goto(`${origin.origin}/`);
  await direct.page.locator("#place").click();
  await expect(direct.page.locator("li").last()).toHaveText("at 59.9 true");
  await direct.page.context().clearPermissions();
  await direct.page.locator("#place").click();
  await expect(direct.page.locator("li").last()).toHaveText("no 1 true");
});

test("a frame has what the page lets it have, in the page's name; the page's own policy holds", async ({
  app,
  origin,
  otherOrigin,
}) => {
  await app.page.context().grantPermissions(["geolocation"], { origin: app.base });
  const inside = `<p>…</p><script>
    navigator.geolocation.getCurrentPosition(() => tell("found"), (it) => tell("no " + it.code));
    const tell = (text) => { document.querySelector("p").textContent = text; };
  </script>`;
  otherOrigin.page("/", inside);
  origin.route("/closed", ({ reply }) =>
    reply(200, { "content-type": "text/html", "permissions-policy": "geolocation=()" }, inside),
  );
  origin.page(
    "/",
    `<iframe src="${otherOrigin.origin}/" name=plain></iframe>
    <iframe src="${otherOrigin.origin}/" name=let allow="geolocation"></iframe><iframe src="/closed" name=closed></iframe>`,
  );
  await app.goto(`${origin.origin}/`);
  await expect(question(app)).toContainText(`${new URL(origin.origin).host} wants to know`);
  await answer(app, "Allow");
  const told = (name: string) => app.frame().frameLocator(`iframe[name=${name}]`).locator("p");
  await expect(told("let")).toHaveText("found");
  await expect(told("plain")).toHaveText("no 1");
  await expect(told("closed")).toHaveText("no 1");
  await expect(question(app)).toHaveCount(0);
});

test("a camera is the site's that the person lets have it, from when its page loads again", async ({
  app,
  origin,
  otherOrigin,
}) => {
  await app.page.context().grantPermissions(["camera"], { origin: app.base });
  for (const place of [origin, otherOrigin])
    place.page(
      "/",
      `<button>Film</button><p></p><script>
        document.querySelector("button").onclick = () => navigator.mediaDevices.getUserMedia({ video: true }).then(
          () => "a film", (it) => it.name).then((text) => { document.querySelector("p").textContent = text; });
      </script>`,
    );
  const film = () => app.frame().getByRole("button", { name: "Film" }).click();
  await app.goto(`${origin.origin}/`);
  await film();
  await expect(question(app)).toContainText("wants to use the camera. The page loads again then");
  await app.navigated(() => answer(app, "Allow"));
  await film();
  // There is none on this machine: the browser has looked for one.
  await expect(app.frame().locator("p")).toHaveText("NotFoundError");
  // A frame of another site in the page has nothing of it.
  await (await app.content()).evaluate((url) => {
    document.body.insertAdjacentHTML("beforeend", `<iframe src="${url}" title="Other"></iframe>`);
  }, `${otherOrigin.origin}/`);
  const other = app.frame().frameLocator('iframe[title="Other"]');
  const isLet = (where: Locator) =>
    where.evaluate(() => {
      const { featurePolicy } = document as unknown as { featurePolicy: { allowsFeature(name: string): boolean } };
      return featurePolicy.allowsFeature("camera");
    });
  await other.getByRole("button", { name: "Film" }).click();
  await expect(other.locator("p")).toHaveText(/Error$/);
  expect([await isLet(app.frame().locator("p")), await isLet(other.locator("p"))]).toEqual([true, false]);
  await expect(question(app)).toHaveCount(0);
  await app.goto(`${otherOrigin.origin}/`);
  expect(await isLet(app.frame().locator("p"))).toBe(false);
  await film();
  await answer(app, "Block");
  await expect(app.frame().locator("p")).toHaveText("NotAllowedError");
});

test("a passkey fails at once, with words and a way past Ropeway; a site that asks first offers a password", async ({
  app,
  origin,
}) => {
  origin.page("/", "<p>Sign in</p>");
  await app.goto(`${origin.origin}/`);
  const told = await (await app.content()).evaluate(async () => {
    const publicKey = { challenge: new Uint8Array(16), rpId: location.hostname };
    const nameOf = (it: Promise<unknown>) => it.then(String, (error: DOMException) => error.name);
    return [
      await PublicKeyCredential.isUserVerifyingPlatformAuthenticatorAvailable(),
      await PublicKeyCredential.isConditionalMediationAvailable(),
      await nameOf(navigator.credentials.get({ publicKey })),
      await nameOf(
        navigator.credentials.create({
          publicKey: {
            ...publicKey,
            rp: { name: "x" },
            user: { id: new Uint8Array(8), name: "x", displayName: "x" },
            pubKeyCredParams: [],
          },
        }),
      ),
      await nameOf(navigator.credentials.get({ publicKey, mediation: "conditional", signal: AbortSignal.timeout(10) })),
    ];
  });
  expect(told).toEqual([false, false, "NotAllowedError", "NotAllowedError", "TimeoutError"]);
  await expect(question(app)).toContainText("A passkey of");
  await expect(question(app).getByRole("button", { name: "Open in the browser, past Ropeway" })).toBeVisible();
});

test("the person is told, once for each site, by which name the browser lists its passwords", async ({
  app,
  origin,
  otherOrigin,
}) => {
  for (const place of [origin, otherOrigin]) place.page("/", "<input type=password aria-label=Password>");
  const hosts = new Set<string>();
  for (const place of [origin, otherOrigin]) {
    await app.goto(`${place.origin}/`);
    await app.frame().getByLabel("Password").click();
    const { host } = new URL((await app.content()).url());
    hosts.add(host);
    await expect(question(app)).toContainText(`This site’s are named ${host}`);
    await answer(app, "Dismiss");
    await expect(app.frame().getByLabel("Password")).not.toHaveAttribute("autocomplete");
  }
  expect(hosts.size).toBe(2);
  await app.goto(`${origin.origin}/`);
  await app.frame().getByLabel("Password").fill("sesame");
  await expect(question(app)).toHaveCount(0);
  // Nothing that the person could change.
  await app.page.getByRole("button", { name: "Site information" }).click();
  await expect(app.page.getByRole("dialog")).toBeVisible();
  await expect(app.page.getByText("Blocked on this site")).toHaveCount(0);
  await app.page.keyboard.press("Escape");
});

// Locks of the pointer: page-features.spec.ts.
test("what a browser allows without a question works as in a browser", async ({ app, origin, direct }) => {
  origin.page(
    "/",
    `<button>Do</button><input type=file aria-label=File><p></p><script>
      const nameOf = (it) => it.then(() => "yes", (error) => error.name);
      document.querySelector("button").onclick = async () => {
        const told = [await nameOf(navigator.wakeLock.request()), await nameOf(screen.orientation.lock("portrait"))];
        await document.documentElement.requestFullscreen();
        told.push(document.fullscreenElement !== null, Notification.permission);
        await document.exitFullscreen();
        document.querySelector("p").textContent = told.join();
      };
    </script>`,
  );
  await direct.page.goto(`${origin.origin}/`);
  await direct.page.getByRole("button", { name: "Do" }).click();
  await expect(direct.page.locator("p")).toHaveText(/^\w+,\w+,true,/);
  const [directly = ""] = await direct.page.locator("p").allTextContents();
  await app.goto(`${origin.origin}/`);
  await app.frame().getByRole("button", { name: "Do" }).click();
  // Notifications are for documents of the top-level site alone (Notifications API section 2.1).
  await expect(app.frame().locator("p")).toHaveText(directly.replace(/\w+$/, "denied"));
  const chosen = app.page.waitForEvent("filechooser");
  await app.frame().getByLabel("File").click();
  expect(await chosen).toBeTruthy();
  await expect(question(app)).toHaveCount(0);
});
