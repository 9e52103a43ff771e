import { expect, test } from "../fixtures/browser.ts";

declare global {
  interface Window {
    idle: number;
  }
}

test("a quiet page gets all its idle callbacks", async ({ app, origin }) => {
  origin.page(
    "/",
    `<!doctype html><title>Quiet</title><link rel="icon" href="data:,"><p id="text">Quiet<script>
    window.idle = 0;
    addEventListener("load", () => {
      // The last frame that the page has a reason to draw.
      requestAnimationFrame(() => { document.querySelector("#text").append("."); });
      for (let n = 1; n <= 5; n++) setTimeout(() => requestIdleCallback(() => { window.idle++; }), n * 300);
    });
    </script>`,
  );
  await app.goto(`${origin.origin}/`);
  const frame = await app.content();
  await expect.poll(() => frame.evaluate(() => window.idle)).toBe(5);
});
