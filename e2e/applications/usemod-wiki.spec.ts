import { effectsOf, expect, test } from "./application.ts";

/** Without the times of day, which are others each time. */
const untimed = (text: string): string =>
  text.replaceAll(/(?:\w+ \d+, \d+ )?\d+:\d\d [ap]m/g, "…").replaceAll(/\b(oldtime|from)=\d+/g, "$1=…");

test("a person writes pages of a wiki in windows-1251, follows their links, searches them, and sees what has changed", async ({
  bothWays,
}) => {
  await bothWays(async ({ shown, goto, start }) => {
    const application = await start(({ port }) => ({ script: "servers/usemod-wiki.mjs", arguments: [String(port)] }));
    const seen: unknown[] = [];
    const look = async (title: string, text: string): Promise<void> => {
      await expect(shown.locator("h1").first()).toHaveText(title);
      await expect(shown.locator(".wikibody")).toContainText(text);
      const texts = await shown.locator("body").allInnerTexts();
      const said = await shown.locator("html").evaluate(({ ownerDocument }) => ({
        encoding: ownerDocument.characterSet,
        queries: Array.from(ownerDocument.links, ({ search }) => search.replace(/\bfrom=\d+/, "from=…")),
      }));
      seen.push(...texts.map(untimed), said);
    };
    const write = async (text: string, summary: string): Promise<void> => {
      await shown.locator("textarea[name=text]").fill(text);
      await shown.locator("input[name=summary]").fill(summary);
      await shown.getByRole("button", { name: "Save" }).click();
    };
    await goto(`${application.origin}/wiki`);
    await shown.getByRole("link", { name: "Edit text of this page" }).click();
    await write("Суда входят в [[Порт]].", "гавань");
    await look("HomePage", "Суда входят в Порт?.");
    await shown.getByRole("link", { name: "?", exact: true }).click();
    await look("Editing Порт", "Summary");
    // The last two are not in windows-1251.
    await write("Здесь стоят суда: «Ёлка» № 7, ł ☃ & 100 %.", "первая & ☃");
    await look("Порт", "Здесь стоят суда: «Ёлка» № 7, ł ☃ & 100 %.");
    await shown.locator("input[name=search]").fill("Ёлка");
    await shown.locator("input[name=search]").press("Enter");
    await look("Search for: Ёлка", "1 pages found");
    await shown.locator(".wikibody").getByRole("link", { name: "Порт" }).click();
    await look("Порт", "Здесь стоят суда");
    await shown.getByRole("link", { name: "RecentChanges" }).first().click();
    await look("RecentChanges", "первая & ☃");
    return { seen, effects: effectsOf(application, untimed) };
  });
});
