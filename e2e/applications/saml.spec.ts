import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { effectsOf, expect, test } from "./application.ts";

/** With RSA, which SAML's signatures need. */
function signingFiles(): Readonly<Record<string, string>> {
  const directory = mkdtempSync(join(tmpdir(), "ropeway-saml-"));
  const [key, cert] = [join(directory, "key.pem"), join(directory, "cert.pem")];
  const request = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=provider"];
  execFileSync("openssl", [...request, "-keyout", key, "-out", cert], { stdio: "ignore" });
  const files = { "key.pem": readFileSync(key, "utf8"), "cert.pem": readFileSync(cert, "utf8") };
  rmSync(directory, { recursive: true });
  return files;
}

/** Of each sign-in anew. */
const plain = (text: string): string => text.replaceAll(/(SAMLRequest|SAMLResponse)(=|%3D)(?:(?!%26)[^& ])+/g, "$1=…");

test("a person signs in with SAML, by a form that sends itself to another origin, and later without being asked", async ({
  bothWays,
}) => {
  const files = signingFiles();
  await bothWays(async ({ shown, goto, reserve }) => {
    const ofService = await reserve();
    const ofProvider = await reserve();
    const provider = await ofProvider.start(({ port }) => ({
      script: "servers/saml-provider.mjs",
      arguments: [String(port), ofService.origin],
      files,
    }));
    const service = await ofService.start(({ port, origin }) => ({
      script: "servers/saml-service.mjs",
      arguments: [String(port), origin, provider.origin],
      files,
    }));
    const said = shown.locator("#said");
    await goto(`${service.origin}/`);
    await shown.getByRole("link", { name: "Papers" }).click();
    await shown.getByRole("textbox", { name: "Person" }).fill("Jürgen");
    await shown.getByRole("button", { name: "Go on" }).click();
    await expect(said).toHaveText("Jürgen Müller at /papers?of=2026");
    await shown.getByRole("link", { name: "Leave" }).click();
    await expect(said).toHaveText("Nobody");
    await shown.getByRole("link", { name: "Papers" }).click();
    await expect(said).toHaveText("Jürgen Müller at /papers?of=2026");
    return { service: effectsOf(service, plain), provider: effectsOf(provider, plain) };
  });
});
