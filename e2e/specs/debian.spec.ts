/** `deploy/` on a Debian that has nothing yet, as docs/deploy.md says: with its own systemd, and as a container would. */
import { execFile } from "node:child_process";
import { createHash, X509Certificate } from "node:crypto";
import { once } from "node:events";
import { appendFile, cp, glob, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import type { Readable } from "node:stream";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { chromium, expect, test } from "@playwright/test";
import { root } from "../../scripts/build/paths.ts";
import type { Demo } from "../demo/start-demo.ts";
import { AppPage } from "../fixtures/app-page.ts";
import { CHROMIUM_ARGS, findChromium, PHONE } from "../fixtures/chromium.ts";
import { CleanDebian, missingForDebian } from "../fixtures/clean-debian.ts";
import { buildImage, commandOf } from "../fixtures/dockerfile.ts";
import { Namespace } from "../lab/lab.ts";
import { requireProgram } from "../lab/programs.ts";

const execute = promisify(execFile);

/** A name that leads to the machine itself, and for which the edge brings the demo. */
const HOST = "ropeway.localhost";

const SYSTEMD = ["/lib/systemd/systemd", "--log-target=console", "--show-status=no"];

/** Of the release that it updates to. */
const NEWER = "99.0.0";

const ASK_HEALTH = `fetch("http://127.0.0.1:8787/.ropeway/health").then((answer) => answer.text()).then(console.log)`;

const LOCALHOST = `
localhost {
	tls internal
	reverse_proxy 127.0.0.1:8787 {
		flush_interval -1
	}
}
`;

/** Caddy's own. */
const AUTHORITY = "/var/lib/caddy/.local/share/caddy/pki/authorities/local";

const missing = missingForDebian();

if (missing.length > 0) console.error(`Without the tests on a clean Debian: they need ${missing.join(" and ")}`);
else
  test.describe("a clean Debian", () => {
    test.describe.configure({ mode: "serial" });
    let clean: CleanDebian;
    test.beforeAll(async () => {
      test.setTimeout(600_000);
      // As a server has, beside the least that debootstrap knows.
      clean = await CleanDebian.make(["procps", "systemd-sysv"]);
      await execute("node", [join(root, "scripts", "package.ts")], { cwd: root });
    });
    test.afterAll(() => clean?.remove());

    test("follows docs/deploy.md to a loaded page, with BBR, and updates under an open page @long", async () => {
      test.setTimeout(900_000);
      const debian = await clean.copy();
      const namespace = await Namespace.create("debian", "127.0.0.1");
      try {
        await cp(join(root, "deploy"), join(debian.root, "root", "deploy"), { recursive: true });
        const file = await copyPackage(join(debian.root, "root"));
        const said = await debian.run(["sh", "/root/deploy/install.sh", "--host", HOST, "--internal", `/root/${file}`]);
        const [, origin = "", key = ""] = /^Ropeway is ready: (.*)\/#key=(\S+)$/m.exec(said) ?? [];
        expect(origin).toBe(`https://${HOST}`);
        // The smoke test asks for names below localhost by the one that every resolver knows.
        await appendFile(join(debian.root, "etc", "caddy", "Caddyfile"), LOCALHOST);
        // There was no systemd while it was installed.
        await debian.run(["systemctl", "enable", "ropeway", "caddy"]);
        const booted = debian.boot(namespace, SYSTEMD);
        const authority = join(debian.root, AUTHORITY, "root.crt");
        await expect
          .poll(() => smoke(namespace, origin, key, authority), { timeout: 180_000 })
          .toContain("20 of 20 checks passed");
        expect((await namespace.run(["sysctl", "-n", "net.ipv4.tcp_congestion_control"])).trim()).toBe("bbr");
        await withPhone(namespace, origin, join(debian.root, AUTHORITY, "intermediate.crt"), async (app) => {
          await app.open(key, "http://demo.localhost:8788/150/");
          await expect(app.frame().locator("img")).toHaveCount(150);
          const sockets = await namespace.run(["ss", "-tinH", "state", "established", "sport = :443"]);
          expect(sockets).toMatch(/\bbbr\b/);

          const page = await app.content();
          await page.evaluate(`document.cookie = "kept=1; path=/; max-age=3600"`);
          await app.goto("http://demo.localhost:8788/150/?before");
          expect(await (await app.content()).evaluate(() => document.cookie)).toBe("kept=1");
          const newer = await newerPackage(join(debian.root, "root"), file);
          const install = ["sh", "/root/deploy/install.sh", "--host", HOST, `/root/${newer}`];
          // What it has from registries is that of the first time: there is no network in here.
          const updated = await debian.runIn(booted, install, { npm_config_offline: "true" });
          expect(updated).toContain(`Ropeway is ready: ${origin}/#key=${key}`);
          expect(JSON.parse(await namespace.run([process.execPath, "-e", ASK_HEALTH]))).toMatchObject({
            version: NEWER,
          });
          // Paired as it was, with the cookies that the edge keeps.
          await app.goto("http://demo.localhost:8788/150/?after");
          await expect(app.frame().locator("img")).toHaveCount(150);
          expect(await (await app.content()).evaluate(() => document.cookie)).toBe("kept=1");
        });
      } finally {
        await namespace.close();
        await debian.remove();
      }
    });

    test("runs the edge on Deno as a service @long", async () => {
      test.setTimeout(900_000);
      const debian = await clean.copy();
      const namespace = await Namespace.create("deno", "127.0.0.1");
      try {
        await copyClone(join(debian.root, "opt", "ropeway", "repository"));
        const install = ["sh", "/opt/ropeway/repository/deploy/install.sh", "--deno", "--host", HOST, "--internal"];
        const said = await debian.run(install);
        const [, origin = "", key = ""] = /^Ropeway is ready: (.*)\/#key=(\S+)$/m.exec(said) ?? [];
        await appendFile(join(debian.root, "etc", "caddy", "Caddyfile"), LOCALHOST);
        // With npm start the demo comes by itself.
        const { url, origins } = await startDemoIn(namespace);
        const demo = `ROPEWAY_DEMO_URL=${url}\nROPEWAY_DEMO_ORIGINS="${Object.values(origins).join(" ")}"\n`;
        await appendFile(join(debian.root, "etc", "ropeway", "host.env"), demo);
        await debian.run(["systemctl", "enable", "ropeway-deno", "caddy"]);
        debian.boot(namespace, SYSTEMD);
        await expect
          .poll(() => smoke(namespace, origin, key, join(debian.root, AUTHORITY, "root.crt")), { timeout: 180_000 })
          .toContain("20 of 20 checks passed");
      } finally {
        await namespace.close();
        await debian.remove();
      }
    });

    test("carries out the Dockerfile, and its command is well @long", async () => {
      test.setTimeout(600_000);
      const debian = await clean.copy();
      const namespace = await Namespace.create("image", "127.0.0.1");
      try {
        await becomeNodeImage(debian);
        const image = await buildImage(await readFile(join(root, "deploy", "Dockerfile"), "utf8"), root, debian);
        const env = { ...image.env, ROPEWAY_HOST: HOST, ROPEWAY_ACCESS_KEY: "0123456789abcdef0123456789abcdef" };
        debian.boot(namespace, commandOf(image, image.command), env);
        const isWell = () =>
          namespace.run(["chroot", debian.root, ...image.healthCheck]).then(
            () => true,
            () => false,
          );
        await expect.poll(isWell, { timeout: 60_000 }).toBe(true);
      } finally {
        await namespace.close();
        await debian.remove();
      }
    });
  });

/** @returns its name. */
async function copyPackage(directory: string): Promise<string> {
  for await (const file of glob("ropeway-*.tgz", { cwd: root })) {
    await cp(join(root, file), join(directory, file));
    return file;
  }
  throw new Error("Cannot install: there is no package");
}

/** @returns what the smoke test says of all checks. */
async function smoke(namespace: Namespace, origin: string, key: string, authority: string): Promise<string> {
  const env = { ...process.env, NODE_EXTRA_CA_CERTS: authority, ROPEWAY_ACCESS_KEY: key };
  const [program, ...args] = namespace.command([process.execPath, join(root, "scripts", "smoke.ts"), origin]);
  const { stdout, stderr } = await execute(program, args, { env }).catch(
    (error: { stdout: string; stderr: string }) => error,
  );
  return `${stdout}${stderr}`;
}

/**
 * A newer release: the same but for its version.
 *
 * @returns its name.
 */
async function newerPackage(directory: string, file: string): Promise<string> {
  const [, version = ""] = /^ropeway-(.*)\.tgz$/.exec(file) ?? [];
  const unpacked = await mkdtemp(join(tmpdir(), "ropeway-newer-"));
  try {
    await execute("tar", ["-xzf", join(directory, file), "-C", unpacked]);
    for (const name of ["package.json", "dist/worker/worker.js"]) {
      const path = join(unpacked, "package", name);
      const text = await readFile(path, "utf8");
      expect(text).toContain(`"${version}"`);
      await writeFile(path, text.replaceAll(`"${version}"`, `"${NEWER}"`));
    }
    const newer = file.replace(version, NEWER);
    await execute("tar", ["-czf", join(directory, newer), "-C", unpacked, "package"]);
    return newer;
  } finally {
    await rm(unpacked, { recursive: true, force: true });
  }
}

/** What git would bring: nothing that was installed or built. */
async function copyClone(directory: string): Promise<void> {
  const left = /^(\.git|\.ropeway|node_modules|dist|test-results|ropeway-.*\.tgz)$/;
  await cp(root, directory, { recursive: true, filter: (source) => !left.test(relative(root, source)) });
}

/** On the ports that npm start has it on. */
async function startDemoIn(namespace: Namespace): Promise<Pick<Demo, "url" | "origins">> {
  const script = `const { startDemo } = await import("${pathToFileURL(join(root, "e2e", "demo", "start-demo.ts"))}");
    const { url, origins } = await startDemo({ ip: "127.0.0.1", port: 8788 });
    console.log(JSON.stringify({ url, origins }));`;
  const demo = namespace.spawn([process.execPath, "--input-type=module", "-e", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [said] = (await once(demo.stdout as Readable, "data")) as [Buffer];
  return JSON.parse(said.toString()) as Pick<Demo, "url" | "origins">;
}

/** @param intermediate whose certificates the browser trusts. */
async function withPhone(
  namespace: Namespace,
  origin: string,
  intermediate: string,
  use: (app: AppPage) => Promise<void>,
): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "ropeway-debian-phone-"));
  const launcher = join(directory, "chromium");
  const command = namespace.command([findChromium() ?? chromium.executablePath()]).join(" ");
  await writeFile(launcher, `#!/bin/sh\nexec ${command} "$@"\n`, { mode: 0o700 });
  const publicKey = new X509Certificate(await readFile(intermediate)).publicKey.export({ type: "spki", format: "der" });
  const trusted = createHash("sha256").update(publicKey).digest("base64");
  const context = await chromium.launchPersistentContext(join(directory, "profile"), {
    ...PHONE,
    executablePath: launcher,
    args: [...CHROMIUM_ARGS, `--ignore-certificate-errors-spki-list=${trusted}`],
  });
  try {
    await use(new AppPage(context.pages()[0] ?? (await context.newPage()), origin));
  } finally {
    await context.close();
    await rm(directory, { recursive: true, force: true });
  }
}

/** What the official image has beside Debian: Node with its npm, and a user of that name. */
async function becomeNodeImage(debian: CleanDebian): Promise<void> {
  const npm = await realpath(requireProgram("npm"));
  const local = join(debian.root, "usr", "local");
  await cp(process.execPath, join(local, "bin", "node"));
  // Its program is one folder below it.
  await cp(dirname(dirname(npm)), join(local, "lib", "node_modules", "npm"), { recursive: true });
  await debian.run(["ln", "-s", "../lib/node_modules/npm/bin/npm-cli.js", "/usr/local/bin/npm"]);
  await debian.run(["useradd", "--create-home", "--uid", "1000", "node"]);
}
