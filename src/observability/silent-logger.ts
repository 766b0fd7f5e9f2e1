import type { Logger } from './logger.ts';

function nothing(): void {
  // Deliberately empty.
}

/** A logger that writes nothing. */
export const silentLogger: Logger = {
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
  child: () => silentLogger,
};
