/** The page is printed, and not the app around it. */
import { expect, testInOneApp as test } from "../fixtures/browser.ts";

test("the menu prints the page that is shown, whatever it has put in the place of its own function", async ({
  app,
  origin,
}) => {
  origin.page(
    "/",
    `<p>Ticket</p><script>
      print = () => {};
      addEventListener("beforeprint", () => { document.querySelector("p").textContent = "Printed"; });
    </script>`,
  );
  await app.goto(`${origin.origin}/`);
  await app.page.getByRole("button", { name: "Menu" }).click();
  await app.page.getByRole("button", { name: "Print" }).click();
  await expect(app.frame().getByText("Printed")).toBeVisible();
});
