import { useId, useRef, useState } from "preact/hooks";
import type { PairedDevice } from "../../../../shared/devices.ts";
import { deviceHint } from "./device-texts.ts";

interface DeviceRowProps {
  readonly device: PairedDevice;
  readonly onRename: (name: string) => void;
  readonly onUnpair: (withCookies: boolean) => void;
}

/** One device; what may be done about it opens below it. */
export function DeviceRow({ device, onRename, onUnpair }: DeviceRowProps) {
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
              {name}
              {isThis && <span class="fine"> (this device)</span>}
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
            Name
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
              Rename
            </button>
            <button
              type="button"
              class="button button-danger"
              aria-expanded={isAsking}
              onClick={() => setAsking(!isAsking)}
            >
              Unpair…
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
          ? "This device will not load pages any more until it is paired again."
          : `${name} will not load pages any more, from now on.`}
      </p>
      <label class="setting-line">
        <input
          type="checkbox"
          checked={withCookies}
          onChange={(event) => setWithCookies(event.currentTarget.checked)}
        />
        Delete its cookies and logins at the edge, too
      </label>
      <div class="actions">
        <button type="button" class="button button-danger" onClick={() => onUnpair(withCookies)}>
          Unpair {name}
        </button>
        <button type="button" class="button" onClick={onCancel}>
          Cancel
        </button>
      </div>
    </div>
  );
}
