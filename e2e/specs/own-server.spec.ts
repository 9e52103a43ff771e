/** A server of one's own: Caddy with deploy/Caddyfile, its own authority, and the edge behind it. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseEnv, promisify } from "node:util";
import { expect, test } from "@playwright/test";
import { root } from "../../scripts/build/paths.ts";
import { startEdge } from "../../scripts/edge-process.ts";
import { freePort } from "../../scripts/local-edge/free-port.ts";
import { startDemo } from "../demo/start-demo.ts";
import { AppPage } from "../fixtures/app-page.ts";
import { CHROMIUM_ARGS, findChromium } from "../fixtures/chromium.ts";
import { missingForLab, Namespace } from "../lab/lab.ts";

const HOST = "ropeway.localhost";

/** A public address, in a network namespace of the test's own. */
const STRANGER = "9.9.9.9";

/**
 * Sends as many wrong keys as are forgiven, and then the right one, each in the name of another address.
 * Prints the last two answers' status.
 */
const PAIR_AS_OTHERS = `
const [host, localAddress, key] = process.argv.slice(1);
let asked = 0;
const pair = (secret) => new Promise((resolve, reject) => {
  const headers = { host: "ropeway.example", authorization: "Bearer " + secret, "x-forwarded-for": "192.0.2." + ++asked };
  require("node:http")
    .request({ host, port: 8787, path: "/.ropeway/pair", method: "POST", localAddress, headers }, (answer) => resolve(answer.resume().statusCode))
    .on("error", reject)
    .end();
});
(async () => {
  const answers = [];
  for (let count = 0; count < 10; count++) answers.push(await pair("wrong" + count));
  answers.push(await pair(key));
  console.log(JSON.stringify(answers.slice(-2)));
})();
`;
const executablePath = findChromium();

// Caddy's authority is known to nobody.
test.use({
  ignoreHTTPSErrors: true,
  launchOptions: {
    args: [...CHROMIUM_ARGS, "--ignore-certificate-errors"],
    ...(executablePath === undefined ? {} : { executablePath }),
  },
});

const CASES = [
  { runtime: "workerd", host: HOST, slots: "" },
  { runtime: "deno", host: HOST, slots: "" },
  { runtime: "workerd", host: `app.${HOST}`, slots: `s[08-11].${HOST},x.${HOST}` },
] as const;

for (const { runtime, host, slots } of CASES) {
  const sites = slots === "" ? "" : " with a list of hosts";
  test(`an edge on ${runtime}${sites} behind Caddy passes the smoke test and shows a page @long`, async ({ page }) => {
    test.setTimeout(120_000);
    const directory = await mkdtemp(join(tmpdir(), "ropeway-caddy-"));
    const demo = await startDemo({ ip: "127.0.0.1", port: 0 });
    const [edgePort, httpsPort, httpPort] = await Promise.all([1, 2, 3].map(() => freePort("127.0.0.1")));
    const edge = await startEdge({
      runtime,
      port: edgePort ?? 0,
      host,
      slotHosts: slots,
      behindProxy: true,
      demo: { url: demo.url, origins: demo.origins },
    });
    const caddy = await startCaddy(directory, await installed(directory, host, slots), {
      edgePort,
      httpsPort,
      httpPort,
    });
    try {
      const origin = `https://${host}:${httpsPort}`;
      const authority = join(directory, "caddy", "pki", "authorities", "local", "root.crt");
      await expect.poll(() => readFile(authority, "utf8").catch(() => "")).toContain("CERTIFICATE");
      await expect.poll(() => fetchHealth(page, origin), { timeout: 20_000 }).toBe(200);
      const { stdout } = await promisify(execFile)("node", [join(root, "scripts", "smoke.ts"), origin], {
        env: { ...process.env, NODE_EXTRA_CA_CERTS: authority, ROPEWAY_ACCESS_KEY: edge.accessKey },
      }).catch((error: { stdout: string }) => error);
      expect(stdout).toContain("20 of 20 checks passed");

      const app = new AppPage(page, origin);
      await app.open(edge.accessKey, `${demo.hosts.demo}/150/`);
      await expect(app.frame().locator("img")).toHaveCount(150);
    } finally {
      caddy.kill();
      await edge.close();
      await demo.close();
      await rm(directory, { recursive: true, force: true });
    }
  });
}

const missing = missingForLab();

if (missing.length > 0) console.error(`Without the test of strangers' addresses: it needs ${missing.join(" and ")}`);
else
  for (const args of [[], ["--deno"]]) {
    test(`believes a proxy, and no stranger, about addresses ${args.join("")} @long`, async () => {
      test.setTimeout(120_000);
      const accessKey = "0123456789abcdef0123456789abcdef";
      const state = await mkdtemp(join(tmpdir(), "ropeway-strangers-"));
      const namespace = await Namespace.create("strangers", "127.0.0.1");
      try {
        await namespace.ip([`addr add ${STRANGER}/32 dev lo`]);
        const settings = { ROPEWAY_HOST: "ropeway.example", ROPEWAY_IP: "0.0.0.0", ROPEWAY_BEHIND_PROXY: "1" };
        const edge = namespace.spawn([process.execPath, join(root, "scripts", "serve.ts"), ...args], {
          stdio: ["ignore", "pipe", "inherit"],
          env: { ...process.env, ...settings, ROPEWAY_ACCESS_KEY: accessKey, ROPEWAY_STATE: state },
        });
        await expect.poll(() => String(edge.stdout?.read() ?? ""), { timeout: 60_000 }).toContain("Ropeway is ready");
        const askFrom = (address: string) =>
          namespace.run([process.execPath, "-e", PAIR_AS_OTHERS, STRANGER, address, accessKey]);
        expect(JSON.parse(await askFrom("127.0.0.1"))).toEqual([401, 200]);
        expect(JSON.parse(await askFrom(STRANGER))).toEqual([401, 429]);
      } finally {
        await namespace.close();
        await rm(state, { recursive: true, force: true });
      }
    });
  }

type Ports = Readonly<Record<"edgePort" | "httpsPort" | "httpPort", number | undefined>>;

/** Settings as install.sh writes them. */
async function installed(directory: string, host: string, slots: string): Promise<Record<string, string>> {
  const into = join(directory, "installed");
  const args = ["--host", host, "--slots", slots, "--internal", "--into", into];
  await promisify(execFile)("sh", [join(root, "deploy", "install.sh"), ...args]);
  const settings = parseEnv(await readFile(join(into, "etc", "ropeway", "host.env"), "utf8"));
  return { ...(settings as Record<string, string>), ROPEWAY_TLS: join(into, "etc", "ropeway", "tls.caddy") };
}

/** @param directory for what it keeps. */
async function startCaddy(
  directory: string,
  settings: Readonly<Record<string, string>>,
  { edgePort, httpsPort, httpPort }: Ports,
): Promise<ChildProcess> {
  const config = join(directory, "Caddyfile");
  // Other ports than those of the web, and a name that every resolver knows.
  await writeFile(
    config,
    `{
	admin off
	skip_install_trust
	http_port ${httpPort}
	https_port ${httpsPort}
}
import ${join(root, "deploy", "Caddyfile")}
localhost {
	tls internal
	reverse_proxy 127.0.0.1:${edgePort} {
		flush_interval -1
	}
}
`,
  );
  return spawn("caddy", ["run", "--config", config, "--adapter", "caddyfile"], {
    stdio: "ignore",
    env: {
      ...process.env,
      XDG_DATA_HOME: directory,
      XDG_CONFIG_HOME: directory,
      ...settings,
      ROPEWAY_EDGE: `127.0.0.1:${edgePort}`,
    },
  });
}

async function fetchHealth(page: AppPage["page"], origin: string): Promise<number> {
  const response = await page.goto(`${origin}/.ropeway/health`).catch(() => null);
  return response?.status() ?? 0;
}
