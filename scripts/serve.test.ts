import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";

const SERVE = fileURLToPath(new URL("./serve.ts", import.meta.url));

/** What `npm start` says where it does not start, and its exit code. */
function startWith(
  settings: Record<string, string>,
  args: readonly string[] = [],
): Promise<{ code: unknown; stdout: string; stderr: string }> {
  const env = { PATH: process.env.PATH, ROPEWAY_ACCESS_KEY: "kept-to-itself-in-32-characters.", ...settings };
  return new Promise((resolve) => {
    execFile(process.execPath, [SERVE, ...args], { env }, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, stdout, stderr }),
    );
  });
}

it("says of each setting that it cannot use what to set instead, and ends", { timeout: 120_000 }, async () => {
  const directory = await mkdtemp(join(tmpdir(), "ropeway-serve-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  const certificate = join(directory, "cert.pem");
  await writeFile(certificate, "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
  const bad: readonly Record<string, string>[] = [
    { ROPEWAY_HOST: "https://x" },
    { ROPEWAY_ALLOW_PRIVATE: "true" },
    { ROPEWAY_PLAN: "cheap" },
    { ROPEWAY_BLOCK_LISTS: "easylist.to" },
    { ROPEWAY_TLS_KEY: certificate, ROPEWAY_TLS_CERT: certificate },
  ];
  for (const settings of bad) {
    const { code, stdout, stderr } = await startWith(settings);
    const [name = ""] = Object.keys(settings);
    expect([code, stdout], stderr).toEqual([1, ""]);
    expect(stderr).toContain(name);
    // One sentence, and no trace of a stack.
    expect(stderr.trim().split("\n"), stderr).toHaveLength(1);
    expect(stderr).toMatch(/^Cannot start/);
  }
});

it("hands on every setting that an edge has", async () => {
  const source = await readFile(SERVE, "utf8");
  const options = await readFile(fileURLToPath(new URL("../docs/options.md", import.meta.url)), "utf8");
  const table = options.slice(0, options.indexOf("For development"));
  // The first is read with the state's folder, the second is for Deno's entry alone, the third is Node's own.
  const elsewhere = ["ROPEWAY_STATE", "ROPEWAY_KV_PATH", "NODE_EXTRA_CA_CERTS"];
  const names = [...table.matchAll(/^\| (`[A-Z_]+`(?:, `[A-Z_]+`)*)/gm)].flatMap(([, cell = ""]) =>
    cell.match(/[A-Z_]+/g),
  );
  expect(names.length).toBeGreaterThan(12);
  expect(names.filter((name) => name !== null && !elsewhere.includes(name) && !source.includes(name))).toEqual([]);
});

it("takes https addresses of tunnels alone, and no other host beside", { timeout: 60_000 }, async () => {
  for (const [address, settings, why] of [
    ["http://laptop.example", {}, /^Cannot start: --tunnel is "http:.*https:/],
    ["laptop.example", {}, /^Cannot start: --tunnel is "laptop.example".*https:/],
    ["https://laptop.example", { ROPEWAY_HOST: "ropeway.example" }, /^Cannot start: ROPEWAY_HOST is set with --tunnel/],
  ] as const) {
    const { code, stdout, stderr } = await startWith(settings, ["--tunnel", address]);
    expect([code, stdout], stderr).toEqual([1, ""]);
    expect(stderr).toMatch(why);
  }
});
