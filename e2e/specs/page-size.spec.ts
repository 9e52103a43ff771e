/** Pages are as large as the person wants those of their site. */
import { type AppPage, expect, testInOneApp as test } from "../fixtures/browser.ts";

const width = async (app: AppPage) => (await app.content()).evaluate(() => innerWidth);
const inMenu = async (app: AppPage, change: () => Promise<void>) => {
  await app.page.getByRole("button", { name: "Menu" }).click();
  await change();
  await app.page.keyboard.press("Escape");
  await expect(app.page.getByRole("dialog")).toBeHidden();
};

test("a site is laid out for a desk, or zoomed, in all its pages and visits, and no other is", async ({
  app,
  origin,
  otherOrigin,
}) => {
  const page = `<meta name="viewport" content="width=device-width"><button>Press</button><script>
    document.querySelector("button").onclick = ({ target }) => { target.textContent = "Pressed"; };
  </script>`;
  for (const path of ["/", "/next"]) origin.page(path, page);
  otherOrigin.page("/", page);
  await app.goto(`${origin.origin}/`);
  const before = await width(app);
  await inMenu(app, () => app.page.getByRole("switch", { name: "Desktop width" }).click());
  await expect.poll(() => width(app)).toBe(980);
  // A button that is drawn smaller is pressed where it is seen. The automation does not know of frames that are scaled.
  const button = await (await app.content()).evaluate(() => {
    const { x, y, width, height } = (document.querySelector("button") as Element).getBoundingClientRect();
    return { x: x + width / 2, y: y + height / 2 };
  });
  await app.drawn();
  await app.page.mouse.click((button.x * before) / 980, (button.y * before) / 980);
  await expect(app.frame().getByRole("button", { name: "Pressed" })).toBeVisible();
  await app.goto(`${origin.origin}/next`);
  expect(await width(app)).toBe(980);
  await app.goto(`${otherOrigin.origin}/`);
  await expect.poll(() => width(app)).toBe(before);

  await app.goto(`${origin.origin}/`);
  await inMenu(app, async () => {
    await app.page.getByRole("switch", { name: "Desktop width" }).click();
    for (let step = 0; step < 2; step++) await app.page.getByRole("button", { name: "Larger" }).click();
    await expect(app.page.getByRole("group", { name: "Page size" })).toContainText("150 %");
  });
  await expect.poll(() => width(app)).toBe(Math.round(before / 1.5));
  await app.page.reload();
  await app.connected();
  await app.goto(`${origin.origin}/next`);
  await expect.poll(() => width(app)).toBe(Math.round(before / 1.5));
});
