/** The image of deploy/Dockerfile, where there is a runtime for it; elsewhere it is linted, and carried out by debian.spec.ts. */
import { execFile, spawnSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "@playwright/test";
import { root } from "../../scripts/build/paths.ts";
import { parseDockerfile } from "../fixtures/dockerfile.ts";

/** Milliseconds: a runtime that does not answer is none. */
const ASK_TIME = 20_000;

const runtime = ["docker", "podman"].find(
  (name) => spawnSync(name, ["info"], { timeout: ASK_TIME, stdio: "ignore" }).status === 0,
);

if (runtime === undefined) console.error("Without the test in a container: neither docker nor podman runs here");
else
  test("builds the image, and a container of it is well until it is stopped @long", async () => {
    test.setTimeout(900_000);
    const name = `ropeway-test-${process.pid}`;
    const run = async (...args: string[]): Promise<string> =>
      (await promisify(execFile)(runtime, args, { cwd: root, maxBuffer: 64 * 1024 * 1024 })).stdout.trim();
    const dockerfile = join("deploy", "Dockerfile");
    const instructions = parseDockerfile(await readFile(join(root, dockerfile), "utf8"));
    const health = instructions.find((each) => each.name === "HEALTHCHECK")?.text.replace(/^CMD /, "") ?? "";
    const isWell = () =>
      run("exec", name, ...(JSON.parse(health) as string[])).then(
        () => true,
        () => false,
      );
    await promisify(execFile)("node", [join(root, "scripts", "package.ts")], { cwd: root });
    try {
      await run("build", "--file", dockerfile, "--tag", name, ".");
      const settings = ["ROPEWAY_HOST=ropeway.localhost", "ROPEWAY_ACCESS_KEY=0123456789abcdef0123456789abcdef"];
      await run("run", "--detach", "--name", name, ...settings.flatMap((setting) => ["--env", setting]), name);
      await expect.poll(isWell, { timeout: 60_000 }).toBe(true);
      await run("stop", "-t", "10", name);
      // Not killed.
      expect(await run("inspect", "--format", "{{.State.ExitCode}}", name)).toBe("0");
    } finally {
      await run("rm", "--force", "--volumes", name).catch(() => {});
      await run("rmi", name).catch(() => {});
    }
  });
