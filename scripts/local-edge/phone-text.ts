/** What a person reads at `npm start` whose phone is to use this edge. */
import { renderUnicodeCompact } from "uqr";
import { isLocalName } from "../../worker/front/edge-settings.ts";

export interface PhoneTextOptions {
  /** Origin of the edge, as this machine's browsers open it. */
  readonly edgeUrl: string;
  readonly accessKey: string;
}

/**
 * A name below `localhost` means the phone itself, and its browser takes that for secure: what a cable forwards there
 * needs no certificate.
 *
 * @returns null where the address is of no use to a phone.
 */
export function phoneText({ edgeUrl, accessKey }: PhoneTextOptions): string | null {
  const { protocol, hostname, port } = new URL(edgeUrl);
  const code = onAnyTerminal(renderUnicodeCompact(`${edgeUrl}/#key=${accessKey}`, { border: 2 }));
  if (isLocalName(hostname)) {
    const forward = port === "" ? "" : `: adb reverse tcp:${port} tcp:${port}`;
    return `On an Android phone: plug it in, turn on USB debugging, forward this port${forward}\nThen scan this with the phone. Without a cable: docs/deploy.md, "A laptop and a phone".\n${code}`;
  }
  return protocol === "https:" ? `On a phone, scan this:\n${code}` : null;
}

/** White blocks on black, whatever the terminal's own colours: an inverted code is none to many cameras. */
function onAnyTerminal(code: string): string {
  return code
    .split("\n")
    .map((line) => `\x1b[97;40m${line}\x1b[0m`)
    .join("\n");
}
