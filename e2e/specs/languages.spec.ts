import { expect, test } from "../fixtures/browser.ts";

const HTML = { "content-type": "text/html" };
const PDF = { "content-type": "application/pdf" };
const JSON_TYPE = { "content-type": "application/json" };

/** Closed shadow trees are open to the test. */
const OPENS = () => {
  const { attachShadow } = Element.prototype;
  if (attachShadow.name === "opened") return;
  Element.prototype.attachShadow = function opened(init) {
    return attachShadow.call(this, { ...init, mode: "open" });
  };
};

test("the app speaks the language that is chosen, also without a link, and turns around for Arabic", async ({
  app,
  origin,
  link,
  context,
}) => {
  origin.page("/", "<p>Hello</p>", "صفحة 1");
  const { page } = app;
  const html = page.locator("html");
  await app.goto(`${origin.origin}/`);
  await page.getByRole("button", { name: "Menu" }).click();
  await page.getByRole("button", { name: "Settings" }).click();
  await page.getByLabel("Language", { exact: true }).selectOption({ label: "Deutsch" });
  await expect(page.getByRole("heading", { name: "Einstellungen", exact: true })).toBeVisible();
  await expect(html).toHaveAttribute("lang", "de");

  await expect.poll(() => page.evaluate(() => navigator.serviceWorker.controller !== null)).toBe(true);
  link.offline();
  await context.setOffline(true);
  await page.reload();
  await expect(page.getByRole("button", { name: "Menü" })).toBeVisible();
  await expect(page.getByLabel("Adresse", { exact: true })).toBeVisible();
  link.online();
  await context.setOffline(false);

  await page.getByRole("button", { name: "Menü" }).click();
  await page.getByRole("button", { name: "Einstellungen" }).click();
  await page.getByLabel("Sprache", { exact: true }).selectOption({ label: "العربية" });
  await expect(html).toHaveAttribute("dir", "rtl");
  await page.getByRole("button", { name: "إغلاق", exact: true }).click();
  const host = page.locator(".address-host bdi");
  await expect(host).toHaveText(new URL(origin.origin).host);
  await expect(host).toHaveCSS("direction", "ltr");
  // The page's own languages are the browser's. The page itself may only now be there again.
  await expect(app.frame().getByText("Hello")).toBeVisible();
  expect(await (await app.content()).evaluate(() => navigator.language)).toBe("en-US");
  // Back comes first, and so is on the right.
  const [back, menu] = await Promise.all(
    ["السابق", "القائمة"].map((name) => page.getByRole("button", { name, exact: true }).boundingBox()),
  );
  expect(back?.x ?? 0).toBeGreaterThan(menu?.x ?? 0);
});

test.describe("on a phone in Spanish", () => {
  test.use({ locale: "es-MX" });

  test("the app speaks Spanish by itself", async ({ app }) => {
    await expect(app.page.locator("html")).toHaveAttribute("lang", "es");
    await expect(app.page.getByRole("button", { name: "Menú" })).toBeVisible();
  });

  test("views of documents keep to the phone's language, whichever the app has", async ({ app, origin }) => {
    const { page } = app;
    await page.addInitScript(OPENS);
    origin.route("/data", ({ reply }) => reply(200, JSON_TYPE, `{"a": 1}`));
    await page.getByRole("button", { name: "Menú" }).click();
    await page.getByRole("button", { name: "Ajustes" }).click();
    await page.getByLabel("Idioma", { exact: true }).selectOption({ label: "Deutsch" });
    await expect(page.locator("html")).toHaveAttribute("lang", "de");
    await page.getByRole("button", { name: "Schließen", exact: true }).click();
    await page.getByLabel("Adresse", { exact: true }).fill(`${origin.origin}/data`);
    await page.keyboard.press("Enter");
    await expect(app.frame().getByRole("button", { name: "Código fuente" })).toBeVisible();
    await expect(app.frame().getByRole("group", { name: "Vista" })).toHaveAttribute("lang", "es");
  });
});

test.describe("on a phone in Arabic", () => {
  test.use({ locale: "ar-EG" });

  test("views, frames and the small print of errors speak it from right to left", async ({ app, origin }) => {
    const { page } = app;
    await page.addInitScript(OPENS);
    const { host } = new URL(origin.origin);
    let status = 404;
    origin.route("/data", ({ reply }) => reply(200, JSON_TYPE, `{"a": 1}`));
    origin.route("/empty", ({ reply }) => reply(status, { ...HTML, "content-length": "0" }));
    origin.route("/broken.pdf", ({ reply }) => reply(200, PDF, "%PDF-1.4 and no more"));
    origin.page("/", '<iframe title="Inner" src="/empty"></iframe>');
    const visit = async (path: string) => {
      await page.getByLabel("العنوان", { exact: true }).fill(origin.origin + path);
      await page.keyboard.press("Enter");
    };
    await visit("/data");
    const bar = app.frame().getByRole("group", { name: "طريقة العرض" });
    await expect(bar).toHaveCSS("direction", "rtl");
    await expect(bar.getByRole("button", { name: "شجرة" })).toBeVisible();
    await expect(app.frame().locator(".tree")).toHaveCSS("direction", "ltr");

    await visit("/broken.pdf");
    const notice = app.frame().locator(".notice");
    await expect(notice).toContainText("تعذّر عرض الملف: هو تالف أو ليس PDF");
    await expect(notice).toHaveCSS("direction", "rtl");

    await visit("/");
    const inFrame = app.frame().frameLocator("iframe").locator("p");
    await expect(inFrame).toHaveText(`تعذّر تحميل \u2068${host}\u2069`);
    await expect(inFrame).toHaveCSS("direction", "rtl");

    await (await app.content()).evaluate(() => {
      open(URL.createObjectURL(new Blob(["<iframe title=Inner></iframe>"], { type: "text/html" })))?.focus();
      const bill = URL.createObjectURL(new File(["1"], "bill.pdf", { type: "application/pdf" }));
      document.querySelector("iframe")?.setAttribute("src", bill);
    });
    await expect(app.frame().getByTitle("Inner").contentFrame().getByRole("link")).toHaveText(
      "حفظ \u2068bill.pdf\u2069",
    );
    await app.frame().getByRole("button", { name: "إغلاق هذه النافذة" }).click();

    status = 503;
    await visit("/empty");
    await expect(page.locator(".fine-code")).toContainText("NO_PAGE: رد الموقع بخطأ HTTP رقم \u2068503\u2069");

    await page.getByRole("button", { name: "القائمة" }).click();
    await page.getByRole("button", { name: "علامة تبويب جديدة" }).click();
    // As the button's name has it, so that a voice finds it.
    await expect(page.getByRole("button", { name: "علامات التبويب: ٢" })).toHaveText("٢");
    // The picture is mirrored: its cabin is not where the text is.
    const cabin = await page.locator(".ridge-cabin").boundingBox();
    expect((cabin?.x ?? 0) + (cabin?.width ?? 1_000)).toBeLessThan((page.viewportSize()?.width ?? 0) / 2);
  });
});
