/** What `npm run package` makes, installed in an empty folder: what a person without the repository has. */
import { execFileSync, spawn } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, test } from "@playwright/test";
import { root } from "../../scripts/build/paths.ts";
import { freePort } from "../../scripts/local-edge/free-port.ts";
import { AppPage } from "../fixtures/app-page.ts";

test("the package runs in an empty folder and shows the start page @long", async ({ page }) => {
  test.setTimeout(180_000);
  const folder = await mkdtemp(join(tmpdir(), "ropeway-package-"));
  const run = (program: string, args: string[], cwd: string): string =>
    execFileSync(program, args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  run("node", [join(root, "scripts", "package.ts")], root);
  const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as { version: string };
  run("npm", ["install", "--prefer-offline", "--no-audit", join(root, `ropeway-${version}.tgz`)], folder);
  // What running needs, and nothing else.
  const installed = (await readdir(join(folder, "node_modules"))).filter((name) => !name.startsWith("."));
  expect(installed.sort()).toEqual(["@cloudflare", "ropeway", "workerd"]);
  const licences = await readFile(join(folder, "node_modules", "ropeway", "THIRD-PARTY-LICENSES"), "utf8");
  expect(licences).toMatch(/^@ghostery\/adblocker .*\nLicence: MPL-2.0\nSource: .*github.com\/ghostery\/adblocker/m);

  // A Node that is too old reads the door, and is told so before it reads anything else.
  const door = await readFile(join(folder, "node_modules", "ropeway", "lib", "cli", "ropeway.js"), "utf8");
  expect(door).not.toMatch(/^import\b(?!\()/m);
  expect(run(join(folder, "node_modules", ".bin", "ropeway"), ["--help"], folder)).toContain("Usage: npx ropeway");

  const [port, demoPort] = [await freePort("127.0.0.1"), await freePort("127.0.0.1")];
  const edge = spawn(join(folder, "node_modules", ".bin", "ropeway"), [], {
    cwd: folder,
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, ROPEWAY_PORT: String(port), ROPEWAY_DEMO_PORT: String(demoPort) },
  });
  try {
    const ready = await new Promise<string>((resolve, reject) => {
      createInterface({ input: edge.stdout }).once("line", resolve);
      edge.once("close", (code) => reject(new Error(`The edge ended: ${code}`)));
    });
    const { origin, hash } = new URL(ready.replace("Ropeway is ready: ", ""));
    const app = new AppPage(page, origin);
    await app.open(hash.replace("#key=", ""), `http://demo.localhost:${demoPort}/150/`);
    await expect(app.frame().locator("img")).toHaveCount(150);
    // Cookies and keys are there: nobody else on the machine may read them.
    const state = join(folder, ".ropeway");
    const names = await readdir(state, { recursive: true });
    expect(names).toContain("access-key");
    const found = await Promise.all(["", ...names].map((name) => stat(join(state, name))));
    const modes = found.map(
      (each) => `${each.isDirectory() ? "directory" : "file"} ${(each.mode & 0o777).toString(8)}`,
    );
    expect(new Set(modes)).toEqual(new Set(["directory 700", "file 600"]));
  } finally {
    edge.kill();
    await rm(folder, { recursive: true, force: true });
  }
});
