import { useState } from "preact/hooks";
import type { Asked, DeviceRequests } from "../../link/device-requests.ts";

/** Another access key in place of the one that somebody may know. */
export function KeyChange({ requests, onChanged }: { requests: DeviceRequests; onChanged: () => void }) {
  const [unpairsOthers, setUnpairsOthers] = useState(false);
  const [asked, setAsked] = useState<Asked<{ readonly accessKey: string }> | null>(null);
  const change = async () => {
    setAsked(await requests.changeKey(unpairsOthers));
    onChanged();
  };
  return (
    <details class="more">
      <summary>Change the access key</summary>
      <p class="fine">The old key and old codes pair no more devices.</p>
      <button
        type="button"
        class="menu-row"
        role="switch"
        aria-checked={unpairsOthers}
        onClick={() => setUnpairsOthers(!unpairsOthers)}
      >
        <span class="confirm-label">Unpair all other devices</span>
        <span class="switch" />
      </button>
      <button type="button" class="button button-danger" onClick={() => void change()}>
        {unpairsOthers ? "Change the key and unpair all others" : "Change the key"}
      </button>
      <div role="status">
        {asked !== null &&
          ("why" in asked ? (
            <p class="problem">{asked.why}</p>
          ) : (
            <>
              <p>The new key. It is shown this once:</p>
              <p class="code-text key-text">{asked.answer.accessKey}</p>
            </>
          ))}
      </div>
    </details>
  );
}
