import type { ComponentChild } from "preact";
import { useState } from "preact/hooks";
import { renderSVG } from "uqr";
import type { GuestLimits, PairingCode } from "../../../../shared/devices.ts";
import { isLoopbackHost } from "../../../../shared/web/origin.ts";
import type { Asked, DeviceRequests } from "../../link/device-requests.ts";
import { timeText } from "./device-texts.ts";

const HOUR = 3_600_000;

/** What a device may be added as. */
const KINDS: readonly { readonly label: string; readonly guest: GuestLimits | null }[] = [
  { label: "To stay", guest: null },
  { label: "Guest for an hour", guest: { lastsFor: HOUR, mostBytes: null } },
  { label: "Guest for a day", guest: { lastsFor: 24 * HOUR, mostBytes: null } },
  { label: "Guest for a week", guest: { lastsFor: 7 * 24 * HOUR, mostBytes: null } },
  { label: "Guest with 50 MB", guest: { lastsFor: null, mostBytes: 50_000_000 } },
  { label: "Guest with 500 MB", guest: { lastsFor: null, mostBytes: 500_000_000 } },
];

/** Makes a code for one more device. */
export function AddDevice({ requests }: { requests: DeviceRequests }) {
  const [kind, setKind] = useState(0);
  const [asked, setAsked] = useState<Asked<PairingCode> | null>(null);
  return (
    <section class="setting">
      <h3>Add a device</h3>
      <select
        class="field"
        aria-label="Add it as"
        value={kind}
        onChange={(event) => {
          setKind(Number(event.currentTarget.value));
          setAsked(null);
        }}
      >
        {KINDS.map(({ label }, index) => (
          <option key={label} value={index}>
            {label}
          </option>
        ))}
      </select>
      <p class="fine">A guest has cookies of its own, which go with it, and manages no devices.</p>
      <button
        type="button"
        class="button button-primary"
        onClick={() => void requests.createCode(KINDS[kind]?.guest ?? null).then(setAsked)}
      >
        {asked === null ? "Show a code" : "Show another code"}
      </button>
      <div role="status">
        {asked !== null && ("why" in asked ? <p class="problem">{asked.why}</p> : <Code {...asked.answer} />)}
      </div>
    </section>
  );
}

function Code({ code, expiresAt }: PairingCode) {
  const link = `${location.origin}/#key=${code}`;
  const picture = (
    <span
      class="qr"
      role="img"
      aria-label="QR code of the link below"
      dangerouslySetInnerHTML={{ __html: renderSVG(link, { border: 3 }) }}
    />
  );
  return (
    <div class="pairing-code">
      {isLoopbackHost(location.hostname) ? (
        <OnThisMachine picture={picture} />
      ) : (
        <>
          {picture}
          <p>Scan this with the other device, or open {location.host} there and enter</p>
        </>
      )}
      <p class="code-text">{code}</p>
      <p class="fine">It works once, until {timeText(expiresAt)}.</p>
    </div>
  );
}

/** A name below localhost means each device itself: where the code leads there has to be seen to first. */
function OnThisMachine({ picture }: { picture: ComponentChild }) {
  const port = location.port || "80";
  return (
    <>
      <div class="ways">
        <p>On any other device {location.host} means that device itself. See to a way to this edge first.</p>
        <details class="more">
          <summary>An Android phone on a cable</summary>
          <p>
            Turn on USB debugging, plug it in, and run <code>{`adb reverse tcp:${port} tcp:${port}`}</code> where the
            edge runs. Then scan this, or open {location.host} on the phone.
          </p>
          {picture}
        </details>
        <details class="more">
          <summary>Any other device</summary>
          <p>
            Start the edge behind a tunnel, <code>npm start -- --tunnel https://…</code>, or under a name and
            certificate of your own (docs/deploy.md, “A laptop and a phone”), and pair the device there.
          </p>
        </details>
      </div>
      <p>Then enter on the other device</p>
    </>
  );
}
