/** Where names lead, on every edge. Nothing leaves the machine: the network is one of the test's own. */
import { describe, expect, it } from "vitest";
import { missingForSealing, runSealed } from "../testing/sealed-network.ts";

const REFUSED = [
  "0.0.0.0",
  "10.0.0.1",
  "100.64.0.1",
  "127.0.0.1",
  "169.254.169.254",
  "172.16.0.1",
  "192.0.0.8",
  "192.0.2.1",
  "192.31.196.1",
  "192.52.193.1",
  "192.88.99.1",
  "192.168.0.1",
  "192.175.48.1",
  "198.18.0.1",
  "198.51.100.1",
  "203.0.113.1",
  "224.0.0.1",
  "240.0.0.1",
  "::1",
  "::808:808",
  "::ffff:10.0.0.1",
  "64:ff9b::a00:1",
  "64:ff9b::cb00:7101",
  "64:ff9b:1::808:808",
  "100::1",
  "2001::1",
  "2001:2::1",
  "2001:db8::1",
  "2002:a00:1::1",
  "2002:c612:1::1",
  "2620:4f:8000::1",
  "3fff::1",
  "4000::1",
  "5f00::1",
  "fd00::1",
  "fe80::1",
  "fec0::1",
  "ff02::1",
];

const PUBLIC = [
  "93.184.216.34",
  "192.0.1.1",
  "198.17.255.255",
  "::ffff:8.8.8.8",
  "64:ff9b::808:808",
  "2002:808:808::1",
  "2606:4700::1111",
];

/** A name that leads nowhere else counts as one that leads nowhere on workerd. */
const CODE = { workerd: "NAME_NOT_RESOLVED", deno: "DESTINATION_FORBIDDEN" } as const;

const missing = await missingForSealing();
if (missing !== null) console.error(`Without the tests of where names lead: they need ${missing}`);

/** A namespace, an edge and a phone each, which takes its time on a busy machine. */
const patience = { timeout: 90_000 };

const program = (name: string) => new URL(`../testing/${name}.sealed.ts`, import.meta.url).pathname;

describe.runIf(missing === null).each(["workerd", "deno"] as const)("an edge on %s", (runtime) => {
  it("reaches public addresses of names, and none in special ranges", patience, async () => {
    const expected = (code: string) => (address: string) => [address, code] as const;
    expect(await runSealed(program("special-ranges"), runtime, ...PUBLIC, ...REFUSED)).toEqual(
      Object.fromEntries([...PUBLIC.map(expected("reached")), ...REFUSED.map(expected(CODE[runtime]))]),
    );
  });

  it(
    "keeps Strict-Transport-Security for each site's pages, from one session to the next, and honours it",
    patience,
    async () => {
      const [clear, secure] = ["clear http://bank.test/", "secure https://bank.test/"];
      expect(await runSealed(program("strict-transport"), runtime)).toEqual([
        ...[`${clear}strict`, clear],
        ...[`${secure}strict`, secure, clear],
        ...[secure, `${secure}lax`, clear],
      ]);
    },
  );

  it("connects to the address that it checked, whatever the name says next", patience, async () => {
    const outcomes = await runSealed(program("changing-names"), runtime);
    expect(outcomes).toEqual(expect.arrayContaining(["public", "a socket to public"]));
    expect(outcomes).not.toContain("PRIVATE");
    expect(outcomes).not.toContain("a socket to PRIVATE");
  });
});

describe.runIf(missing === null)("an edge on deno", () => {
  it.each(["", "1"])(
    "serves other phones while one waits for names that nobody answers for (private: %j)",
    patience,
    async (allowPrivate) => {
      expect(await runSealed(program("silent-names"), "deno", allowPrivate)).toEqual(["paired", "reached"]);
    },
  );

  it("opens connections for nobody else on its machine", patience, async () => {
    // SOCKS: no method that is acceptable; a password asked for, and refused.
    const answers = [["05ff", "05020101"]];
    expect(await runSealed(program("strange-client"))).toEqual({ text: "reached", answers });
  });
});
