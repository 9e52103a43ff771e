import { effectsOf, expect, test } from "./application.ts";

const FLOW = JSON.stringify([
  { id: "a1", type: "tab", label: "Ropeway" },
  {
    id: "b1",
    type: "inject",
    z: "a1",
    name: "Ask",
    props: [{ p: "payload" }],
    payload: "größer 山",
    payloadType: "str",
    repeat: "",
    crontab: "",
    once: false,
    onceDelay: 0.1,
    topic: "",
    x: 150,
    y: 80,
    wires: [["c1"]],
  },
  {
    id: "c1",
    type: "function",
    z: "a1",
    name: "Turn",
    func: "msg.payload = [...msg.payload].reverse().join(''); return msg;",
    outputs: 1,
    timeout: 0,
    noerr: 0,
    initialize: "",
    finalize: "",
    libs: [],
    x: 300,
    y: 80,
    wires: [["d1"]],
  },
  {
    id: "d1",
    type: "debug",
    z: "a1",
    name: "Say",
    active: true,
    tosidebar: true,
    console: false,
    tostatus: false,
    complete: "payload",
    targetType: "msg",
    x: 450,
    y: 80,
    wires: [],
  },
]);

const SETTINGS = `module.exports = {
  uiHost: "127.0.0.1",
  flowFile: "flows.json",
  telemetry: { enabled: false, updateNotification: false },
  editorTheme: { tours: false, palette: { catalogues: [] }, multiplayer: { enabled: false } },
  externalModules: { autoInstall: false, palette: { allowInstall: false } },
  logging: { console: { level: "info" } },
};`;

/** Names of things that the editor makes up. */
const plain = (text: string): string => text.replaceAll(/\b[0-9a-f]{12,64}\b/g, "…").replaceAll(/_=\d+/g, "_=…");

test("a flow of Node-RED is imported, deployed and run, and its answer comes by the editor's socket", async ({
  bothWays,
}) => {
  await bothWays(async ({ page, shown, goto, start }) => {
    const application = await start(({ port, directory }) => ({
      script: "node_modules/node-red/red.js",
      arguments: ["--userDir", directory, "--settings", `${directory}/settings.js`, "--port", String(port)],
      files: { "settings.js": SETTINGS },
    }));
    await goto(`${application.origin}/`);
    await expect(shown.locator(".red-ui-palette-node").first()).toBeVisible();
    await shown.locator("#red-ui-workspace-chart").click();
    await page.keyboard.press("Control+i");
    const text = shown.locator("#red-ui-clipboard-dialog-import-text");
    await text.fill(FLOW);
    // The editor looks at the text after a key or a paste.
    await text.press("End");
    await shown.locator("#red-ui-clipboard-dialog-ok").click();
    await shown.getByRole("link", { name: "Ropeway" }).click();
    await expect(shown.getByText("Turn", { exact: true })).toBeVisible();
    await shown.locator("#red-ui-header-button-deploy").click();
    await expect(shown.locator("#red-ui-header-button-deploy.disabled")).toBeVisible();
    await shown.locator(".red-ui-flow-node-button-button").first().click();
    const message = shown.locator(".red-ui-debug-msg-payload");
    await expect(message).toHaveText(/山 reßörg/);
    return {
      tabs: await shown.locator("#red-ui-workspace-tabs .red-ui-tab-label").allInnerTexts(),
      nodes: await shown.locator(".red-ui-flow-node-label").allInnerTexts(),
      said: await message.allInnerTexts(),
      effects: effectsOf(application, plain),
    };
  });
});
