import { type AppPage, expect, test } from "../fixtures/browser.ts";

/** What the renderers of the app and of the page it shows hold after a collection: documents, nodes, listeners of each. */
async function held(app: AppPage): Promise<number[]> {
  const context = app.page.context();
  const counts: number[] = [];
  for (const place of [app.page, await app.content()]) {
    const session = await context.newCDPSession(place);
    await session.send("HeapProfiler.collectGarbage");
    const { documents, nodes, jsEventListeners } = await session.send("Memory.getDOMCounters");
    counts.push(documents, nodes, jsEventListeners);
    await session.detach();
  }
  return counts;
}

test("page loads leave no documents, nodes or listeners behind @long", async ({ app, origin, otherOrigin }) => {
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
  // A collection does not get at everything at once, so the first count may be the higher one.
  const grown = async () => (await held(app)).filter((count, index) => count > (before[index] ?? 0));
  await expect.poll(grown).toEqual([]);
});
