import { useEffect, useState } from "preact/hooks";
import type { KeptPage } from "../../../../messages/kept-page.ts";
import type { StoredSite } from "../../../../messages/tunnel-messages.ts";
import type { PageStorage } from "../../../app/phone-storage.ts";
import { STORE_SIZES } from "../../../app/settings-store.ts";
import { formatBytes } from "../../parts/format.ts";
import { ConfirmButton } from "../confirm-button.tsx";
import { KeptList } from "../kept-list.tsx";
import { ChoiceSetting } from "./choice-setting.tsx";

interface StoredSettingProps {
  readonly stored: PageStorage | null;
  readonly kept: readonly KeptPage[];
  /** As the person has chosen. */
  readonly storeBytes: number;
  readonly onChoose: (storeBytes: number) => void;
  readonly actions: PhoneActions;
}

export interface PhoneActions {
  /** Looks anew at what is stored. */
  read(): void;
  /** Keeps a page no longer. */
  unkeep(url: string): void;
  /** Forgets what a site has left here and at the edge. @param site as `siteName` of its pages. */
  forgetSite(site: string): void;
}

/** What pages have left on this phone: how much there is, may be, and is of each site. */
export function StoredSetting({ stored, kept, storeBytes, onChoose, actions }: StoredSettingProps) {
  useEffect(() => actions.read(), []);
  const quota = stored?.quota ?? Number.POSITIVE_INFINITY;
  const choices = STORE_SIZES.filter((size) => size <= quota || size === storeBytes);
  return (
    <>
      {stored !== null && (
        <>
          <p class="fine">
            Stored pages: {formatBytes(stored.bytes)} of {formatBytes(stored.bytesMax)}
          </p>
          {stored.isKept !== null && (
            <p class="fine">
              {stored.isKept
                ? "The browser has promised to keep them."
                : "The browser may delete them when this phone runs out of space."}
            </p>
          )}
        </>
      )}
      <ChoiceSetting
        name="store-bytes"
        legend="Store at most"
        choices={choices.map((value) => ({ value, label: formatBytes(value).replace(".0", "") }))}
        chosen={storeBytes}
        onChange={(bytes) => {
          onChoose(bytes);
          actions.read();
        }}
      />
      <KeptList pages={kept} onUnkeep={(url) => actions.unkeep(url)} />
      {stored !== null && stored.sites.length > 0 && (
        <StoredSites sites={stored.sites} onForget={(site) => actions.forgetSite(site)} />
      )}
    </>
  );
}

/** Sites shown before the person asks for all. */
const FIRST_SITES = 10;

function StoredSites({ sites, onForget }: { sites: readonly StoredSite[]; onForget: (site: string) => void }) {
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? sites : sites.slice(0, FIRST_SITES);
  return (
    <details class="more">
      <summary>Stored by site</summary>
      <ul>
        {shown.map(({ site, bytes }) => (
          <li key={site}>
            <ForgetSite label={`Forget ${site}`} site={site} hint={formatBytes(bytes)} onForget={onForget} />
          </li>
        ))}
      </ul>
      {shown.length < sites.length && (
        <button type="button" class="text-button" onClick={() => setWhole(true)}>
          Show all {sites.length}
        </button>
      )}
    </details>
  );
}

interface ForgetSiteProps {
  readonly label: string;
  readonly site: string;
  readonly hint?: string;
  readonly onForget: (site: string) => void;
}

/** Asks once, and says what will be gone. */
export function ForgetSite({ label, site, hint = "", onForget }: ForgetSiteProps) {
  return (
    <ConfirmButton
      label={label}
      hint={hint}
      question={`Cookies, logins, stored and kept pages and recent visits of ${site} will be gone. Its pages close, also in other windows.`}
      confirm="Forget"
      done={`Forgetting ${site}`}
      onConfirm={() => onForget(site)}
    />
  );
}
