/** Databases and late scripts, asked for again where the browser could not give them, or has taken them away. */

/**
 * @param ask asks the browser for a database.
 * @returns gives the database, and opens it again where that failed, or the browser has closed it.
 */
export function databaseOpener(ask: () => IDBOpenDBRequest): () => Promise<IDBDatabase> {
  let opened: Promise<IDBDatabase> | null = null;
  const open = async () => answered(ask());
  return () => {
    if (opened !== null) return opened;
    const opening = open().catch(open);
    const forget = () => {
      if (opened === opening) opened = null;
    };
    opened = opening;
    opening.then((database) => {
      database.onclose = forget;
      // A window of a later release may change it.
      database.onversionchange = () => {
        forget();
        database.close();
      };
    }, forget);
    return opening;
  };
}

export function answered<Result>(request: IDBRequest<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/** Settles when the transaction is written; rejects where nothing was. */
export function committed(transaction: IDBTransaction): Promise<void> {
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error);
  });
}

/** How often a script could not be had, by its path. */
const failures = new Map<string, number>();

/**
 * Loads a script. An engine may remember an address as failed, so each further try has another query, which the app's
 * service worker ignores.
 *
 * @param load as `import` does.
 */
export async function importAgain<Module>(
  path: string,
  load: (address: string) => Promise<unknown> = (address) => import(address),
): Promise<Module> {
  const count = failures.get(path) ?? 0;
  try {
    return (await load(count === 0 ? path : `${path}?${count}`)) as Module;
  } catch (error) {
    failures.set(path, count + 1);
    throw error;
  }
}
