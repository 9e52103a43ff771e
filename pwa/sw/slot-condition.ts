/** What has to be known of a host of a list before another origin may have it (decision 30). */
import type { SlotCondition } from "../messages/slot-condition.ts";

declare const self: ServiceWorkerGlobalScope;

/** What no browser grants without a question. */
const ASKED_FOR =
  "camera clipboard-read geolocation idle-detection local-fonts microphone midi notifications window-management";

/** @param askerId client that asks. @param isBusy something is under way for a page, which may be there no more. */
export async function slotCondition(askerId: string, isBusy: boolean): Promise<SlotCondition> {
  // Also clients without a worker: a page could have unregistered it.
  const clients = await self.clients.matchAll({ type: "all", includeUncontrolled: true });
  const isAlone = !isBusy && clients.every(({ id }) => id === askerId);
  return { isAlone, permissions: await grantedPermissions(self.navigator.permissions) };
}

async function grantedPermissions(permissions: Permissions): Promise<readonly string[]> {
  const states = await Promise.all(
    ASKED_FOR.split(" ").map(async (name) => {
      // A browser without such a thing has no name for it.
      const status = await permissions.query({ name: name as PermissionName }).catch(() => null);
      return { name, isGranted: status?.state === "granted" };
    }),
  );
  return states.filter(({ isGranted }) => isGranted).map(({ name }) => name);
}
