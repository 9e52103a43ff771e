/** Entry of the script of the list of downloads, which the sheets load when it is opened, or with the first file. */

import { useEffect, useRef, useState } from "preact/hooks";
import {
  DOWNLOADS_DIRECTORY,
  type Download,
  type DownloadQuestion,
  siteName,
} from "../../../messages/tunnel-messages.ts";
import { reasonText, t } from "../../app/language.ts";
import type { PhoneOptions } from "../../app/phone.ts";
import { Openings } from "../../tab/openings.ts";
import { formatBytes, shortHost } from "../parts/format.ts";
import { Host } from "../parts/icons.tsx";

type Order = (DownloadQuestion & { kind: "download" })["order"];

/** Sites that have begun a file with no tap of the person since the last tap there: one, as browsers let them. */
const untapped = new Set<string>();

/** How often the list was opened: it has all that news before then have told. */
let looks = 0;

/** Milliseconds that the news is shown that a file comes. */
const NEWS_TIME = 6_000;

/** A file has begun, or is over. */
export function hear(download: Download, { tunnel, app }: PhoneOptions): void {
  const { id, topLevelOrigin, state } = download;
  const order = (order: Order) => void tunnel.askStore({ kind: "download", id, order });
  let isOver = false;
  const before = looks;
  const tell = (why: string, offers: readonly (readonly [string, () => void])[] = []) =>
    app.notify({ kind: "download", why, offers }, () => isOver || looks !== before);
  // The name's own direction stays within it.
  const name = `\u2068${download.name}\u2069`;
  const site = shortHost(topLevelOrigin);
  switch (state.kind) {
    case "asked": {
      // A tap in a page is one in the app, too (HTML section 6.4.2). Where a browser tells of none, each file counts as tapped.
      if (mayBegin(siteName(topLevelOrigin), navigator.userActivation?.isActive ?? true)) return order("resume");
      order("ask");
      return tell(t("{site} wants to download {name}, too", { site, name }), [[t("Allow"), () => order("resume")]]);
    }
    case "running":
      setTimeout(() => {
        isOver = true;
        app.draw();
      }, NEWS_TIME);
      return tell(t("Downloading {name}", { name }));
    case "done":
      return tell(t("{name} is downloaded", { name }), [[t("Save to phone"), () => void save(download)]]);
    case "failed":
      return tell(`${name}: ${whyText(download, state)}`);
  }
}

/** Files that sites have begun of late by a tap: a tap counts for seconds, in which a page could begin any number. */
const byTap = new Openings();

/** Whether a file comes unasked: a few after a tap, and one without. */
export function mayBegin(site: string, hasTap: boolean): boolean {
  const isFirst = !untapped.has(site);
  const isTapped = hasTap && !byTap.areEnough;
  if (isTapped) byTap.count(performance.now());
  if (isTapped) untapped.delete(site);
  else untapped.add(site);
  return isTapped || isFirst;
}

/** As its site sent it, and on the phone. */
async function fileOf({ id }: Download): Promise<File> {
  const root = await navigator.storage.getDirectory();
  const directory = await root.getDirectoryHandle(DOWNLOADS_DIRECTORY);
  return (await directory.getFileHandle(id)).getFile();
}

/** Milliseconds after which a browser has surely begun to read what it saves. */
const READING_TIME = 60_000;

/**
 * Into the browser's own downloads, and so past the app: no file of a site is ever shown as a document of the app's origin.
 *
 * @returns whether the file is there.
 */
async function save(download: Download): Promise<boolean> {
  const file = await fileOf(download).catch(() => null);
  if (file === null) return false;
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([file], { type: "application/octet-stream" }));
  link.download = download.name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), READING_TIME);
  return true;
}

function maySave(): boolean {
  return "getDirectory" in (navigator.storage ?? {});
}

function mayShare({ name, type }: Download): boolean {
  return navigator.canShare?.({ files: [new File([], name, { type })] }) === true;
}

/** A share that the person cancels rejects; there is nothing to say about it. */
async function share(download: Download): Promise<boolean> {
  const file = await fileOf(download).catch(() => null);
  if (file === null) return false;
  const { name, type } = download;
  await navigator.share({ files: [new File([file], name, { type })] }).catch(() => {});
  return true;
}

/** The content of the sheet. @param onOpen opens a file in a tab; null where pages run no scripts, nor the app's viewers. */
export function showDownloads({ tunnel, app }: PhoneOptions, onOpen: ((download: Download) => void) | null) {
  return <Downloads tunnel={tunnel} app={app} onOpen={onOpen} />;
}

/** Milliseconds between looks at what is on its way. */
const LOOK_TIME = 1_000;

type DownloadsProps = Pick<PhoneOptions, "tunnel" | "app"> & Pick<RowProps, "onOpen">;

function Downloads({ tunnel, app, onOpen }: DownloadsProps) {
  const [all, setAll] = useState<readonly Download[] | null>(null);
  const [unread, setUnread] = useState("");
  const [lost, setLost] = useState("");
  const rates = useRef(new Map<string, Rate>());
  const look = async () => {
    const found = await tunnel.askStore({ kind: "downloads" });
    setAll(found ?? []);
    setUnread(
      found !== null ? "" : maySave() ? t("The list cannot be had now") : t("This browser gives the app no files"),
    );
    for (const { id, bytes } of found ?? []) rates.current.set(id, nextRate(rates.current.get(id), bytes, Date.now()));
  };
  useEffect(() => {
    looks += 1;
    app.draw();
    void look();
    const timer = setInterval(() => document.visibilityState === "visible" && void look(), LOOK_TIME);
    return () => clearInterval(timer);
  }, []);
  const order = (id: string, order: Order) => void tunnel.askStore({ kind: "download", id, order }).then(look);
  const hand = (handed: Promise<boolean>) =>
    void handed.then((isThere) => setLost(isThere ? "" : t("The file is not on this phone any more")));
  if (all === null) return <p class="fine">{t("Looking…")}</p>;
  const why = lost || unread;
  return (
    <>
      {why !== "" && (
        <p class="problem" role="alert">
          {why}
        </p>
      )}
      {all.length === 0 && <p class="fine">{t("Files of more than 1 MB that sites send come here.")}</p>}
      <ul class="downloads">
        {all.map((download) => (
          <Row
            key={download.id}
            download={download}
            rate={rates.current.get(download.id)?.perSecond ?? 0}
            onOrder={(chosen) => order(download.id, chosen)}
            onHand={hand}
            onOpen={onOpen}
          />
        ))}
      </ul>
      {all.length > 0 && <p class="fine">{t("They stay in the app until you save or delete them.")}</p>}
    </>
  );
}

interface RowProps {
  readonly download: Download;
  readonly rate: number;
  readonly onOrder: (order: Order) => void;
  readonly onHand: (handed: Promise<boolean>) => void;
  readonly onOpen: ((download: Download) => void) | null;
}

function Row(props: RowProps) {
  const { download, rate } = props;
  const { name, state, size, bytes } = download;
  const isOnItsWay = state.kind === "running" || state.kind === "waiting" || state.kind === "paused";
  return (
    <li class="download">
      <bdi class="download-name">{name}</bdi>
      <Host className="row-hint" url={download.url} />
      {isOnItsWay && <progress aria-label={name} max={size ?? 1} value={size === null ? undefined : bytes} />}
      <span class={state.kind === "failed" ? "problem" : "fine"}>{stateText(download, rate)}</span>
      <div class="actions">
        {buttonsOf(props).map(([label, act]) => (
          <button
            key={label}
            type="button"
            class="text-button"
            aria-label={t("{action} {name}", { action: label, name })}
            onClick={act}
          >
            {label}
          </button>
        ))}
      </div>
    </li>
  );
}

type Button = readonly [label: string, act: () => void];

function buttonsOf({ download, onOrder, onHand, onOpen }: RowProps): readonly Button[] {
  const remove = (label: string): Button => [label, () => onOrder("delete")];
  const resume = (label: string): Button => [label, () => onOrder("resume")];
  switch (download.state.kind) {
    case "running":
    case "waiting":
      return [[t("Pause"), () => onOrder("pause")], remove(t("Cancel"))];
    case "paused":
      return [resume(t("Resume")), remove(t("Cancel"))];
    case "failed":
      return [resume(t("Try again")), remove(t("Delete"))];
    case "asked":
      return [resume(t("Allow")), remove(t("Delete"))];
    case "done":
      return [
        ...(download.isShown && onOpen !== null ? [[t("Open"), () => onOpen(download)] as const] : []),
        [t("Save"), () => onHand(save(download))],
        ...(mayShare(download) ? [[t("Share"), () => onHand(share(download))] as const] : []),
        remove(t("Delete")),
      ];
  }
}

/** How fast a file comes. */
export interface Rate {
  readonly bytes: number;
  /** Milliseconds. */
  readonly at: number;
  /** Bytes; 0 while nobody knows. */
  readonly perSecond: number;
}

/** Part of the rate that the latest look makes: rates of mobile links jump. */
const LATEST = 0.3;

export function nextRate(former: Rate | undefined, bytes: number, now: number): Rate {
  if (former === undefined || now <= former.at || bytes < former.bytes) return { bytes, at: now, perSecond: 0 };
  const latest = ((bytes - former.bytes) * 1_000) / (now - former.at);
  const perSecond = former.perSecond === 0 ? latest : LATEST * latest + (1 - LATEST) * former.perSecond;
  return { bytes, at: now, perSecond };
}

/** @param rate bytes in a second. */
export function stateText({ state, size, bytes, type, isAnew, mayGoOn }: Download, rate: number): string {
  const had = formatBytes(bytes);
  const part = size === null ? had : t("{part} of {size}", { part: had, size: formatBytes(size) });
  const anew = isAnew ? t("Begun anew: its site has another file now, or cannot send a part") : "";
  switch (state.kind) {
    case "asked":
      return said(size === null ? "" : formatBytes(size), t("The site began it with no tap of yours"));
    case "running": {
      const speed = rate > 0 ? listed(part, t("{size}/s", { size: formatBytes(rate) })) : part;
      const isTold = rate > 0 && size !== null;
      const left = isTold ? listed(speed, t("{time} left", { time: timeText((size - bytes) / rate) })) : speed;
      return said(left, anew || (mayGoOn ? "" : t("Begins anew if the app is closed")));
    }
    case "waiting":
      return said(listed(part, t("waits for the link")), anew);
    case "paused":
      return said(listed(part, t("paused")), mayGoOn ? "" : t("It will begin anew"));
    case "failed":
      return whyText({ size }, state);
    case "done":
      return said(listed(had, type), anew);
  }
}

function whyText({ size }: Pick<Download, "size">, failed: Download["state"] & { kind: "failed" }): string {
  const { why, status = "", room = 0 } = failed;
  const said = t(why, { status: String(status), size: formatBytes(size ?? 0), room: formatBytes(room) });
  return said === why ? reasonText(why) : said;
}

function listed(first: string, second: string): string {
  return t("{first}, {second}", { first, second });
}

/** Sentences of which one may be empty. */
function said(first: string, second: string): string {
  return first === "" || second === "" ? first + second : t("{first}. {second}", { first, second });
}

function timeText(seconds: number): string {
  if (seconds < 60) return t("{count} s", { count: Math.max(1, Math.round(seconds)) });
  if (seconds < 3_600) return t("{count} min", { count: Math.round(seconds / 60) });
  return t("{count} h", { count: Math.round(seconds / 360) / 10 });
}
