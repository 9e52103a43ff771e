/** `npm start -- --tunnel`: what speaks HTTPS leads one host, of a name of its own, to the edge on this machine. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "../../scripts/build/paths.ts";
import { freePort } from "../../scripts/local-edge/free-port.ts";
import { AppPage } from "../fixtures/app-page.ts";
import { expect, test } from "../fixtures/browser.ts";
import { CHROMIUM_ARGS, findChromium } from "../fixtures/chromium.ts";
import { startFaultyProxy } from "../fixtures/faulty-proxy.ts";
import { testCertificate } from "../fixtures/test-certificate.ts";

const NAME = "laptop.tunnels.example";
const ACCESS_KEY = "0123456789abcdef0123456789abcdef";
const executablePath = findChromium();

test.use({
  ignoreHTTPSErrors: true,
  launchOptions: {
    args: [...CHROMIUM_ARGS, "--ignore-certificate-errors", `--host-resolver-rules=MAP ${NAME} 127.0.0.1`],
    ...(executablePath === undefined ? {} : { executablePath }),
  },
});

test("an edge behind a tunnel shows pages on the tunnel's host, scripts off @deno", async ({
  page,
  runtime,
  origin,
  network,
}) => {
  const state = await mkdtemp(join(tmpdir(), "ropeway-tunnel-"));
  const port = await freePort("127.0.0.1");
  const tunnel = await startFaultyProxy(port, {
    certificates: [[NAME, testCertificate(NAME)]],
    // As tunnels say them. The Host field passes as the browser sent it.
    requestFields: { "x-forwarded-proto": "https", "x-forwarded-for": "198.51.100.9" },
  });
  const address = `https://${NAME}:${tunnel.port}`;
  const flags = ["--tunnel", `${address}/`, ...(runtime === "deno" ? ["--deno"] : [])];
  const { ROPEWAY_HOST: _, ...environment } = process.env;
  const settings = { ROPEWAY_PORT: String(port), ROPEWAY_ALLOW_PRIVATE: "1", ROPEWAY_STATE: state };
  const edge = spawn(process.execPath, [join(root, "scripts", "serve.ts"), ...flags], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...environment, ...settings, ROPEWAY_ACCESS_KEY: ACCESS_KEY },
  });
  try {
    const [said] = (await once(edge.stdout, "data")) as [Buffer];
    expect(said.toString()).toBe(`Ropeway is ready: ${address}/#key=${ACCESS_KEY}\n`);
    origin.page("/a", `<p>From the laptop</p><script>document.title = "ran"</script><a href="/b">On</a>`, "A");
    origin.page("/b", "<p>Further</p>", "B");
    const shell = page.waitForResponse(`${address}/`);
    const app = new AppPage(page, address);
    await app.open(ACCESS_KEY, `${origin.origin}/a`);
    // The edge knows that the browser speaks HTTPS, and so its socket.
    expect((await shell).headers()["content-security-policy"]).toContain(`wss://${NAME}:${tunnel.port}`);
    expect(app.base).toBe(address);
    await expect(app.frame().getByText("From the laptop")).toBeVisible();
    await expect(page).toHaveTitle(/A/);
    await app.navigated(() => app.frame().getByText("On").click());
    await expect(app.frame().getByText("Further")).toBeVisible();
    await expect(page).toHaveTitle(/B/);
    expect((await app.stats()).sockets).toBeGreaterThan(0);
    expect(network.leaks(NAME)).toEqual([]);
    // The name leads other devices here, so that they need no more than the code.
    for (const name of ["Menu", "Settings", "Paired devices", "Show a code"])
      await page.getByRole("button", { name }).click();
    await expect(page.getByRole("img", { name: "QR code" })).toBeVisible();
    await expect(page.getByText(`or open ${NAME}:${tunnel.port} there and enter`)).toBeVisible();
  } finally {
    edge.kill();
    await once(edge, "exit");
    await tunnel.close();
    await rm(state, { recursive: true, force: true });
  }
});
