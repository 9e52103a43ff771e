/**
 * Credit is given back by no less, and what waited for it leaves as one frame: with its header, WebSocket's and those of
 * the two TLS records that workerd makes of a message it fits a TCP segment of 1,448 bytes.
 */
export const CREDIT_STEP_BYTES = 1376;
/** Parts of the window that are given back at once: much less than the tenth by which it is above the product. */
export const CREDIT_STEPS = 16;
/** Or, where that is less for each of several channels, what the link carries in so many ms, but no larger parts. */
export const CREDIT_STEP_TIME = 5;
