/** As an edge of before 2026-12 issued it, to a new device. */
import { createHmac } from "node:crypto";
import { newDeviceId } from "../device-token.ts";

export function issueFormerToken(accessKey: string): string {
  const deviceId = newDeviceId();
  return `${deviceId}.${createHmac("sha256", accessKey).update(`ropeway device ${deviceId}`).digest("base64url")}`;
}
