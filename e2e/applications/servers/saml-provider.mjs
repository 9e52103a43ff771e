/** Signs people in with SAML 2.0, at its own origin: it answers a request in an address by a form that sends itself. */
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import samlp from "samlp";

const [port, serviceOrigin] = process.argv.slice(2);

const answer = samlp.auth({
  issuer: "urn:harbour:provider",
  cert: readFileSync("cert.pem"),
  key: readFileSync("key.pem"),
  signatureAlgorithm: "rsa-sha256",
  digestAlgorithm: "sha256",
  getPostURL: (_audience, _request, _message, done) => done(null, `${serviceOrigin}/assertion`),
});

const FORM = `<!doctype html><meta charset="utf-8"><title>Provider</title>
<form method="post" action="/session"><input name="person" aria-label="Person"><input type="hidden" name="next"><button>Go on</button></form>
<script>document.forms[0].next.value = location.pathname + location.search</script>`;

createServer(async (request, response) => {
  const { pathname, searchParams } = new URL(request.url, "http://provider");
  const person = /person=([^;]+)/.exec(request.headers.cookie ?? "")?.[1];
  if (pathname === "/session") {
    let body = "";
    for await (const bytes of request) body += bytes;
    const form = new URLSearchParams(body);
    response.setHeader(
      "set-cookie",
      `person=${encodeURIComponent(form.get("person"))}; HttpOnly; SameSite=Lax; Path=/`,
    );
    response.writeHead(303, { location: form.get("next") }).end();
  } else if (person === undefined) {
    response.setHeader("content-type", "text/html").end(FORM);
  } else {
    const name = decodeURIComponent(person);
    const user = { id: name, displayName: name, name: { givenName: name, familyName: "Müller" }, emails: [] };
    Object.assign(request, { query: Object.fromEntries(searchParams), body: {}, user });
    // As express has them.
    Object.assign(response, { set: response.setHeader, send: (body) => response.end(body) });
    answer(request, response, (error) => response.writeHead(500).end(String(error?.stack)));
  }
}).listen(Number(port), "127.0.0.1");
