/**
 * Least credit that is given back at once. What waited for it leaves as one frame. With the headers of the frame, of
 * WebSocket and of the two TLS records that workerd makes of a message, that fits a TCP segment of 1,448 bytes.
 */
export const CREDIT_STEP_BYTES = 1376;
/** The window is given back in so many increments, since the peer cuts its messages by them... */
export const CREDIT_STEPS = 16;
/** ...and each of several channels gets a part of one, but not less than the link carries in so many ms. */
export const CREDIT_STEP_TIME = 8;
/**
 * Increments go in one message, once so small a part of the window is owed: each message is work for both ends, and
 * answered.
 */
export const CREDIT_BATCHES = 12;
/**
 * The same while arrivals grow. A connection that starts sends a burst for each message: with longer ones there would
 * be pauses in between, and what is held back would be missing from the next burst.
 */
export const EARLY_CREDIT_BATCHES = 32;
