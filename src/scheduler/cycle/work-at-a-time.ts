/**
 * Maximum work of one attempt before other tasks run, in node checks and plugin calls about one node. Sockets, probes and the
 * Lease then get their turn.
 */
export const workAtATime = 50_000;
