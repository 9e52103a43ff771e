import type { CDPSession } from "@playwright/test";
import { type AppPage, expect, test } from "../fixtures/browser.ts";

/** What the renderers of the app and of the page it shows hold when all that can go has gone. */
async function held(app: AppPage): Promise<{ app: object; page: object }> {
  const count = async (session: CDPSession): Promise<object> => {
    await session.send("HeapProfiler.collectGarbage");
    const counters = await session.send("Memory.getDOMCounters");
    await session.detach();
    return counters;
  };
  const context = app.page.context();
  return {
    app: await count(await context.newCDPSession(app.page)),
    page: await count(await context.newCDPSession(await app.content())),
  };
}

test("page loads leave no documents, nodes or listeners behind", async ({ app, origin, otherOrigin }) => {
  const load = async (times: number): Promise<void> => {
    for (let time = 0; time < times; time++)
      for (const site of [otherOrigin, origin]) await app.goto(`${site.origin}/page?${Math.random()}`);
  };
  for (const site of [origin, otherOrigin])
    site.page(
      "/page",
      `<p>Page</p><iframe srcdoc="<p>Inner"></iframe><script>fetch("/echo"); document.cookie = "a=1"</script>`,
    );
  await load(3);
  const before = await held(app);
  await load(6);
  await expect.poll(() => held(app)).toEqual(before);
});
