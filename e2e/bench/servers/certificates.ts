import { execFile } from "node:child_process";
import { createHash, createPublicKey } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { TestCertificate } from "../../fixtures/test-certificate.ts";
import { HarnessError } from "../failure.ts";

const run = promisify(execFile);

/** Longer than any run; Chromium refuses server certificates of more than 398. */
const DAYS = "30";

/** A certificate authority for one run of the bench. */
export interface Authority {
  /** PEM file of its own certificate, for programs that are told what to trust. */
  readonly file: string;
  /**
   * SHA-256 of the public key of every certificate that it issues, in base64: all have one key, so that Chromium can be
   * told to trust exactly this one.
   */
  readonly keyHash: string;
  /**
   * Issues a server's certificate on P-256. The chain is the certificate alone, as small as it can be, which favours
   * who opens many connections.
   *
   * @param hosts the names that it stands for, wildcards included.
   */
  issue(hosts: readonly string[]): Promise<TestCertificate>;
}

/** @param directory empty, private to the run. */
export async function createAuthority(directory: string): Promise<Authority> {
  const file = join(directory, "authority.pem");
  const authorityKey = join(directory, "authority-key.pem");
  const serverKey = join(directory, "server-key.pem");
  await makeKey(serverKey);
  await makeKey(authorityKey);
  const own = ["-x509", "-key", authorityKey, "-subj", "/CN=Ropeway bench", "-days", DAYS, "-out", file];
  await openssl(["req", ...own, ...extension("basicConstraints=critical,CA:TRUE")]);
  const key = await readFile(serverKey, "utf8");
  const publicKey = createPublicKey(key).export({ type: "spki", format: "der" });

  return {
    file,
    keyHash: createHash("sha256").update(publicKey).digest("base64"),
    async issue(hosts) {
      const names = hosts.map((host) => `DNS:${host}`).join(",");
      const cert = await openssl([
        ...["req", "-x509", "-CA", file, "-CAkey", authorityKey, "-key", serverKey],
        ...["-subj", `/CN=${hosts[0]}`, "-days", DAYS],
        ...extension("basicConstraints=critical,CA:FALSE"),
        ...extension(`subjectAltName=${names}`),
      ]);
      return { key, cert };
    },
  };
}

async function makeKey(file: string): Promise<void> {
  await openssl(["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", file]);
}

function extension(text: string): [string, string] {
  return ["-addext", text];
}

/** Version 3 or newer: older ones cannot issue in one step. */
async function openssl(args: readonly string[]): Promise<string> {
  return await run("openssl", args).then(
    ({ stdout }) => stdout,
    (error: Error & { stderr?: string }) => {
      throw new HarnessError(`Cannot make certificates: openssl ${args[0]}: ${error.stderr?.trim() || error.message}`);
    },
  );
}
