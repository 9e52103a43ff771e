/**
 * What both sides enforce, or PROTOCOL.md names as `limits.name`. Each comment says the unit, who enforces it, and why
 * this value. Limits of one side stand beside the code that enforces them. Import as `* as limits`.
 */

const KIB = 1024;
const MIB = 1024 * KIB;

/**
 * Bytes (receiver): one WebSocket message; workerd takes 32 MiB, a phone on 2G should never wait behind one that long.
 */
export const messageBytes = 256 * KIB;

/** Bytes (sender): a batch is cut here, so that an urgent frame waits behind at most this much. */
export const batchBytes = 32 * KIB;

/** Bytes (sender): batches before the peer's credit tells how fast the link is: 40 ms at 1.6 Mbit/s, 1.6 s on GPRS. */
export const firstBatchBytes = 8 * KIB;

/**
 * Bytes (sender): so much of a body is sent before later ones of its urgency; above nearly all scripts, styles and
 * images.
 */
export const orderedBodyBytes = 128 * KIB;

/** Bytes (receiver): largest frame payload; DATA is cut at batchBytes, heads need more. */
export const framePayloadBytes = 64 * KIB;

/** Bytes (receiver): encoded size of one head; servers commonly refuse more than 16 to 32 KiB. */
export const headBytes = 48 * KIB;

/** Bytes (receiver): decoded size of one head as RFC 9113 section 6.5.2 counts it (name + value + 32). */
export const headListBytes = 64 * KIB;

/** Count (receiver): field lines in one head; bounds what many tiny fields can cost. */
export const headFields = 256;

/** Bytes (both): dynamic table; two of them must fit a hibernated socket's 16,384-byte attachment. */
export const hpackTableBytes = 4096;

/** Count (edge): sockets of one session: as many connections as a browser opens to one host. */
export const channels = 6;

/** Count (receiver): open streams of one session; large pages have 100 to 200 requests in flight. */
export const concurrentStreams = 256;

/** Bytes (sender): initial credit of one stream, and most before it is read; the product of 14 Mbit/s at 600 ms. */
export const streamCreditBytes = 1 * MIB;

/**
 * Bytes (phone): what the phone sets as a stream's initial credit: every stream may have it unread, and nearly all need
 * less.
 */
export const firstStreamCreditBytes = 128 * KIB;

/**
 * Bytes (phone): what all streams share beyond the credit that each begins with. A quarter is sessionCreditBytes:
 * enough for one stream that is read alone.
 */
export const pooledCreditBytes = 16 * MIB;

/**
 * Bytes (phone): unread and on their way at most, all streams: pooledCreditBytes and firstStreamCreditBytes of each
 * stream.
 */
export const unreadBytes = 48 * MIB;

/**
 * Count (receiver): pieces of bodies of a session that nobody has read, however short: 300 bytes of memory each, so 5
 * MB.
 */
export const unreadPieces = 16_384;

/** Bytes (receiver): on their way to the phone at most, all streams: 54 Mbit/s at 600 ms. */
export const sessionCreditBytes = 4 * MIB;

/** Bytes (sender): initial credit of a session, both ways: two fresh TCP windows, 6.5 s at 40 kbit/s. */
export const initialSessionCreditBytes = 32 * KIB;

/**
 * Bytes (receiver): credit of a session once a round trip was below longRoundTrip: six fresh TCP windows, 0.8 s at 1
 * Mbit/s.
 */
export const grownSessionCreditBytes = 96 * KIB;

/**
 * Milliseconds (both): links with longer ones are slow until they have shown otherwise: 2G is at 800, satellites at
 * 600.
 */
export const longRoundTrip = 700;

/** Bytes (receiver): a session's credit never follows a slow link below this: 40 kbit/s at 800 ms. */
export const leastSessionCreditBytes = 4 * KIB;

/** Bytes (sender): initial credit of one upload; 2 Mbit/s at 1 s RTT. */
export const uploadStreamCreditBytes = 256 * KIB;

/** Bytes (receiver): on their way to the edge at most; 14 Mbit/s at 600 ms. */
export const uploadSessionCreditBytes = 1 * MIB;

/**
 * Bytes (edge): unread and on their way at most, all streams: what six uploads hold that were read and are not any more
 * (socket servers that stop reading). The edge has 128 MB for all sessions of an object.
 */
export const uploadUnreadBytes = 4 * MIB;

/** Bytes (edge): what all uploads share beyond the credit that each begins with. A quarter brings one to uploadSessionCreditBytes. */
export const pooledUploadCreditBytes = 3 * MIB;

/** Bytes (receiver): no window may grow beyond this (RFC 9113 section 6.9.1). */
export const creditBytes = 2 ** 31 - 1;

/**
 * Bytes (sender): unacknowledged frames of a session kept for a resume; above the largest credit plus heads in flight.
 */
export const retainedBytes = 12 * MIB;

/**
 * Milliseconds (phone): without a stream for so long, all that came is acknowledged: until then the edge keeps it,
 * awake.
 */
export const restTime = 500;

/** Milliseconds (edge): how long a session without a socket waits for its phone; tunnels and lifts are shorter. */
export const sessionLinger = 120_000;

/** Count (edge): windows of the app plus sessions that wait for their phone; each may hold retainedBytes. */
export const sessionsPerPhone = 8;

/**
 * Milliseconds (edge): without a word for two keep-alives a session at rest may be dead: it gives way at
 * sessionsPerPhone.
 */
export const silentSessionTime = 50_000;

/**
 * Bytes (both): frames in the handshake: with base64 and the token a field below 4 KiB, which servers and proxies let
 * pass.
 */
export const openingBytes = 2_880;

/** Milliseconds (phone): after this long a request that must not run twice is not repeated: half of sentLogTime. */
export const repeatWindow = 1_800_000;

/**
 * Milliseconds (edge): how long a phone whose session is refused has to hear so and close; several round trips of GPRS.
 */
export const refusalTime = 10_000;

/** Milliseconds (edge): how long the edge remembers that it sent a request which must not run twice. */
export const sentLogTime = 3_600_000;

/** Count (edge): such requests remembered per phone, oldest dropped first; more than one a second for an hour. */
export const sentLogEntries = 4_096;

/**
 * Bytes (edge): shorter bodies say nothing of how they could go on: 20 to 50 bytes of a head for one message of a body.
 */
export const resumableBodyBytes = 16 * KIB;

/**
 * Milliseconds (phone): wait after a second refusal, doubled each time: a lost link with word of what was given up may
 * be back then.
 */
export const refusedDelay = 500;

/**
 * Bytes (sender): above this much unacknowledged no DATA is sent: the rest of retainedBytes is for heads, resets and
 * credit.
 */
export const retainedDataBytes = 8 * MIB;

/**
 * Bytes (sender): what one kept frame counts beyond its own bytes, so that many tiny ones cannot cost more than
 * retainedBytes.
 */
export const retainedFrameBytes = 160;

/** Count (receiver): entries of one SETTINGS; three are known, and each may touch every stream. */
export const settingsEntries = 16;

/**
 * Bytes (both): deflated bytes decoded before the consumer is waited for; deflate grows at most 1,032 fold, so 1 MiB a
 * step.
 */
export const inflateStepBytes = 1 * KIB;

/** Bytes (receiver): one POST of the fetch road: half of an upload's session credit, and above messageBytes. */
export const fetchBatchBytes = 512 * KIB;

/**
 * Bytes (sender): what one end of a fetch road, or a WebSocket on Deno, queues for a slow link; above retainedBytes, so
 * credit rules.
 */
export const fetchQueueBytes = 16 * MIB;

/**
 * Bytes (edge): sent to a session without a PONG that proves it read, before DATA stops: twice sessionCreditBytes,
 * since credit is given again for what may be stuck.
 */
export const unprovedBytes = 8 * MIB;

/**
 * Bytes (edge): the same for all sockets of a phone, those that were given up too. Above it the edge ends all that it
 * has of the phone.
 */
export const unprovedBytesPerPhone = 48 * MIB;

/**
 * Bytes (edge): sent on a socket between two PINGs that ask for such a PONG: 12 bytes each, small beside unprovedBytes.
 */
export const proofStepBytes = 512 * KIB;

/** Count (edge): fetch roads of one phone: as sessionsPerPhone; beyond it the one that was silent longest is closed. */
export const fetchSocketsPerPhone = 8;

/**
 * Milliseconds (edge): without a POST for this long the phone is gone: three keep-alives; a proxy may hold its response
 * open.
 */
export const fetchIdleTime = 90_000;

/**
 * Milliseconds (phone): a WebSocket that is not open by then gets the fetch road beside it; later where round trips are
 * long.
 */
export const webSocketPatience = 1_000;

/**
 * Count (receiver): pieces of one body kept because one before them is on a slower channel; 5.6 MB of the smallest that
 * pay.
 */
export const earlyPieces = 4_096;

/**
 * Count (receiver): pieces of a session kept because the heads of their streams are on slower channels; as earlyPieces.
 */
export const strayPieces = 4_096;

/**
 * Bytes (edge): a link with this credit is fast enough to fill a first segment: 1.4 KB take 7 ms on 3G, 290 ms on GPRS.
 */
export const filledLinkBytes = 64 * KIB;

/** Count (edge): resources of one document that are pushed; large pages name 100 to 200. */
export const pushesPerDocument = 256;

/**
 * Count (edge): HELLOs of other channels on one link of channel 0. Each makes the edge send again all that it keeps of
 * the channel, which takes a millisecond.
 */
export const carriedHellos = 2_000;

/** Count (both): open pushes of one session, and pushes on the phone that nobody has claimed; as pushesPerDocument. */
export const concurrentPushes = 256;

/** Bytes (sender): initial credit of a push: what one may send before the page asks for it; 3.4 Mbit/s at 600 ms. */
export const pushCreditBytes = 256 * KIB;

/**
 * Bytes (phone): of all pushes that no page has asked for yet. Enough for what large pages name; a small part of
 * unreadBytes.
 */
export const unclaimedPushBytes = 2 * MIB;

/**
 * Milliseconds (phone): how long a push waits for its page: a document of 150 KB takes 30 s on GPRS before its end is
 * parsed.
 */
export const unclaimedPushTime = 60_000;

/** Milliseconds (phone): how long the fetch road is used on a network before WebSocket is tried again. */
export const webSocketRetryTime = 300_000;

/** Bytes (receiver): one record of a page's socket: so much of a message is of use to nobody before the rest. */
export const socketRecordBytes = 64 * KIB;

/** Bytes (receiver): one message of a page's socket, whole: as long as Cloudflare's workers take. */
export const socketMessageBytes = 32 * MIB;
