/**
 * What one client, or all of them, can take of a server. Far more than probes, scrapes and people with curl need.
 */
export const httpLimits = {
  /** Open at a time, half-made ones included; more are closed as they come. */
  connections: 256,
  /** The same from one address, so that one client cannot keep others out. */
  connectionsOfOneAddress: 64,
  headerBytes: 16 * 1024,
  targetCharacters: 2_048,
  /** Nothing is done with a body; a small one is passed over, a larger one rejected. */
  bodyBytes: 16 * 1024,
  requestsOfOneConnection: 1_000,
  /** Requests a second, and at once, that are handed on to the thread that schedules; others wait for their turn. */
  handedOnPerSecond: 500,
  handedOnAtOnce: 50,
  /** Milliseconds: for the TLS handshake. */
  handshakeMs: 10_000,
  /** For all headers to come. */
  headersMs: 10_000,
  /** For the whole request, its body included. */
  requestMs: 15_000,
  /** For the client to take the answer, from when it was asked for. */
  answerMs: 30_000,
  /** That a connection is kept for another request; longer than most scrape intervals. */
  keepAliveMs: 65_000,
  /** That the thread that schedules may take to answer, from when it was asked. */
  mainThreadMs: 10_000,
  /** How often the above are looked at. */
  checkEveryMs: 1_000,
} as const;
