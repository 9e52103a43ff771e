import { effectsOf, expect, test } from "./application.ts";

test("a note is written in Jodit, in its frame: text, bold, a picture by its address; it is saved, and shown again", async ({
  bothWays,
}) => {
  await bothWays(async ({ page, shown, goto, start }) => {
    const application = await start(({ port }) => ({
      script: "servers/content-editor.mjs",
      arguments: [String(port)],
    }));
    await goto(`${application.origin}/`);
    const content = shown.frameLocator(".jodit-wysiwyg_iframe");
    const read = async (): Promise<unknown> => {
      const pictures = content.locator("img");
      await expect
        .poll(() => pictures.evaluateAll((images) => images.map((image) => (image as HTMLImageElement).naturalWidth)))
        .not.toContain(0);
      await expect(content.locator("p").first()).toHaveCSS("color", "rgb(1, 2, 3)");
      return {
        html: await content.locator("body").innerHTML(),
        pictures: await pictures.evaluateAll((images) =>
          images.map(({ clientWidth, clientHeight }) => [clientWidth, clientHeight]),
        ),
      };
    };
    const seen = [await read()];
    await content.locator("p").first().click();
    await page.keyboard.press("Control+Home");
    await page.keyboard.type("größer 山 ");
    await shown.getByRole("button", { name: "Bold" }).first().click();
    await page.keyboard.type("now");
    await expect(content.locator("strong")).toHaveText("now");
    await shown.locator(".jodit-toolbar-button_image button").first().click();
    const address = shown.locator(".jodit-popup input[name=url]");
    await address.fill(`${application.origin}/dot.svg?size=40`);
    await address.press("Enter");
    await expect(content.locator("img")).toHaveCount(2);
    seen.push(await read());
    await shown.getByRole("button", { name: "Save", exact: true }).click();
    await expect.poll(() => application.requests.filter(({ method }) => method === "POST")).toHaveLength(1);
    await expect(content.locator("strong")).toHaveText("now");
    seen.push(await read());
    return { seen, effects: effectsOf(application) };
  });
});
