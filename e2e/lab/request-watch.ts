export interface WatchedRequest {
  readonly method: string;
  readonly path: string;
  readonly host: string;
  readonly webSocket: boolean;
}

const HEAD_LIMIT = 64 * 1024;

/**
 * Reads request heads off the bytes a browser sends on one connection (RFC 9112), and nothing else.
 *
 * Stops at a WebSocket upgrade, at anything that is not HTTP/1.1, and at a chunked body.
 *
 * @returns a function that takes the bytes in order.
 */
export function watchRequests(onRequest: (request: WatchedRequest) => void): (data: Buffer) => void {
  let head: Buffer = Buffer.alloc(0);
  let bodyLeft = 0;
  let watching = true;

  return (data) => {
    let rest = data;
    while (watching && rest.length > 0) {
      if (bodyLeft > 0) {
        const skipped = Math.min(bodyLeft, rest.length);
        bodyLeft -= skipped;
        rest = rest.subarray(skipped);
        continue;
      }
      const before = head.length;
      head = Buffer.concat([head, rest]);
      const end = head.indexOf("\r\n\r\n");
      if (end === -1) {
        watching = head.length <= HEAD_LIMIT;
        return;
      }
      rest = rest.subarray(end + 4 - before);
      const text = head.subarray(0, end).toString("latin1");
      head = Buffer.alloc(0);
      readHead(text);
    }
  };

  function readHead(text: string): void {
    const [, method = "", path = ""] = /^([A-Z]+) (\S+) HTTP\/1\.1(?:\r\n|$)/.exec(text) ?? [];
    watching = method !== "";
    if (!watching) return;
    const field = (name: string): string => new RegExp(`^${name}: *(.*?) *$`, "im").exec(text)?.[1]?.trim() ?? "";
    const webSocket = field("upgrade").toLowerCase() === "websocket";
    onRequest({ method, path, host: field("host"), webSocket });
    bodyLeft = Number(field("content-length") || 0);
    watching = !webSocket && field("transfer-encoding") === "";
  }
}
