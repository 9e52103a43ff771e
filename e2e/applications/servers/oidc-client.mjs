/** A page that knows people by what another origin says of them. */
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";

const [port, authority] = process.argv.slice(2);
const script = new URL("../node_modules/oidc-client-ts/dist/browser/oidc-client-ts.min.js", import.meta.url);

const PAGE = `<!doctype html><meta charset="utf-8"><title>Client</title>
<button id="in">Sign in</button><button id="window">Sign in by window</button><button id="renew">Renew</button><button id="out">Sign out</button><pre id="said">Nobody</pre>
<script src="/oidc-client-ts.js"></script>
<script>
  const said = document.getElementById("said");
  const manager = new oidc.UserManager({
    authority: ${JSON.stringify(authority)},
    client_id: "harbour",
    redirect_uri: location.origin + "/callback",
    popup_redirect_uri: location.origin + "/window",
    post_logout_redirect_uri: location.origin + "/",
    scope: "openid profile offline_access",
    prompt: "consent",
    loadUserInfo: true,
    automaticSilentRenew: false,
    userStore: new oidc.WebStorageStateStore({ store: sessionStorage }),
  });
  const tell = (user, how) => {
    said.textContent = user ? [how, user.profile.name, user.profile.iss === manager.settings.authority, user.scope, user.token_type, !!user.refresh_token, user.state?.wish].join(" | ") : "Nobody";
  };
  const failed = (error) => { said.textContent = "Failed: " + error.message };
  document.getElementById("in").onclick = () => manager.signinRedirect({ state: { wish: "grün" } }).catch(failed);
  document.getElementById("window").onclick = () =>
    manager.signinPopup({ state: { wish: "grün" } }).then((user) => tell(user, "signed in by window"), failed);
  document.getElementById("renew").onclick = () => manager.signinSilent().then((user) => tell(user, "renewed"), failed);
  document.getElementById("out").onclick = () => manager.signoutRedirect().catch(failed);
  if (location.pathname === "/callback")
    manager.signinRedirectCallback().then((user) => { history.replaceState(null, "", "/"); tell(user, "signed in") }, failed);
  else if (location.pathname === "/window") manager.signinPopupCallback().catch(failed);
  else manager.getUser().then((user) => tell(user, "known"), failed);
</script>`;

createServer(async ({ url }, response) => {
  const isScript = url === "/oidc-client-ts.js";
  response.setHeader("content-type", isScript ? "text/javascript" : "text/html");
  response.end(isScript ? await readFile(script) : PAGE);
}).listen(Number(port), "127.0.0.1");
