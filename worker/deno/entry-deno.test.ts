/** The entry as people run it by itself, without what `npm start` checks first. */
import { execFile } from "node:child_process";
import { once } from "node:events";
import { describe, expect, it } from "vitest";

const DENO = new URL("../../node_modules/.bin/deno", import.meta.url).pathname;
const ENTRY = new URL("entry-deno.ts", import.meta.url).pathname;

const RUN = ["run", "--quiet", "--cached-only", "--allow-all", ENTRY];

const environment = (settings: Record<string, string>) => ({
  ...process.env,
  NO_COLOR: "1",
  DENO_NO_UPDATE_CHECK: "1",
  ROPEWAY_KV_PATH: ":memory:",
  ...settings,
});

function start(settings: Record<string, string>): Promise<{ readonly code: unknown; readonly said: string }> {
  return new Promise((resolve) => {
    execFile(DENO, RUN, { env: environment(settings) }, (error, stdout, stderr) =>
      resolve({ code: error?.code, said: stdout + stderr }),
    );
  });
}

describe("an edge on Deno that cannot start", () => {
  it("says what to set instead, in one line", async () => {
    const said =
      'Cannot start: ROPEWAY_HOST is "x:99": set the name alone, ROPEWAY_HOST=x, and the port as ROPEWAY_PORT=99\n';
    expect(await start({ ROPEWAY_HOST: "x:99" })).toEqual({ code: 1, said });
  });

  it("says which slot hosts are of another site", async () => {
    const settings = { ROPEWAY_HOST: "app.ropeway.example", ROPEWAY_SLOT_HOSTS: "s1.ropeway.example,s2.example" };
    const said =
      "Cannot start: ROPEWAY_SLOT_HOSTS names s2.example, which is another site than app.ropeway.example: take hosts below ropeway.example\n";
    expect(await start(settings)).toEqual({ code: 1, said });
  });

  it("says so of an address that it cannot listen on", async () => {
    const { code, said } = await start({ ROPEWAY_IP: "192.0.2.1" });
    expect([code, said]).toEqual([
      1,
      expect.stringMatching(/^Cannot listen on 192\.0\.2\.1, port 8787: .*; see ROPEWAY_IP, .*\n$/),
    ]);
  });
});

it("takes any port and says which, and does not share it", async () => {
  const deno = execFile(DENO, RUN, { env: environment({ ROPEWAY_PORT: "0" }) });
  try {
    const [line] = deno.stdout === null ? [] : await once(deno.stdout, "data");
    const port = /^Listening on 127\.0\.0\.1, port (\d+)\n$/.exec(String(line))?.[1] ?? "";
    expect((await fetch(`http://127.0.0.1:${port}/manifest.webmanifest`)).status).toBe(200);
    const { code, said } = await start({ ROPEWAY_PORT: port });
    expect([code, said]).toEqual([1, expect.stringContaining(`Cannot listen on 127.0.0.1, port ${port}: `)]);
  } finally {
    deno.kill();
  }
});

it("its dictionaries make room in what the site has that has brought most", async () => {
  const script = `
    const { openStore } = await import("./worker/deno/kv-store-deno.ts");
    const bodies = (await openStore(":memory:")).bodiesOf("phone");
    const put = (id, site) => bodies.put(id, new Uint8Array(100_000), { site, most: 1_000_000 });
    await put("quiet", "quiet.example");
    for (let at = 0; at < 20; at++) await put(\`loud-\${at}\`, "loud.example");
    const kept = [];
    for (const id of ["quiet", ...Array.from({ length: 20 }, (_, at) => \`loud-\${at}\`)])
      if ((await bodies.get(id)) !== null) kept.push(id.split("-")[0]);
    console.log(kept.join(" "));
    Deno.exit();`;
  const cwd = new URL("../..", import.meta.url).pathname;
  const said = await new Promise((resolve) => {
    const asked = ["run", "--quiet", "--cached-only", "--allow-all", "-"];
    const deno = execFile(DENO, asked, { cwd }, (_, stdout, stderr) => resolve(stdout + stderr));
    deno.stdin?.end(script);
  });
  expect(said).toBe(`quiet${" loud".repeat(9)}\n`);
});
