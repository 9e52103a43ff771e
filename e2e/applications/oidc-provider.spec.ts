import { effectsOf, expect, test, type Visit } from "./application.ts";

/** Of each sign-in anew. */
const plain = (text: string): string =>
  text
    .replaceAll(/\b(code|state|code_challenge|code_verifier|nonce|xsrf|refresh_token|id_token_hint)=[\w.~-]+/g, "$1=…")
    .replaceAll(/\/(interaction|auth)\/[\w-]{10,}/g, "/$1/…");

/** A provider, and a client of it. */
async function startBoth({ reserve }: Pick<Visit, "reserve">) {
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
  return { client, provider };
}

test("a person signs in at an OpenID provider of another origin, whose tokens the page fetches, renews and gives up", async ({
  bothWays,
}) => {
  await bothWays(async (visit) => {
    const { shown, goto } = visit;
    const { client, provider } = await startBoth(visit);
    const said = shown.locator("#said");
    const texts: string[] = [];
    await goto(`${client.origin}/`);
    await expect(said).toHaveText("Nobody");
    await shown.getByRole("button", { name: "Sign in", exact: true }).click();
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

test("a person signs in by a window of the client's, which goes to the provider and back, posts what it got, and closes", async ({
  bothWays,
}) => {
  await bothWays(async (visit) => {
    const { shown, goto, opened } = visit;
    const { client, provider } = await startBoth(visit);
    const said = shown.locator("#said");
    await goto(`${client.origin}/`);
    await expect(said).toHaveText("Nobody");
    const popup = await opened(() => shown.getByRole("button", { name: "Sign in by window" }).click());
    await popup.getByPlaceholder("Enter any login").fill("garcía");
    await popup.getByPlaceholder("and password").fill("secret");
    await popup.getByRole("button", { name: "Sign-in" }).click();
    await popup.getByRole("button", { name: "Continue" }).click();
    await expect(said).toHaveText(
      "signed in by window | Señora garcía | true | openid profile offline_access | Bearer | true | grün",
    );
    return { client: effectsOf(client, plain), provider: effectsOf(provider, plain) };
  });
});
