/** What framing adds to a message, by the formats alone: RFC 6455 section 5.2 and `shared/PROTOCOL.md` section 2.2. */

/** H_S of the paper: bytes of a WebSocket frame's header from the server. @param payload bytes. */
export function serverHeader(payload: number): number {
  if (payload <= 125) return 2;
  return payload <= 65_535 ? 4 : 10;
}

/** H_C: as from the server, and the mask's key. */
export function clientHeader(payload: number): number {
  return serverHeader(payload) + 4;
}

/** Of a DATA frame of Ropeway: type, stream id, length. */
export function dataFrameHeader(streamId: number, payload: number): number {
  return 1 + varintLength(streamId) + varintLength(payload);
}

/**
 * All headers of a body that Ropeway sends as DATA frames, each a WebSocket message of its own.
 *
 * @param piece bytes of body in each but the last.
 */
export function ropewayOverhead(
  payload: number,
  options: { streamId: number; piece: number; masked: boolean },
): number {
  let overhead = 0;
  for (let left = payload; left > 0; left -= options.piece) {
    const size = Math.min(left, options.piece);
    const header = dataFrameHeader(options.streamId, size);
    overhead += header + (options.masked ? clientHeader : serverHeader)(header + size);
  }
  return overhead;
}

/** O_P of the paper, in percent. */
export function relativeOverhead(overhead: number, payload: number): number {
  return (100 * overhead) / payload;
}

/** RFC 9000 section 16. */
function varintLength(value: number): number {
  if (value < 2 ** 6) return 1;
  if (value < 2 ** 14) return 2;
  return value < 2 ** 30 ? 4 : 8;
}
