import type { LogFields, Logger, LogLevel } from '../observability/logger.ts';

/** A line that somebody logged. */
export interface LogLine {
  readonly level: LogLevel;
  readonly message: string;
  /** Those of a plugin have its name as `plugin`. */
  readonly fields: LogFields;
}

/** A logger that keeps its lines. */
export class KeptLines implements Logger {
  readonly lines: LogLine[];
  readonly #fields: LogFields;

  constructor(lines: LogLine[] = [], fields: LogFields = {}) {
    this.lines = lines;
    this.#fields = fields;
  }

  debug(message: string, fields?: LogFields): void {
    this.#keep('debug', message, fields);
  }

  info(message: string, fields?: LogFields): void {
    this.#keep('info', message, fields);
  }

  warn(message: string, fields?: LogFields): void {
    this.#keep('warn', message, fields);
  }

  error(message: string, fields?: LogFields): void {
    this.#keep('error', message, fields);
  }

  child(fields: LogFields): Logger {
    return new KeptLines(this.lines, { ...this.#fields, ...fields });
  }

  #keep(level: LogLevel, message: string, fields: LogFields = {}): void {
    this.lines.push({ level, message, fields: { ...this.#fields, ...fields } });
  }
}
