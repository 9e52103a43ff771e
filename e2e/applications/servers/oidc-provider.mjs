/** Signs people in with OpenID Connect, at its own origin, for a client page at another one. */
import { Provider } from "oidc-provider";

const [port, issuer, client] = process.argv.slice(2);

const provider = new Provider(issuer, {
  clients: [
    {
      client_id: "harbour",
      token_endpoint_auth_method: "none",
      redirect_uris: [`${client}/callback`, `${client}/window`],
      post_logout_redirect_uris: [`${client}/`],
      grant_types: ["authorization_code", "refresh_token"],
    },
  ],
  clientBasedCORS: (_context, origin) => origin === client,
  claims: { openid: ["sub"], profile: ["name"] },
  findAccount: (_context, id) => ({ accountId: id, claims: () => ({ sub: id, name: `Señora ${id}` }) }),
  cookies: { keys: ["of this test"] },
});
// The pages' font lies on another machine.
provider.use(async (context, next) => {
  await next();
  if (typeof context.body === "string") context.body = context.body.replace(/@import url\([^)]*\);/, "");
});
provider.listen(Number(port), "127.0.0.1");
