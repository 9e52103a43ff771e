/**
 * Every limit and tunable of the product, in one place: value, unit, why this value, and which side enforces it.
 * `limits.name` is the number; `limitTable` is for documents and error messages.
 */
export interface LimitRow {
  readonly value: number;
  readonly unit: "bytes" | "count" | "ms" | "bits";
  readonly enforcedBy: "receiver" | "sender" | "edge" | "phone" | "both";
  readonly reason: string;
}

const KIB = 1024;
const MIB = 1024 * KIB;

export const limitTable = {
  messageBytes: {
    value: 256 * KIB,
    unit: "bytes",
    enforcedBy: "receiver",
    reason: "One WebSocket message; workerd takes 32 MiB, a phone on 2G should never wait behind one that long",
  },
  batchBytes: {
    value: 32 * KIB,
    unit: "bytes",
    enforcedBy: "sender",
    reason: "A batch is cut here, so that an urgent frame waits behind at most this much",
  },
  firstBatchBytes: {
    value: 8 * KIB,
    unit: "bytes",
    enforcedBy: "sender",
    reason: "Batches before the peer's credit tells how fast the link is: 40 ms at 1.6 Mbit/s, 1.6 s on GPRS",
  },
  orderedBodyBytes: {
    value: 128 * KIB,
    unit: "bytes",
    enforcedBy: "sender",
    reason: "So much of a body is sent before later ones of its urgency; above nearly all scripts, styles and images",
  },
  framePayloadBytes: {
    value: 64 * KIB,
    unit: "bytes",
    enforcedBy: "receiver",
    reason: "Largest frame payload; DATA is cut at batchBytes, heads need more",
  },
  headBytes: {
    value: 48 * KIB,
    unit: "bytes",
    enforcedBy: "receiver",
    reason: "Encoded size of one head; servers commonly refuse more than 16 to 32 KiB",
  },
  headListBytes: {
    value: 64 * KIB,
    unit: "bytes",
    enforcedBy: "receiver",
    reason: "Decoded size of one head as RFC 9113 section 6.5.2 counts it (name + value + 32)",
  },
  headFields: {
    value: 256,
    unit: "count",
    enforcedBy: "receiver",
    reason: "Field lines in one head; bounds what many tiny fields can cost",
  },
  originHeadBytes: {
    value: 256 * KIB,
    unit: "bytes",
    enforcedBy: "edge",
    reason: "A response head over HTTP/1 that Deno's fetch refused to read; as Chromium's",
  },
  hpackTableBytes: {
    value: 4096,
    unit: "bytes",
    enforcedBy: "both",
    reason: "Dynamic table; two of them must fit a hibernated socket's 16,384-byte attachment",
  },
  channels: {
    value: 6,
    unit: "count",
    enforcedBy: "edge",
    reason: "Sockets of one session: as many connections as a browser opens to one host",
  },
  concurrentStreams: {
    value: 256,
    unit: "count",
    enforcedBy: "receiver",
    reason: "Open streams of one session; large pages have 100 to 200 requests in flight",
  },
  streamCreditBytes: {
    value: 1 * MIB,
    unit: "bytes",
    enforcedBy: "sender",
    reason: "Initial credit of one stream, and most before it is read; the product of 14 Mbit/s at 600 ms",
  },
  firstStreamCreditBytes: {
    value: 128 * KIB,
    unit: "bytes",
    enforcedBy: "phone",
    reason:
      "What the phone sets as a stream's initial credit: every stream may have it unread, and nearly all need less",
  },
  pooledCreditBytes: {
    value: 16 * MIB,
    unit: "bytes",
    enforcedBy: "phone",
    reason:
      "Credit of all streams beyond their first; a quarter is sessionCreditBytes, for a stream that is read alone",
  },
  unreadBytes: {
    value: 48 * MIB,
    unit: "bytes",
    enforcedBy: "phone",
    reason: "Unread and on their way at most, all streams: pooledCreditBytes and firstStreamCreditBytes of each stream",
  },
  unreadPieces: {
    value: 16_384,
    unit: "count",
    enforcedBy: "receiver",
    reason: "Pieces of bodies of a session that nobody has read, however short: 300 bytes of memory each, so 5 MB",
  },
  sessionCreditBytes: {
    value: 4 * MIB,
    unit: "bytes",
    enforcedBy: "receiver",
    reason: "On their way to the phone at most, all streams: 54 Mbit/s at 600 ms",
  },
  initialSessionCreditBytes: {
    value: 32 * KIB,
    unit: "bytes",
    enforcedBy: "sender",
    reason: "Initial credit of a session, both ways: two fresh TCP windows, 6.5 s at 40 kbit/s",
  },
  grownSessionCreditBytes: {
    value: 96 * KIB,
    unit: "bytes",
    enforcedBy: "receiver",
    reason: "Credit of a session once a round trip was below longRoundTrip: six fresh TCP windows, 0.8 s at 1 Mbit/s",
  },
  longRoundTrip: {
    value: 700,
    unit: "ms",
    enforcedBy: "both",
    reason: "Links with longer ones are slow until they have shown otherwise: 2G is at 800, satellites at 600",
  },
  leastSessionCreditBytes: {
    value: 4 * KIB,
    unit: "bytes",
    enforcedBy: "receiver",
    reason: "A session's credit never follows a slow link below this: 40 kbit/s at 800 ms",
  },
  uploadStreamCreditBytes: {
    value: 256 * KIB,
    unit: "bytes",
    enforcedBy: "sender",
    reason: "Initial credit of one upload; 2 Mbit/s at 1 s RTT",
  },
  uploadSessionCreditBytes: {
    value: 1 * MIB,
    unit: "bytes",
    enforcedBy: "receiver",
    reason: "Unread and on their way to the edge at most; the edge has 128 MB for all sessions of an object",
  },
  creditBytes: {
    value: 2 ** 31 - 1,
    unit: "bytes",
    enforcedBy: "receiver",
    reason: "No window may grow beyond this (RFC 9113 section 6.9.1)",
  },
  pooledBuffers: {
    value: 64,
    unit: "count",
    enforcedBy: "sender",
    reason: "Frame buffers a channel keeps for reuse: 2 MiB, about what is unacknowledged on a fast link",
  },
  retainedBytes: {
    value: 12 * MIB,
    unit: "bytes",
    enforcedBy: "sender",
    reason: "Unacknowledged frames of a session kept for a resume; above the largest credit plus heads in flight",
  },
  restTime: {
    value: 500,
    unit: "ms",
    enforcedBy: "phone",
    reason: "Without a stream for so long, all that came is acknowledged: until then the edge keeps it, awake",
  },
  sessionLinger: {
    value: 120_000,
    unit: "ms",
    enforcedBy: "edge",
    reason: "How long a session without a socket waits for its phone; tunnels and lifts are shorter",
  },
  sessionsPerPhone: {
    value: 8,
    unit: "count",
    enforcedBy: "edge",
    reason: "Windows of the app plus sessions that wait for their phone; each may hold retainedBytes",
  },
  silentSessionTime: {
    value: 50_000,
    unit: "ms",
    enforcedBy: "edge",
    reason: "Without a word for two keep-alives a session at rest may be dead: it gives way at sessionsPerPhone",
  },
  navigationTimeout: {
    value: 30_000,
    unit: "ms",
    enforcedBy: "edge",
    reason: "From a GET for a document to its response head: somebody waits, and may safely ask again",
  },
  answerTimeout: {
    value: 290_000,
    unit: "ms",
    enforcedBy: "edge",
    reason:
      "The same for other requests, long polls and orders among them: below the 300 s of Chromium's sockets and of its " +
      "service workers' events, so that the phone hears of it",
  },
  socketOpenTimeout: {
    value: 20_000,
    unit: "ms",
    enforcedBy: "phone",
    reason: "WebSocket handshake; six round trips at GPRS's worst 3 s",
  },
  openingBytes: {
    value: 2_880,
    unit: "bytes",
    enforcedBy: "both",
    reason:
      "Frames in the handshake: with base64 and the token a field below 4 KiB, which servers and proxies let pass",
  },
  pingInterval: {
    value: 25_000,
    unit: "ms",
    enforcedBy: "phone",
    reason: "Under the 30 s after which many mobile NATs forget a silent flow",
  },
  probeTimeoutMin: {
    value: 3_000,
    unit: "ms",
    enforcedBy: "phone",
    reason: "No answer to a probe for less than this means nothing: a radio that slept takes 2 s to wake",
  },
  probeTimeoutMax: {
    value: 30_000,
    unit: "ms",
    enforcedBy: "phone",
    reason: "No traffic for this long after a probe means the link is dead, whatever its round trips were (GPRSWeb)",
  },
  uploadDrainTime: {
    value: 60_000,
    unit: "ms",
    enforcedBy: "phone",
    reason: "Most that a probe's answer may lag because an upload is queued before it; 1 MiB at 140 kbit/s",
  },
  socketOpenTimeoutMin: {
    value: 5_000,
    unit: "ms",
    enforcedBy: "phone",
    reason: "A handshake gets at least this: SYN sent again after 1 and 3 s, then three round trips",
  },
  waitTime: {
    value: 120_000,
    unit: "ms",
    enforcedBy: "phone",
    reason: "How long pages wait for a link that is gone, unless the person chose otherwise; equal to sessionLinger",
  },
  replayedBodyBytes: {
    value: 256 * KIB,
    unit: "bytes",
    enforcedBy: "phone",
    reason:
      "Request body kept on the phone until it is answered, to send it again in another session; forms are smaller",
  },
  replayedBodiesBytes: {
    value: 4 * MIB,
    unit: "bytes",
    enforcedBy: "phone",
    reason: "All such bodies together",
  },
  repeatWindow: {
    value: 1_800_000,
    unit: "ms",
    enforcedBy: "phone",
    reason: "After this long a request that must not run twice is not repeated: half of sentLogTime",
  },
  handshakeTime: {
    value: 5_000,
    unit: "ms",
    enforcedBy: "edge",
    reason: "From a handshake to its socket on Deno, no network in between: its client went if it takes as long",
  },
  refusalTime: {
    value: 10_000,
    unit: "ms",
    enforcedBy: "edge",
    reason: "How long a phone whose session is refused has to hear so and close; several round trips of GPRS",
  },
  sentLogTime: {
    value: 3_600_000,
    unit: "ms",
    enforcedBy: "edge",
    reason: "How long the edge remembers that it sent a request which must not run twice",
  },
  sentLogEntries: {
    value: 4_096,
    unit: "count",
    enforcedBy: "edge",
    reason: "Such requests remembered per phone, oldest dropped first; more than one a second for an hour",
  },
  resumableBodyBytes: {
    value: 16 * KIB,
    unit: "bytes",
    enforcedBy: "edge",
    reason: "Shorter bodies say nothing of how they could go on: 20 to 50 bytes of a head for one message of a body",
  },
  exchangeAttempts: {
    value: 4,
    unit: "count",
    enforcedBy: "phone",
    reason: "Sessions in which a safe request is tried before it fails, when edges lose sessions",
  },
  refusedAttempts: {
    value: 7,
    unit: "count",
    enforcedBy: "phone",
    reason: "Times that the edge may have no room for a request before it fails; with their waits half a minute",
  },
  refusedDelay: {
    value: 500,
    unit: "ms",
    enforcedBy: "phone",
    reason:
      "Wait after a second refusal, doubled each time: a lost link with word of what was given up may be back then",
  },
  reconnectDelayMax: {
    value: 15_000,
    unit: "ms",
    enforcedBy: "phone",
    reason: "Upper end of the backoff between attempts to reach the edge",
  },
  redirects: {
    value: 20,
    unit: "count",
    enforcedBy: "edge",
    reason: "Fetch section 4.4 step 5: a 21st redirect is a network error",
  },
  replayableBodyBytes: {
    value: 1 * MIB,
    unit: "bytes",
    enforcedBy: "edge",
    reason: "Request body kept for a 307 or 308; more cannot be sent again",
  },
  exchangesAwaitingHead: {
    value: 6,
    unit: "count",
    enforcedBy: "edge",
    reason: "Cloudflare's connections waiting for headers per invocation; beyond it the loopback entrypoint fetches",
  },
  cookiesPerSite: {
    value: 180,
    unit: "count",
    enforcedBy: "edge",
    reason: "Of one registrable domain in a partition: what browsers keep",
  },
  cookiesPerPartition: {
    value: 600,
    unit: "count",
    enforcedBy: "edge",
    reason: "Of a page's own site and all that it embeds; what is embedded gives way, the largest first",
  },
  attachmentBytes: {
    value: 16_384,
    unit: "bytes",
    enforcedBy: "edge",
    reason: "Cloudflare's limit on what a hibernated socket may carry",
  },
  heldResponseTime: {
    value: 30_000,
    unit: "ms",
    enforcedBy: "phone",
    reason: "How long a navigation started ahead waits for its slot to ask for it",
  },
  portCreditBytes: {
    value: 256 * KIB,
    unit: "bytes",
    enforcedBy: "sender",
    reason: "Body bytes between tunnel worker and service worker that the page has not read yet, per stream",
  },
  portBatchTime: {
    value: 8,
    unit: "ms",
    enforcedBy: "sender",
    reason:
      "What a service worker is told within this time goes in one message: each costs about 1 ms between processes",
  },
  portBatchBytes: {
    value: 128 * KIB,
    unit: "bytes",
    enforcedBy: "sender",
    reason: "Body bytes to a service worker that are worth a message of their own at once",
  },
  retainedBodiesBytes: {
    value: 8 * MIB,
    unit: "bytes",
    enforcedBy: "edge",
    reason: "Request bodies kept for replay by all exchanges of one object together; beyond it they only stream",
  },
  cookiePartitionBytes: {
    value: 60 * KIB,
    unit: "bytes",
    enforcedBy: "edge",
    reason: "Serialized cookies of one partition, shared as cookiesPerPartition; a value of Deno KV holds 64 KiB",
  },
  cookiePartitionsLoaded: {
    value: 64,
    unit: "count",
    enforcedBy: "edge",
    reason: "Partitions kept in memory; at cookiePartitionBytes each that is under 4 MiB",
  },
  transportSecurityHosts: {
    value: 256,
    unit: "count",
    enforcedBy: "edge",
    reason: "Hosts that want https: only, kept for one partition; at 90 bytes each below a value of Deno KV",
  },
  transportSecurityAge: {
    value: 2 * 365 * 24 * 3600 * 1000,
    unit: "ms",
    enforcedBy: "edge",
    reason: "Longest max-age of Strict-Transport-Security that is honoured; what the preload lists ask for at most",
  },
  cookieWriteDelay: {
    value: 250,
    unit: "ms",
    enforcedBy: "edge",
    reason: "Cookies set within this time are written together; one page load often sets dozens",
  },
  cookieRetryDelay: {
    value: 10_000,
    unit: "ms",
    enforcedBy: "edge",
    reason: "Cookies that could not be stored are tried again after this time: somebody makes room on a full disk",
  },
  cookieRetries: {
    value: 360,
    unit: "count",
    enforcedBy: "edge",
    reason: "Then only the next change tries again: what waits keeps a Durable Object in memory, here for an hour",
  },
  preflightAge: {
    value: 7_200_000,
    unit: "ms",
    enforcedBy: "edge",
    reason: "Longest Access-Control-Max-Age that is honoured; Chromium caps at two hours",
  },
  preflightEntries: {
    value: 512,
    unit: "count",
    enforcedBy: "edge",
    reason: "Preflight results kept in memory, oldest dropped first",
  },
  sniffedBytes: {
    value: KIB,
    unit: "bytes",
    enforcedBy: "edge",
    reason:
      "Of another origin's response, looked at before any of it goes to the phone; as opaque response blocking says",
  },
  knownMedia: {
    value: 256,
    unit: "count",
    enforcedBy: "edge",
    reason:
      "Addresses of other origins known to hold audio or video; one that was dropped costs a request more to seek in",
  },
  upstreamReadBytes: {
    value: 32 * KIB,
    unit: "bytes",
    enforcedBy: "edge",
    reason: "Buffer of one read from an origin; workerd hands out 4 KiB at a time without one, six times slower",
  },
  linkCodingMinBytes: {
    value: 200,
    unit: "bytes",
    enforcedBy: "edge",
    reason: "Bodies known to be shorter are sent as they are; deflate gains nothing there",
  },
  linkFlushDelay: {
    value: 5,
    unit: "ms",
    enforcedBy: "edge",
    reason: "How long compressed bytes wait for the origin's next chunk before they are flushed to the phone",
  },
  diagnosisTimeout: {
    value: 5_000,
    unit: "ms",
    enforcedBy: "edge",
    reason: "How long to probe why a fetch failed before saying that the platform does not tell",
  },
  retainedDataBytes: {
    value: 8 * MIB,
    unit: "bytes",
    enforcedBy: "sender",
    reason: "Above this much unacknowledged no DATA is sent: the rest of retainedBytes is for heads, resets and credit",
  },
  retainedFrameBytes: {
    value: 160,
    unit: "bytes",
    enforcedBy: "sender",
    reason:
      "What one kept frame counts beyond its own bytes, so that many tiny ones cannot cost more than retainedBytes",
  },
  settingsEntries: {
    value: 16,
    unit: "count",
    enforcedBy: "receiver",
    reason: "Entries of one SETTINGS; three are known, and each may touch every stream",
  },
  inflateStepBytes: {
    value: 1 * KIB,
    unit: "bytes",
    enforcedBy: "both",
    reason:
      "Deflated bytes decoded before the consumer is waited for; deflate grows at most 1,032 fold, so 1 MiB a step",
  },
  verifiedTokensKept: {
    value: 1_000,
    unit: "count",
    enforcedBy: "edge",
    reason: "Device tokens that are not verified again, least used dropped first: more than a household has phones",
  },
  concurrentLookups: {
    value: 16,
    unit: "count",
    enforcedBy: "edge",
    reason:
      "Name lookups at a time on Deno, all there are: each may block one of its 32 threads until the resolver gives up",
  },
  concurrentLookupsPerPhone: {
    value: 12,
    unit: "count",
    enforcedBy: "edge",
    reason: "Of concurrentLookups: a page that asks for slow names leaves the other phones some",
  },
  lookupTimeout: {
    value: 20_000,
    unit: "ms",
    enforcedBy: "edge",
    reason: "Until a name is looked up, the wait for a place included; a resolver gives up after 10 s a server",
  },
  connectionAttemptDelay: {
    value: 250,
    unit: "ms",
    enforcedBy: "edge",
    reason: "Until the next address of a name is tried beside those before (RFC 8305 section 5), on Deno",
  },
  lookupKeptTime: {
    value: 5_000,
    unit: "ms",
    enforcedBy: "edge",
    reason: "A page's requests for one host come within seconds, and connections are kept; few names change as fast",
  },
  lookupsKept: {
    value: 512,
    unit: "count",
    enforcedBy: "edge",
    reason: "Names whose addresses are kept so long, oldest dropped first; a page has up to 100 hosts",
  },
  fetchBatchBytes: {
    value: 512 * KIB,
    unit: "bytes",
    enforcedBy: "receiver",
    reason: "One POST of the fetch road: half of an upload's session credit, and above messageBytes",
  },
  fetchQueueBytes: {
    value: 16 * MIB,
    unit: "bytes",
    enforcedBy: "sender",
    reason:
      "What one end of a fetch road, or a WebSocket on Deno, queues for a slow link; above retainedBytes, so credit rules",
  },
  wrongKeysPerAddress: {
    value: 10,
    unit: "count",
    enforcedBy: "edge",
    reason: "Wrong access keys of one address before it is not listened to: more than a person mistypes",
  },
  wrongKeyTime: {
    value: 30_000,
    unit: "ms",
    enforcedBy: "edge",
    reason: "After so long one of them is forgiven: two guesses a minute, at 128 bits",
  },
  unprovedBytes: {
    value: 8 * MIB,
    unit: "bytes",
    enforcedBy: "edge",
    reason:
      "Sent to a session without a PONG that proves it read, before DATA stops: twice sessionCreditBytes, since credit is " +
      "given again for what may be stuck",
  },
  unprovedBytesPerPhone: {
    value: 48 * MIB,
    unit: "bytes",
    enforcedBy: "edge",
    reason:
      "The same of all sockets of a phone, those that were given up too: beyond it the edge ends what it has of it",
  },
  proofStepBytes: {
    value: 512 * KIB,
    unit: "bytes",
    enforcedBy: "edge",
    reason: "Sent on a socket between two PINGs that ask for such a PONG: 12 bytes each, small beside unprovedBytes",
  },
  fetchSocketsPerPhone: {
    value: 8,
    unit: "count",
    enforcedBy: "edge",
    reason: "Fetch roads of one phone: as sessionsPerPhone; beyond it the one that was silent longest is closed",
  },
  fetchIdleTime: {
    value: 90_000,
    unit: "ms",
    enforcedBy: "edge",
    reason: "Without a POST for this long the phone is gone: three keep-alives; a proxy may hold its response open",
  },
  webSocketPatience: {
    value: 1_000,
    unit: "ms",
    enforcedBy: "phone",
    reason: "A WebSocket that is not open by then gets the fetch road beside it; later where round trips are long",
  },
  earlyPieces: {
    value: 4_096,
    unit: "count",
    enforcedBy: "receiver",
    reason: "Pieces of one body kept because one before them is on a slower channel; 5.6 MB of the smallest that pay",
  },
  strayPieces: {
    value: 4_096,
    unit: "count",
    enforcedBy: "receiver",
    reason: "Pieces of a session kept because the heads of their streams are on slower channels; as earlyPieces",
  },
  filledLinkBytes: {
    value: 64 * KIB,
    unit: "bytes",
    enforcedBy: "edge",
    reason: "Credit of a link on which what fills a first segment costs little: 1.4 KB are 7 ms of 3G, 290 of GPRS",
  },
  gatherTime: {
    value: 3,
    unit: "ms",
    enforcedBy: "edge",
    reason: "What a session says within it goes in one message: each costs a phone tasks in three processes",
  },
  furtherLinkIdleTime: {
    value: 120_000,
    unit: "ms",
    enforcedBy: "phone",
    reason:
      "A session's sockets beyond the first are closed when nothing was asked for so long: about one page's reading",
  },
  pushesPerDocument: {
    value: 256,
    unit: "count",
    enforcedBy: "edge",
    reason: "Resources of one document that are pushed; large pages name 100 to 200",
  },
  carriedHellos: {
    value: 2_000,
    unit: "count",
    enforcedBy: "edge",
    reason: "Of channels on one link of channel 0: each makes the edge send again what it keeps, a millisecond's work",
  },
  concurrentPushes: {
    value: 256,
    unit: "count",
    enforcedBy: "both",
    reason: "Open pushes of one session, and pushes on the phone that nobody has claimed; as pushesPerDocument",
  },
  pushCreditBytes: {
    value: 256 * KIB,
    unit: "bytes",
    enforcedBy: "sender",
    reason: "Initial credit of a push: what one may send before the page asks for it; 3.4 Mbit/s at 600 ms",
  },
  unclaimedPushBytes: {
    value: 2 * MIB,
    unit: "bytes",
    enforcedBy: "phone",
    reason: "Pushed and not asked for, all together: what some pages name, and little of unreadBytes",
  },
  unclaimedPushTime: {
    value: 60_000,
    unit: "ms",
    enforcedBy: "phone",
    reason: "How long a push waits for its page: a document of 150 KB takes 30 s on GPRS before its end is parsed",
  },
  deliveredResources: {
    value: 256,
    unit: "count",
    enforcedBy: "edge",
    reason: "Resources that the edge takes a phone's pages to keep; 8 bytes each of a hibernated socket's attachment",
  },
  scannedDocumentBytes: {
    value: 1 * MIB,
    unit: "bytes",
    enforcedBy: "edge",
    reason: "So much of a document is looked through for resources; hardly one is longer",
  },
  frameSlotsPerSite: {
    value: 64,
    unit: "count",
    enforcedBy: "phone",
    reason:
      "Slots of other origins' frames in one site's pages, oldest dropped first: a page asks for them as it likes",
  },
  frameSlots: {
    value: 512,
    unit: "count",
    enforcedBy: "phone",
    reason: "Those of all sites: some 100 bytes each, at worst 600, of the 5 MiB that a browser lets the app store",
  },
  webSocketRetryTime: {
    value: 300_000,
    unit: "ms",
    enforcedBy: "phone",
    reason: "How long the fetch road is used on a network before WebSocket is tried again",
  },
} as const satisfies Record<string, LimitRow>;

type LimitName = keyof typeof limitTable;

/** The values alone, by name. */
export const limits = Object.fromEntries(Object.entries(limitTable).map(([name, row]) => [name, row.value])) as {
  readonly [Name in LimitName]: number;
};
