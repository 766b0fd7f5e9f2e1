/** Limits for one client or for all of them. They are far above what probes, scrapes and users with curl need. */
export const httpLimits = {
  /** Open connections, including incomplete ones. A further one takes the slot of another one, see OpenConnections. */
  connections: 256,
  /** Open connections per address. */
  connectionsOfOneAddress: 64,
  headerBytes: 16 * 1024,
  targetCharacters: 2_048,
  /** The server ignores bodies: it discards a small one and rejects a larger one. */
  bodyBytes: 16 * 1024,
  requestsOfOneConnection: 1_000,
  /** Requests per second, and burst, that are forwarded to the scheduling thread; others wait. */
  forwardedPerSecond: 500,
  forwardedAtOnce: 50,
  /** Timeouts in milliseconds: of the TLS handshake. */
  handshakeMs: 10_000,
  /** Of all headers. */
  headersMs: 10_000,
  /** Of the whole request, including its body. */
  requestMs: 15_000,
  /** Of the response, from the request until the client has received it. */
  answerMs: 30_000,
  /** Of one text of a stream, until the client has received it. */
  streamStallMs: 600_000,
  /** How often a stream sends a comment, so that the client and what is in between see that it lives. */
  streamCommentMs: 15_000,
  /** Bytes that may wait for one client of a stream, besides the text that is being sent. */
  streamBufferBytes: 1024 * 1024,
  /** Of an idle connection. A probe or a scrape opens its own connection, so idle ones are worth little. */
  keepAliveMs: 5_000,
  /** Of the scheduling thread, from the request until its response. */
  mainThreadMs: 10_000,
  /** How often the timeouts are checked. */
  checkEveryMs: 1_000,
} as const;
