import { useEffect, useState } from "preact/hooks";
import type { DeviceList, PairedDevice } from "../../../../shared/devices.ts";
import type { Asked, DeviceRequests } from "../../link/device-requests.ts";
import { AddDevice } from "./add-device.tsx";
import { DeviceRow } from "./device-row.tsx";
import { eventText, timeText } from "./device-texts.ts";
import { KeyChange } from "./key-change.tsx";

/** Milliseconds: whoever adds a device sees it come. */
const REFRESH_TIME = 3_000;

/** All paired devices, and what may be done about them. */
export function Devices({ requests }: { requests: DeviceRequests }) {
  const [asked, setAsked] = useState<Asked<DeviceList> | null>(null);
  const [why, setWhy] = useState<string | null>(null);
  const read = () => requests.list().then(setAsked);

  useEffect(() => {
    void read();
    const timer = setInterval(() => document.visibilityState === "visible" && void read(), REFRESH_TIME);
    return () => clearInterval(timer);
  }, []);

  /** Shows why it could not be done, or what has become of the list. */
  const act = async (done: Promise<Asked<unknown>>) => {
    const result = await done;
    setWhy("why" in result ? result.why : null);
    await read();
  };

  if (asked === null) return <p class="fine">Asking your edge…</p>;
  if ("why" in asked)
    return (
      <p class="problem" role="alert">
        {asked.why}
      </p>
    );
  const { devices, events } = asked.answer;
  return (
    <>
      {why !== null && (
        <p class="problem" role="alert">
          {why}
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
        <summary>What happened</summary>
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
