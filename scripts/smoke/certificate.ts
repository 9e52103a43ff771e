/** Whether browsers will go on taking a server for whom it says it is. */
import { checkServerIdentity, connect, type TLSSocket } from "node:tls";
import { ANSWER_TIME, lookupAsBrowsers } from "./ask.ts";
import { expectThat, SmokeFault } from "./check.ts";

const DAY = 24 * 60 * 60 * 1000;
/** Less is an hour's work that somebody will forget. */
const LEAST_DAYS = 7;

/** @returns until when it is valid. @throws SmokeFault */
export async function certificateOf(url: URL, ofOthers: string, mend: string): Promise<string> {
  const { hostname } = url;
  const socket = await tlsSocket(url);
  const certificate = socket.getPeerCertificate();
  const trouble = String(socket.authorizationError ?? "");
  socket.destroy();
  const names = (certificate.subjectaltname ?? "").replaceAll("DNS:", "");
  const isOfOthers = checkServerIdentity(hostname, certificate) !== undefined;
  expectThat(!isOfOthers, `At ${hostname} ${ofOthers}: ${names || "none"}`, mend);
  const days = Math.floor((Date.parse(certificate.valid_to) - Date.now()) / DAY);
  expectThat(
    days >= 0 && trouble !== "CERT_HAS_EXPIRED",
    `The certificate of ${hostname} ended on ${certificate.valid_to}`,
    "Renew it, and see why that does not happen by itself",
  );
  expectThat(
    trouble === "",
    `No browser trusts the certificate of ${hostname}: ${trouble}`,
    "Get one of a public authority, and give the server the whole chain (fullchain.pem)",
  );
  const isShortLived = Date.parse(certificate.valid_to) - Date.parse(certificate.valid_from) <= 2 * LEAST_DAYS * DAY;
  expectThat(
    days >= LEAST_DAYS || isShortLived,
    `The certificate of ${hostname} ends in ${days} days`,
    "Renew it, and see why that does not happen by itself",
  );
  return `valid until ${certificate.valid_to}`;
}

function tlsSocket({ hostname, port }: URL): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connect({
      host: hostname,
      port: Number(port || 443),
      servername: hostname,
      rejectUnauthorized: false,
      lookup: lookupAsBrowsers,
    });
    const fail = (what: string): void => {
      socket.destroy();
      reject(
        new SmokeFault(what, `See whether the server speaks TLS for ${hostname}, and whether its name leads there`),
      );
    };
    socket.setTimeout(ANSWER_TIME, () => fail(`No TLS at ${hostname} within ${ANSWER_TIME / 1000} seconds`));
    socket.once("error", (error) => fail(`No TLS at ${hostname}: ${error.message}`));
    socket.once("secureConnect", () => resolve(socket));
  });
}
