import { readFile } from "node:fs/promises";
import { effectsOf, expect, test } from "./application.ts";

const NOTEBOOK = `import marimo

app = marimo.App()


@app.cell
def _():
    import marimo as mo

    return (mo,)


@app.cell
def _(mo):
    count = mo.ui.slider(1, 10, label="Anzahl")
    name = mo.ui.text(label="Name")
    file = mo.ui.file(label="Ladung")
    mo.vstack([count, name, file])
    return count, file, name


@app.cell
def _(count, file, mo, name):
    mo.md(f"{name.value} {'山' * count.value} {[sum(one.contents) for one in file.value]}")
    return


@app.cell
def _(mo, name):
    mo.iframe(f"<p>{name.value}</p><script>document.write(document.characterSet, self === top, parent === top)</script>")
    return


if __name__ == "__main__":
    app.run()
`;

const FREIGHT = { name: "ü.bin", mimeType: "application/octet-stream", buffer: Buffer.alloc(300, 200) };

const ADDED = `import time
for step in range(5): time.sleep(0.1); print(step, "Kisten à", step * 7)`;

/** Paths that the page asks for now and then, all at once, or as fast as is typed; and its service worker, as pages have none in Ropeway. */
const UNSTEADY =
  /^\S*\s?\/(api\/(kernel\/code_autocomplete|usage|lsp|datasources|packages|document|files)\b|health|public-files-sw\.js)/;

/** Without the names that a browser or the server makes up. */
const plain = (text: string): string =>
  UNSTEADY.test(text)
    ? ""
    : text
        .replaceAll(/\bs_\w{6}\b/g, "s_…")
        .replaceAll(/\/@file\/[\w-]+/g, "/@file/…")
        .replaceAll(/"\w{4}"\](?=,"codes")/g, '"…"]');

test("a person uses, extends and saves a notebook of marimo, whose outputs come by its socket", async ({
  bothWays,
}) => {
  await bothWays(async ({ page, shown, goto, start }) => {
    const application = await start(({ port }) => ({
      runner: ".venv/bin/python",
      script: ".venv/bin/marimo",
      arguments: ["--yes", "edit", "fracht.py", "--headless", "--no-token", "--skip-update-check", `--port=${port}`],
      files: { "fracht.py": NOTEBOOK },
    }));
    await goto(`${application.origin}/`);
    await expect(shown.getByTestId("cell-editor")).toHaveCount(4);
    await shown.getByTestId("run-button").last().click();
    await shown.getByRole("slider").press("End");
    await shown.getByLabel("Name").fill("grüß dich");
    await shown.getByLabel("Name").press("Enter");
    await shown.locator("input[type=file]").setInputFiles(FREIGHT);
    const outputs = shown.locator("[data-cell-role='output']");
    await expect(outputs.filter({ hasText: "[60000]" })).toHaveText("grüß dich 山山山山山山山山山山 [60000]");
    const framed = outputs.frameLocator("iframe").locator("body");
    await expect(framed).toContainText("grüß dich");
    await shown.getByRole("button", { name: "Python" }).click();
    await expect(shown.getByTestId("cell-editor")).toHaveCount(5);
    await page.keyboard.insertText(ADDED);
    await page.keyboard.press("Control+Enter");
    const said = shown.getByTestId("console-output-area");
    await expect(said).toContainText("4 Kisten à 28");
    await shown.getByTestId("save-button").click();
    const dialog = shown.getByRole("dialog");
    await dialog.getByPlaceholder("filename").fill("häfen.py");
    // Its suggestions take the key, once they are there.
    await expect(shown.getByRole("option").filter({ hasText: "häfen.py" })).toBeVisible();
    await page.keyboard.press("Enter");
    await expect(dialog).toBeHidden();
    const hasSaved = (): boolean =>
      effectsOf(application).writes.some((write) => /^POST \/api\/kernel\/save \{/.test(write));
    await expect.poll(hasSaved).toBe(true);
    const { messages, ...effects } = effectsOf(application, plain);
    expect(messages).toEqual([]);
    return {
      outputs: await outputs.allInnerTexts(),
      framed: await framed.allInnerTexts(),
      said: await said.allInnerTexts(),
      saved: await readFile(`${application.directory}/häfen.py`, "utf8"),
      effects,
    };
  });
});
