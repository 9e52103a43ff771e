import { readFile } from "node:fs/promises";
import { effectsOf, expect, test } from "./application.ts";

const SETTINGS = {
  ServerApp: {
    allow_root: true,
    open_browser: false,
    port_retries: 0,
    terminado_settings: { shell_command: ["/bin/sh"] },
  },
  // Else they ask machines on the internet.
  LabApp: { news_url: null, check_for_updates_class: "jupyterlab.NeverCheckForUpdate", extension_manager: "readonly" },
  IdentityProvider: { token: "harbour" },
};

const CODE = `from IPython.display import HTML, display
name = input("Wie heißt du? ")
for step in range(3): print(step, name[::-1], flush=True)
display(HTML(f"<table><tr><td>grüß dich</td><td><b>{name}</b></td></tr></table>"))
sum(range(10**6))`;

/** Without the names and times that a browser or the server makes up, and the bytes that say how long a message's parts are. */
const plain = (text: string): string =>
  text
    .replace(/^.*?(shell|stdin|control)(?=\{")/s, "$1 ")
    .replaceAll(/\b[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}(?:_\d+_\d+)?\b/g, "…")
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+(?:Z|\+00:00)/g, "…")
    .replaceAll(/\b_xsrf=[^&]*/g, "_xsrf=…")
    .replaceAll(/[?&]\d{13}\b/g, "");

test("a person runs a notebook of JupyterLab that asks, saves it, and uses a terminal, by sockets", async ({
  bothWays,
}) => {
  await bothWays(async ({ page, shown, goto, start }) => {
    const application = await start(({ port, directory }) => ({
      runner: ".venv/bin/python",
      script: ".venv/bin/jupyter-lab",
      arguments: ["--ip=127.0.0.1", `--port=${port}`, `--ServerApp.root_dir=${directory}/work`],
      environment: { JUPYTER_CONFIG_DIR: `${directory}/settings`, JUPYTERLAB_SETTINGS_DIR: `${directory}/lab` },
      files: {
        "work/hier.txt": "",
        "settings/jupyter_lab_config.json": JSON.stringify(SETTINGS),
        "lab/@jupyterlab/apputils-extension/notification.jupyterlab-settings": '{"fetchNews": "false"}',
        "lab/@jupyterlab/terminal-extension/plugin.jupyterlab-settings": '{"screenReaderMode": true}',
      },
    }));
    await goto(`${application.origin}/lab`);
    await shown.getByLabel("Password or token").fill("harbour");
    await shown.getByRole("button", { name: "Log in", exact: true }).click();
    await shown.locator(".jp-LauncherCard[title='Python 3 (ipykernel)']").first().click();
    await expect(shown.getByText("Python 3 (ipykernel) | Idle")).toBeVisible();
    await shown.locator(".jp-Notebook .cm-content").first().click();
    await page.keyboard.insertText(CODE);
    await page.keyboard.press("Shift+Enter");
    await shown.locator(".jp-Stdin-input").fill("Çelik 山");
    await page.keyboard.press("Enter");
    const outputs = shown.locator(".jp-Notebook .jp-OutputArea-output");
    await expect(outputs.last()).toHaveText("499999500000");
    const said = await outputs.allInnerTexts();
    await page.keyboard.press("Control+s");
    await shown.locator(".jp-Dialog input").first().fill("Größe.ipynb");
    await page.keyboard.press("Enter");
    await expect(shown.locator(".jp-DirListing-itemName")).toHaveText(["Größe.ipynb", "hier.txt"]);
    await shown.getByRole("button", { name: "New Launcher (Ctrl+Shift+L)" }).click();
    await shown.locator(".jp-LauncherCard[title='Start a new terminal session']").click();
    const rows = shown.locator(".jp-Terminal .xterm-accessibility-tree > *");
    await expect(rows.first()).toHaveText(/^# ?$/);
    await shown.locator(".jp-Terminal .xterm-helper-textarea").focus();
    await page.keyboard.type("printf '%d gr\\303\\266\\303\\237er\\n' $((6 * 7)) | tee ~/da.txt");
    await page.keyboard.press("Enter");
    await expect(rows.filter({ hasText: /^42/ })).toHaveText("42 größer");
    const terminal = await rows.allInnerTexts();
    const { reads, writes, upgrades, messages } = effectsOf(application, plain);
    return {
      said,
      terminal: terminal.map((row) => row.trim()).filter((row) => row !== ""),
      written: await readFile(`${application.directory}/da.txt`, "utf8"),
      reads: reads.filter((path) => !/favicon/.test(path)),
      // Some leave at the same time. The page keeps how it is laid out now and then.
      writes: writes.filter((write) => !write.startsWith("PUT /lab/api/workspaces/")).sort(),
      upgrades,
      sent: messages.filter((message) => /"(execute_request|input_reply)"|^\["stdin"/.test(message)),
    };
  });
});
