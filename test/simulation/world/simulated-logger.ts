import type { LogFields, Logger } from '../../../src/observability/logger.ts';

/** Passes each line to `write`, to inspect one run; without it, discards them. `informed` gets the lines of level info. */
export function simulatedLogger(
  informed: (message: string, fields: LogFields) => void,
  write?: (line: string) => void,
): Logger {
  const log = (level: string) =>
    write === undefined
      ? () => undefined
      : (message: string, fields?: LogFields) => write(`${level} ${message} ${describe(fields)}`);
  const logger: Logger = {
    debug: log('debug'),
    info: (message, fields = {}) => {
      informed(message, fields);
      write?.(`info ${message} ${describe(fields)}`);
    },
    warn: log('warn'),
    error: log('error'),
    child: () => logger,
  };
  return logger;
}

function describe(fields: LogFields | undefined): string {
  return JSON.stringify(fields ?? {}, (_key, value: unknown) => (value instanceof Error ? value.message : value));
}
