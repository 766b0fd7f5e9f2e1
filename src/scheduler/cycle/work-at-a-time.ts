/**
 * How much of one attempt a process does at a time, in looks at a node and questions to a plugin about one: then sockets, probes and
 * the Lease have their turn.
 */
export const workAtATime = 50_000;
