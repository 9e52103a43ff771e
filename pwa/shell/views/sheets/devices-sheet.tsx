import { useEffect, useState } from "preact/hooks";
import { Sheet } from "./sheet.tsx";

declare global {
  interface Window {
    /** Path of the script; the build puts it here. */
    readonly __DEVICES: string;
  }
}

type Chunk = typeof import("../devices/devices-chunk.tsx");

/** @param attempt counted from 0: engines remember that a script could not be had, by its address. */
export function loadDevices(attempt: number): Promise<Chunk> {
  return import(attempt === 0 ? self.__DEVICES : `${self.__DEVICES}?${attempt}`);
}

/** The paired devices. What is in it is loaded when it is opened. */
export function DevicesSheet({ onClose }: { onClose: () => void }) {
  const [chunk, setChunk] = useState<Chunk | null>(null);
  const [attempt, setAttempt] = useState(0);
  const [hasFailed, setFailed] = useState(false);
  useEffect(() => {
    setFailed(false);
    loadDevices(attempt).then(setChunk, () => setFailed(true));
  }, [attempt]);
  return (
    <Sheet title="Devices" onClose={onClose}>
      {chunk?.showDevices()}
      {hasFailed && (
        <button type="button" class="button" onClick={() => setAttempt(attempt + 1)}>
          Not there yet. Try again
        </button>
      )}
    </Sheet>
  );
}
