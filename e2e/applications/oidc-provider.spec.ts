import { effectsOf, expect, test } from "./application.ts";

/** Of each sign-in anew. */
const plain = (text: string): string =>
  text
    .replaceAll(/\b(code|state|code_challenge|code_verifier|nonce|xsrf|refresh_token|id_token_hint)=[\w.~-]+/g, "$1=…")
    .replaceAll(/\/(interaction|auth)\/[\w-]{10,}/g, "/$1/…");

test("a person signs in at an OpenID provider of another origin, whose tokens the page fetches, renews and gives up", async ({
  bothWays,
}) => {
  await bothWays(async ({ shown, goto, reserve }) => {
    const ofClient = await reserve();
    const ofProvider = await reserve();
    const provider = await ofProvider.start(({ port, origin }) => ({
      script: "servers/oidc-provider.mjs",
      arguments: [String(port), origin, ofClient.origin],
    }));
    const client = await ofClient.start(({ port }) => ({
      script: "servers/oidc-client.mjs",
      arguments: [String(port), provider.origin],
    }));
    const said = shown.locator("#said");
    const texts: string[] = [];
    await goto(`${client.origin}/`);
    await expect(said).toHaveText("Nobody");
    await shown.getByRole("button", { name: "Sign in" }).click();
    await shown.getByPlaceholder("Enter any login").fill("garcía");
    await shown.getByPlaceholder("and password").fill("secret");
    texts.push(...(await shown.locator(".login-card").allInnerTexts()));
    await shown.getByRole("button", { name: "Sign-in" }).click();
    await expect(shown.getByRole("button", { name: "Continue" })).toBeVisible();
    texts.push(...(await shown.locator(".login-card").allInnerTexts()));
    await shown.getByRole("button", { name: "Continue" }).click();
    await expect(said).toHaveText(
      "signed in | Señora garcía | true | openid profile offline_access | Bearer | true | grün",
    );
    await shown.getByRole("button", { name: "Renew" }).click();
    await expect(said).toHaveText(/^renewed \| Señora garcía/);
    texts.push(...(await said.allInnerTexts()));
    await shown.getByRole("button", { name: "Sign out" }).click();
    await shown.getByRole("button", { name: /yes/i }).click();
    await expect(said).toHaveText("Nobody");
    return { texts, client: effectsOf(client, plain), provider: effectsOf(provider, plain) };
  });
});
