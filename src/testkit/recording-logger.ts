import type { LogFields, Logger, LogLevel } from '../observability/logger.ts';

/** A log line. */
export interface LogLine {
  readonly level: LogLevel;
  readonly message: string;
  /** Lines of a plugin have its name in the field `plugin`. */
  readonly fields: LogFields;
}

/** A logger that records its lines. */
export class RecordingLogger implements Logger {
  readonly lines: LogLine[];
  readonly #fields: LogFields;

  constructor(lines: LogLine[] = [], fields: LogFields = {}) {
    this.lines = lines;
    this.#fields = fields;
  }

  debug(message: string, fields?: LogFields): void {
    this.#record('debug', message, fields);
  }

  info(message: string, fields?: LogFields): void {
    this.#record('info', message, fields);
  }

  warn(message: string, fields?: LogFields): void {
    this.#record('warn', message, fields);
  }

  error(message: string, fields?: LogFields): void {
    this.#record('error', message, fields);
  }

  child(fields: LogFields): Logger {
    return new RecordingLogger(this.lines, { ...this.#fields, ...fields });
  }

  #record(level: LogLevel, message: string, fields: LogFields = {}): void {
    this.lines.push({ level, message, fields: { ...this.#fields, ...fields } });
  }
}
