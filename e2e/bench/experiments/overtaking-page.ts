/** What experiment F does in its page. Each function with a `Frame` runs something there, the same for all contestants. */
import type { Frame } from "@playwright/test";

interface Download {
  bytes: number;
  /** Why it ended by itself; null while it goes on. */
  ended: string | null;
  abort(): void;
}

declare global {
  interface Window {
    download?: Download;
  }
}

export interface DownloadState {
  readonly bytes: number;
  /** Why it ended by itself; null while it goes on. */
  readonly ended: string | null;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** Asks for a stylesheet, as a link element does. @returns milliseconds until it is in force. */
export function askForStyle(frame: Frame, path: string): Promise<number> {
  return frame.evaluate(
    (href) =>
      new Promise<number>((resolve, reject) => {
        const link = document.createElement("link");
        link.rel = "stylesheet";
        link.href = href;
        const asked = performance.now();
        link.onload = () => resolve(performance.now() - asked);
        link.onerror = () => reject(new Error(`Cannot load ${href}`));
        document.head.append(link);
      }),
    path,
  );
}

/** Starts a download whose bytes are read as they come, and thrown away. */
export function startDownload(frame: Frame, path: string): Promise<void> {
  return frame.evaluate((url) => {
    const controller = new AbortController();
    const download: Download = { bytes: 0, ended: null, abort: () => controller.abort() };
    window.download = download;
    const read = async (): Promise<void> => {
      const response = await fetch(url, { signal: controller.signal });
      if (!response.ok) throw new Error(`status ${response.status}`);
      const reader = response.body?.getReader();
      for (let part = await reader?.read(); part?.value !== undefined; part = await reader?.read()) {
        download.bytes += part.value.length;
      }
      download.ended = "it is complete";
    };
    read().catch((error: unknown) => {
      download.ended = String(error);
    });
  }, path);
}

export function downloadState(frame: Frame): Promise<DownloadState> {
  return frame.evaluate(() => {
    const { bytes = 0, ended = null } = window.download ?? {};
    return { bytes, ended, at: performance.timeOrigin + performance.now() };
  });
}

/** Aborts the download. @returns when, in milliseconds since 1970. */
export function abortDownload(frame: Frame): Promise<number> {
  return frame.evaluate(() => {
    const at = performance.timeOrigin + performance.now();
    window.download?.abort();
    return at;
  });
}
