import { expect, testInOneApp as test } from "../fixtures/browser.ts";

test("a download that cannot be had leaves the page, and what was typed there", async ({ app, origin }) => {
  origin.page("/", '<input aria-label="Note"><a href="/file.bin" download="file.bin">File</a>');
  origin.route("/file.bin", ({ response }) => void response.destroy());
  await app.goto(`${origin.origin}/`);
  const note = app.frame().getByRole("textbox", { name: "Note" });
  await note.fill("half a letter");
  await app.frame().getByRole("link", { name: "File" }).click();
  await origin.requestTo("/file.bin");
  // What the page asks for after it is answered behind it.
  await (await app.content()).evaluate(() => fetch("/echo?last").then((answer) => answer.text()));
  await expect(note).toHaveValue("half a letter");
  await expect(app.address).toHaveValue(`${origin.origin}/`);
});
