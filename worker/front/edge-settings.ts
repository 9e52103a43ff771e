/** Reads what a person set for an edge of their own. What cannot be meant is refused in a sentence that says the mend. */
import { isStrongAccessKey, STRONGER_KEY } from "../../shared/access-key.ts";

/** @param text ROPEWAY_HOST: a host name. */
export function readBaseHost(text: string): string {
  const refuse = (mend: string): Error => new Error(`Cannot start: ROPEWAY_HOST is "${text}": ${mend}`);
  const url = URL.parse(text.includes("://") ? text : `http://${text}`);
  if (url === null || url.hostname === "" || !/^[\w.-]+$/.test(url.hostname))
    throw refuse("that is no host name; set one such as ropeway.example");
  if (/^[\d.]+$/.test(url.hostname))
    throw refuse("that is an address, and every site needs a name below it; set a name such as ropeway.example");
  // What is left of a URL, and what a name is written like in one: xn--… for letters that DNS does not have.
  if (text.toLowerCase() === url.hostname) return url.hostname;
  const port = url.port === "" ? "" : `, and the port as ROPEWAY_PORT=${url.port}`;
  throw refuse(`set the name alone, ROPEWAY_HOST=${url.hostname}${port}`);
}

/** @param name of a variable that is 1, or not set. */
export function readSwitch(name: string, text: string | undefined): boolean {
  if (text === "1") return true;
  if (!text || text === "0") return false;
  throw new Error(`Cannot start: ${name} is "${text}": set it to 1, or not at all`);
}

/** @param text ROPEWAY_SHARED_CACHE. */
export function readSharedCache(text: string | undefined): boolean {
  if (text === "0") return false;
  if (!text || text === "1") return true;
  throw new Error(`Cannot start: ROPEWAY_SHARED_CACHE is "${text}": set it to 0, or not at all`);
}

/** @param name of the variable. */
export function readPort(name: string, text: string | undefined, fallback: number): number {
  if (!text) return fallback;
  const port = Number(text);
  if (Number.isInteger(port) && port > 0 && port < 65_536) return port;
  throw new Error(`Cannot start: ${name} is "${text}": set it to a port number, 1 to 65535`);
}

interface TlsFiles {
  readonly certFile: string | undefined;
  readonly keyFile: string | undefined;
}

/**
 * @param files ROPEWAY_TLS_CERT and ROPEWAY_TLS_KEY.
 * @returns PEM texts, or null where none is set.
 */
export async function readTls(
  { certFile, keyFile }: TlsFiles,
  readFile: (path: string) => Promise<string>,
): Promise<{ readonly certificate: string; readonly key: string } | null> {
  if (!certFile && !keyFile) return null;
  if (!certFile || !keyFile) {
    const [set, missing] = certFile ? ["CERT", "KEY"] : ["KEY", "CERT"];
    throw new Error(`Cannot start: ROPEWAY_TLS_${set} is set without ROPEWAY_TLS_${missing}: set both, or neither`);
  }
  const certificate = await readPem("ROPEWAY_TLS_CERT", certFile, readFile);
  const key = await readPem("ROPEWAY_TLS_KEY", keyFile, readFile);
  if (!certificate.includes("-----BEGIN CERTIFICATE-----"))
    throw new Error(`Cannot start: ROPEWAY_TLS_CERT is no certificate: set it to the file of one, not to ${certFile}`);
  if (key.includes("ENCRYPTED"))
    throw new Error(`Cannot start: ROPEWAY_TLS_KEY has a password: take it away (openssl pkey -in ${keyFile} -out …)`);
  if (!/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(key))
    throw new Error(`Cannot start: ROPEWAY_TLS_KEY is no private key: set it to the file of one, not to ${keyFile}`);
  return { certificate, key };
}

async function readPem(name: string, file: string, readFile: (path: string) => Promise<string>): Promise<string> {
  const text = await readFile(file).catch((error: Error) => {
    throw new Error(`Cannot start: ${name} is set to a file that cannot be read: ${error.message}`);
  });
  if (text.includes("-----BEGIN ")) return text;
  throw new Error(`Cannot start: ${name} is no PEM file: set it to a file that has "-----BEGIN", not to ${file}`);
}

/** @param host without port. */
export function isLocalName(host: string): boolean {
  return /(?:^|\.)localhost\.?$/i.test(host) || /^127(?:\.\d+){3}$/.test(host) || host === "[::1]" || host === "::1";
}

/** @returns null where the key pairs phones; else why it does not, and the mend. */
export function keyAdvice(accessKey: string): string | null {
  if (accessKey === "")
    return "Ropeway is not ready: no phone can be paired without an access key; set ROPEWAY_ACCESS_KEY";
  return isStrongAccessKey(accessKey) ? null : `Ropeway is not ready: no phone can be paired, since ${STRONGER_KEY}`;
}

/**
 * What people have to know who start an edge that listens beyond this machine, under a name that ends there.
 *
 * @param ip address that it listens on.
 * @returns null where phones can use it, or are not meant to.
 */
export function phoneAdvice(ip: string, baseHost: string): string | null {
  if (isLocalName(ip) || !isLocalName(baseHost)) return null;
  return `On other devices than this one, ${baseHost} means the device itself: none can use this edge yet. Phones need https and a name with a wildcard: set ROPEWAY_HOST to a name that leads here, as *.NAME does, and ROPEWAY_TLS_CERT and ROPEWAY_TLS_KEY to a certificate for both`;
}
