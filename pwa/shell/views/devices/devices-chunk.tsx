/** Entry of the script of the devices' sheet, which the sheets load when it is opened. */

import type { ComponentChild } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { renderSVG } from "uqr";
import type { DeviceEvent, DeviceList, GuestLimits, PairedDevice, PairingCode } from "../../../../shared/devices.ts";
import { later } from "../../../../shared/errors.ts";
import { isLoopbackHost } from "../../../../shared/web/origin.ts";
import { t, tParts } from "../../app/language.ts";
import { localeTag, tCount } from "../../app/language-choice.ts";
import { type Asked, DeviceRequests, renewToken, storedToken } from "../../link/pairing.ts";
import { agoText } from "../bar/link-pill.tsx";
import { formatBytes } from "../parts/format.ts";
import { useId } from "../ui.ts";

/** Has this device's token renewed where it is time. */
export function renew(): void {
  void renewToken(localStorage, navigator.locks ?? null, Date.now);
}

/** The content of the sheet. */
export function showDevices() {
  return <Devices requests={new DeviceRequests(storedToken(localStorage) ?? "")} />;
}

/** Milliseconds: whoever adds a device sees it come. */
const REFRESH_TIME = 3_000;

/** The list as it is now, and how to read it again. */
function useDevices(requests: DeviceRequests) {
  const [asked, setAsked] = useState<Asked<DeviceList> | null>(null);
  const [away, setAway] = useState<string | null>(null);
  const latest = useRef(0);
  /** An answer that a later question has overtaken tells nothing new. */
  const read = async () => {
    const number = ++latest.current;
    const answer = await requests.list();
    if (number !== latest.current) return;
    setAway("why" in answer ? answer.why : null);
    // A list that is there stays: a new key, a code, and what the person types stand in it.
    setAsked((before) => ("why" in answer && before !== null && "answer" in before ? before : answer));
  };
  useEffect(() => {
    void read();
    const timer = setInterval(() => document.visibilityState === "visible" && void read(), REFRESH_TIME);
    return () => clearInterval(timer);
  }, []);
  return [asked, away, read] as const;
}

/** All paired devices, and what may be done about them. */
function Devices({ requests }: { requests: DeviceRequests }) {
  const [asked, away, read] = useDevices(requests);
  const [undone, setWhy] = useState<string | null>(null);

  /** Shows why it could not be done, or what has become of the list. */
  const act = async (done: Promise<Asked<unknown>>) => {
    const result = await done;
    setWhy("why" in result ? result.why : null);
    await read();
  };

  if (asked === null) return <p class="fine">{t("Asking your edge…")}</p>;
  if ("why" in asked)
    return (
      <p class="problem" role="alert">
        {t(asked.why)}
      </p>
    );
  const { devices, events } = asked.answer;
  const why = undone ?? away;
  return (
    <>
      {why !== null && (
        <p class="problem" role="alert">
          {t(why)}
        </p>
      )}
      <ul class="devices">
        {devices.map((device: PairedDevice) => (
          <DeviceRow
            key={device.id}
            device={device}
            onRename={(name) => act(requests.rename(device.id, name))}
            onUnpair={(withCookies) => act(requests.unpair(device.id, withCookies))}
          />
        ))}
      </ul>
      <AddDevice requests={requests} />
      <KeyChange requests={requests} onChanged={read} />
      <details class="more">
        <summary>{t("What happened")}</summary>
        <ul>
          {events.map((event) => (
            <li key={`${event.at}${eventText(event)}`} class="setting-line">
              <span>
                {eventText(event)} <span class="fine">{timeText(event.at)}</span>
              </span>
            </li>
          ))}
        </ul>
      </details>
    </>
  );
}

interface DeviceRowProps {
  readonly device: PairedDevice;
  readonly onRename: (name: string) => void;
  readonly onUnpair: (withCookies: boolean) => void;
}

/** A device; buttons for it open below it. */
function DeviceRow({ device, onRename, onUnpair }: DeviceRowProps) {
  const id = useId();
  const nameRef = useRef<HTMLInputElement>(null);
  const [isAsking, setAsking] = useState(false);
  const { name, isThis } = device;
  return (
    <li>
      <details class="device">
        <summary>
          <span class="row-text">
            <span class="row-title">
              {`${name} `}
              {isThis && <span class="fine">{t("(this device)")}</span>}
            </span>
            <span class="row-hint">{deviceHint(device, Date.now())}</span>
          </span>
        </summary>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            const entered = nameRef.current?.value.trim() ?? "";
            if (entered !== "") onRename(entered);
          }}
        >
          <label class="field-label" for={id}>
            {t("Name")}
          </label>
          <input
            id={id}
            ref={nameRef}
            class="field"
            type="text"
            maxLength={40}
            defaultValue={name}
            autocomplete="off"
          />
          <div class="actions">
            <button type="submit" class="button">
              {t("Rename")}
            </button>
            <button
              type="button"
              class="button button-danger"
              aria-expanded={isAsking}
              onClick={() => setAsking(!isAsking)}
            >
              {t("Unpair…")}
            </button>
          </div>
        </form>
        {isAsking && <UnpairQuestion device={device} onUnpair={onUnpair} onCancel={() => setAsking(false)} />}
      </details>
    </li>
  );
}

interface UnpairQuestionProps extends Pick<DeviceRowProps, "device" | "onUnpair"> {
  readonly onCancel: () => void;
}

function UnpairQuestion({ device: { name, isThis }, onUnpair, onCancel }: UnpairQuestionProps) {
  const [withCookies, setWithCookies] = useState(false);
  return (
    <div class="confirm-box">
      <p>
        {isThis
          ? t("This device will not load pages any more until it is paired again.")
          : t("{name} will not load pages any more, from now on.", { name })}
      </p>
      <label class="setting-line">
        <input
          type="checkbox"
          checked={withCookies}
          onChange={(event) => setWithCookies(event.currentTarget.checked)}
        />
        {t("Delete its cookies and logins at the edge, too")}
      </label>
      <div class="actions">
        <button type="button" class="button button-danger" onClick={() => onUnpair(withCookies)}>
          {t("Unpair {name}", { name })}
        </button>
        <button type="button" class="button" onClick={onCancel}>
          {t("Cancel")}
        </button>
      </div>
    </div>
  );
}

const HOUR = 3_600_000;

/** Kinds of devices that may be added. */
const KINDS: readonly { readonly label: string; readonly guest: GuestLimits | null }[] = [
  { label: later("To stay"), guest: null },
  { label: later("Guest for an hour"), guest: { lastsFor: HOUR, mostBytes: null } },
  { label: later("Guest for a day"), guest: { lastsFor: 24 * HOUR, mostBytes: null } },
  { label: later("Guest for a week"), guest: { lastsFor: 7 * 24 * HOUR, mostBytes: null } },
  { label: later("Guest with 50 MB"), guest: { lastsFor: null, mostBytes: 50_000_000 } },
  { label: later("Guest with 500 MB"), guest: { lastsFor: null, mostBytes: 500_000_000 } },
];

/** Makes a code for one more device. */
function AddDevice({ requests }: { requests: DeviceRequests }) {
  const [kind, setKind] = useState(0);
  const [asked, setAsked] = useState<Asked<PairingCode> | null>(null);
  return (
    <section class="setting">
      <h3>{t("Add a device")}</h3>
      <select
        class="field"
        aria-label={t("Add it as")}
        value={kind}
        onChange={(event) => {
          setKind(Number(event.currentTarget.value));
          setAsked(null);
        }}
      >
        {KINDS.map(({ label }, index) => (
          <option key={label} value={index}>
            {t(label)}
          </option>
        ))}
      </select>
      <p class="fine">{t("A guest has cookies of its own, which go with it, and manages no devices.")}</p>
      <button
        type="button"
        class="button button-primary"
        onClick={() => void requests.createCode(KINDS[kind]?.guest ?? null).then(setAsked)}
      >
        {asked === null ? t("Show a code") : t("Show another code")}
      </button>
      <div role="status">
        {asked !== null && ("why" in asked ? <p class="problem">{t(asked.why)}</p> : <Code {...asked.answer} />)}
      </div>
    </section>
  );
}

/** The app's own host, whichever way the words around it go. */
function OwnHost() {
  return <bdi dir="ltr">{location.host}</bdi>;
}

function Code({ code, expiresAt }: PairingCode) {
  const link = `${location.origin}/#key=${code}`;
  const picture = (
    <span
      class="qr"
      role="img"
      aria-label={t("QR code of the link below")}
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
          <p>{tParts("Scan this with the other device, or open {host} there and enter", { host: <OwnHost /> })}</p>
        </>
      )}
      <p class="code-text">{code}</p>
      <p class="fine">{t("It works once, until {time}.", { time: timeText(expiresAt) })}</p>
    </div>
  );
}

/** A name below localhost means each device itself: where the code leads there has to be seen to first. */
function OnThisMachine({ picture }: { picture: ComponentChild }) {
  const port = location.port || "80";
  return (
    <>
      <div class="ways">
        <p>
          {tParts("On any other device {host} means that device itself. See to a way to this edge first.", {
            host: <OwnHost />,
          })}
        </p>
        <details class="more">
          <summary>{t("An Android phone on a cable")}</summary>
          <p>
            {tParts(
              "Turn on USB debugging, plug it in, and run {command} where the edge runs. Then scan this, or open {host} on the phone.",
              { command: <code dir="ltr">{`adb reverse tcp:${port} tcp:${port}`}</code>, host: <OwnHost /> },
            )}
          </p>
          {picture}
        </details>
        <details class="more">
          <summary>{t("Any other device")}</summary>
          <p>
            {tParts(
              "Start the edge behind a tunnel, {command}, or under a name and certificate of your own (docs/deploy.md, “A laptop and a phone”), and pair the device there.",
              { command: <code dir="ltr">npm start -- --tunnel https://…</code> },
            )}
          </p>
        </details>
      </div>
      <p>{t("Then enter on the other device")}</p>
    </>
  );
}

/** Another access key in place of the one that somebody may know. */
function KeyChange({ requests, onChanged }: { requests: DeviceRequests; onChanged: () => void }) {
  const [unpairsOthers, setUnpairsOthers] = useState(false);
  const [asked, setAsked] = useState<Asked<{ readonly accessKey: string }> | null>(null);
  const change = async () => {
    setAsked(await requests.changeKey(unpairsOthers));
    onChanged();
  };
  return (
    <details class="more">
      <summary>{t("Change the access key")}</summary>
      <p class="fine">{t("The old key and old codes pair no more devices.")}</p>
      <button
        type="button"
        class="menu-row"
        role="switch"
        aria-checked={unpairsOthers}
        onClick={() => setUnpairsOthers(!unpairsOthers)}
      >
        <span class="confirm-label">{t("Unpair all other devices")}</span>
        <span class="switch" />
      </button>
      <button type="button" class="button button-danger" onClick={() => void change()}>
        {unpairsOthers ? t("Change the key and unpair all others") : t("Change the key")}
      </button>
      <div role="status">
        {asked !== null &&
          ("why" in asked ? (
            <p class="problem">{t(asked.why)}</p>
          ) : (
            <>
              <p>{t("The new key. It is shown this once:")}</p>
              <p class="code-text key-text">{asked.answer.accessKey}</p>
            </>
          ))}
      </div>
    </details>
  );
}

/** When it was last there, what it has used, what ends it, and when it was paired: two may have one name. @param now as `Date.now()` */
export function deviceHint({ usage, guest, pairedAt }: PairedDevice, now: number): string {
  const parts: string[] = [];
  if (usage !== null) {
    parts.push(usage.isConnected ? t("Connected") : t("Last seen {ago}", { ago: agoText(usage.seenAt, now) }));
    const most = guest?.mostBytes ?? null;
    const size = formatBytes(usage.bytes);
    parts.push(
      most === null ? t("{size} used", { size }) : t("{size} of {most} used", { size, most: formatBytes(most) }),
    );
  }
  if (guest?.endsAt) parts.push(t("until {time}", { time: timeText(guest.endsAt) }));
  if (guest !== null) parts.unshift(t("Guest"));
  parts.push(t("paired {ago}", { ago: agoText(pairedAt, now) }));
  return parts.join(" · ");
}

/** Day and time, as the person's language has them. @param time milliseconds since the epoch. */
function timeText(time: number): string {
  return new Date(time).toLocaleString(localeTag(), { dateStyle: "short", timeStyle: "short" });
}

const PAIRED_WITH = {
  key: later("{name} was paired by the access key"),
  code: later("{name} was paired by a code"),
  token: later("{name} was paired again, by its token"),
} as const;
const ENDED_WHY = {
  unused: later("{name} was not used for 90 days"),
  "time-over": later("{name} was a guest whose time is over"),
  "data-used-up": later("{name} was a guest that used up its data"),
} as const;

/** The event, in a sentence. */
export function eventText(event: DeviceEvent): string {
  switch (event.kind) {
    case "paired":
      return t(PAIRED_WITH[event.with], { name: event.name });
    case "unpaired":
      return event.by === null
        ? t("{name} was unpaired", { name: event.name })
        : t("{name} was unpaired from {other}", { name: event.name, other: event.by });
    case "ended":
      return t(ENDED_WHY[event.why], { name: event.name });
    case "turned-away":
      return t("{name} asked to come in, but is not paired any more", { name: event.name });
    case "refused":
      return tCount(event.count, "A wrong key or code was refused", "{count} wrong keys or codes were refused");
    case "key-changed":
      return event.by === null
        ? t("The access key was changed")
        : t("The access key was changed from {other}", { other: event.by });
  }
}
