/**
 * Credit is given back by no less, and what waited for it leaves as one frame: with its header, WebSocket's and those of
 * the two TLS records that workerd makes of a message it fits a TCP segment of 1,448 bytes.
 */
export const CREDIT_STEP_BYTES = 1376;
/** An increment is such a part of the window, since the peer cuts its messages by it... */
export const CREDIT_STEPS = 16;
/** ...or, where that is less for each of several channels, what the link carries in so many ms, but no larger part. */
export const CREDIT_STEP_TIME = 8;
/** Increments go in one message, once such a part of the window is owed: messages are work for both, and answered. */
export const CREDIT_BATCHES = 12;
/**
 * The same while arrivals grow. Connections that start send by it, in bursts: longer ones would look like pauses between,
 * and what is held back is missing from the next.
 */
export const EARLY_CREDIT_BATCHES = 32;
