import { expect, testInOneApp as test } from "../fixtures/browser.ts";

interface PolicyDocument {
  readonly featurePolicy: { allowsFeature(name: string): boolean };
}

test("a page may do what browsers allow without a question, also after Back from another site; never more", async ({
  app,
  origin,
  otherOrigin,
}) => {
  for (const [place, name] of [
    [origin, "First"],
    [otherOrigin, "Second"],
  ] as const) {
    place.page("/", `<p>${name}</p>`);
  }
  const allowed = async (text: string): Promise<string[]> => {
    await expect(app.frame().getByText(text)).toBeVisible();
    return await (await app.content()).evaluate(() =>
      [
        "fullscreen",
        "autoplay",
        "picture-in-picture",
        "screen-wake-lock",
        "geolocation",
        "camera",
        "microphone",
      ].filter((name) => (document as unknown as PolicyDocument).featurePolicy.allowsFeature(name)),
    );
  };
  const harmless = ["fullscreen", "autoplay", "picture-in-picture", "screen-wake-lock"];
  await app.goto(`${origin.origin}/`);
  expect(await allowed("First")).toEqual(harmless);
  await app.goto(`${otherOrigin.origin}/`);
  expect(await allowed("Second")).toEqual(harmless);
  await app.navigated(() => app.page.getByRole("button", { name: "Back" }).click());
  expect(await allowed("First")).toEqual(harmless);
});

test("a blank frame opens no window past the tunnel", async ({ app, origin, otherOrigin, network }) => {
  origin.page("/", "<p>Outer</p>");
  await app.goto(`${origin.origin}/`);
  const opened = await (await app.content()).evaluate((url) => {
    // Before the page's script has seen the frame: its `open` is the browser's own.
    document.body.append(document.createElement("iframe"));
    return (window[window.length - 1]?.open(url) ?? null) !== null;
  }, `${otherOrigin.origin}/x`);
  // Or it is a window of the app's: the automation's scripts count as taps.
  if (opened) await expect(app.address).toHaveValue(/\/x$/);
  expect(app.page.context().pages()).toHaveLength(1);
  expect(network.leaks("localhost")).toEqual([]);
});
