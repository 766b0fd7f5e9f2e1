/**
 * How long a test waits for what must happen and does not say when, in milliseconds. It is there to end tests that hang, with
 * words of what is missing: nothing may pass or fail by how fast the machine is.
 */
export const hangsMs = 60_000;
