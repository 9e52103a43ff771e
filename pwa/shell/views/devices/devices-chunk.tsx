/** Entry of the script of the devices' sheet, which the sheets load when it is opened. */
import { DeviceRequests } from "../../link/device-requests.ts";
import { storedToken } from "../../link/pairing.ts";
import { renewToken } from "../../link/token-renewal.ts";
import { Devices } from "./devices.tsx";

/** Has this device's token renewed where it is time. */
export function renew(): void {
  void renewToken(localStorage, navigator.locks ?? null, Date.now);
}

/** What is in the sheet. */
export function showDevices() {
  return <Devices requests={new DeviceRequests(storedToken(localStorage) ?? "")} />;
}
