/** A site that knows people by what a SAML provider of another origin signs. */
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { SAML, ValidateInResponseTo } from "@node-saml/node-saml";

const [port, origin, provider] = process.argv.slice(2);

const saml = new SAML({
  entryPoint: `${provider}/sso`,
  callbackUrl: `${origin}/assertion`,
  issuer: "urn:harbour:service",
  audience: "urn:harbour:service",
  idpCert: readFileSync("cert.pem", "utf8"),
  wantAuthnResponseSigned: false,
  validateInResponseTo: ValidateInResponseTo.always,
  disableRequestedAuthnContext: true,
});

/** Names by session. */
const people = new Map();

createServer(async (request, response) => {
  const session = /service=([^;]+)/.exec(request.headers.cookie ?? "")?.[1];
  const page = (body) =>
    response
      .setHeader("content-type", "text/html")
      .end(`<!doctype html><meta charset="utf-8"><title>Service</title><p id="said">${body}</p>`);
  if (request.url === "/assertion") {
    let body = "";
    for await (const bytes of request) body += bytes;
    const { SAMLResponse, RelayState } = Object.fromEntries(new URLSearchParams(body));
    const { profile } = await saml.validatePostResponseAsync({ SAMLResponse });
    const id = randomUUID();
    people.set(id, `${profile.nameID} ${profile["http://schemas.xmlsoap.org/ws/2005/05/identity/claims/surname"]}`);
    response
      .writeHead(303, { "set-cookie": `service=${id}; HttpOnly; SameSite=Lax; Path=/`, location: RelayState })
      .end();
  } else if (request.url === "/favicon.ico") {
    // Only some browsers ask for it.
    response.writeHead(404).end();
  } else if (request.url === "/leave") {
    people.delete(session);
    response.writeHead(303, { location: "/" }).end();
  } else if (people.has(session)) {
    page(`${people.get(session)} at ${request.url}</p><p><a href="/leave">Leave</a>`);
  } else if (request.url === "/") {
    page(`Nobody</p><p><a href="/papers?of=2026">Papers</a>`);
  } else {
    response.writeHead(302, { location: await saml.getAuthorizeUrlAsync(request.url, "", {}) }).end();
  }
}).listen(Number(port), "127.0.0.1");
