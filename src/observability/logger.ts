import { createLogger as createWinston, format, transports } from 'winston';
import type { Logger as WinstonLogger } from 'winston';

export const logLevels = ['error', 'warn', 'info', 'debug'] as const;
export type LogLevel = (typeof logLevels)[number];

export const logFormats = ['text', 'json'] as const;
export type LogFormat = (typeof logFormats)[number];

/** What goes with a message: values that JSON can hold, or Errors (logged with name, message, stack and cause). */
export type LogFields = Readonly<Record<string, unknown>> & {
  readonly time?: never;
  readonly level?: never;
  readonly message?: never;
};

/**
 * A structured logger. The message is constant text; everything that varies is a field, so that lines can be found and
 * counted. `time`, `level` and `message` are not for fields.
 */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** A logger whose lines carry these fields as well; the line's own win. */
  child(fields: LogFields): Logger;
}

export interface LoggerOptions {
  readonly level: LogLevel;
  /** text: one line for people; json: one object a line. */
  readonly format: LogFormat;
  /** Where lines go; process.stderr in a process, so that standard output stays the command's own. */
  readonly destination: NodeJS.WritableStream;
}

/** A logger over winston. */
export function createLogger(options: LoggerOptions): Logger {
  const winston = createWinston({
    level: options.level,
    levels: Object.fromEntries(logLevels.map((level, severity) => [level, severity])),
    format: format.combine(format.timestamp({ alias: 'time' }), options.format === 'json' ? jsonLine() : textLine()),
    transports: [new transports.Stream({ stream: options.destination, eol: '\n' })],
  });
  return new LeveledLogger(winston, {});
}

class LeveledLogger implements Logger {
  readonly #winston: WinstonLogger;
  readonly #fields: LogFields;

  constructor(winston: WinstonLogger, fields: LogFields) {
    this.#winston = winston;
    this.#fields = fields;
  }

  debug(message: string, fields?: LogFields): void {
    this.#log('debug', message, fields);
  }

  info(message: string, fields?: LogFields): void {
    this.#log('info', message, fields);
  }

  warn(message: string, fields?: LogFields): void {
    this.#log('warn', message, fields);
  }

  error(message: string, fields?: LogFields): void {
    this.#log('error', message, fields);
  }

  child(fields: LogFields): Logger {
    return new LeveledLogger(this.#winston, { ...this.#fields, ...fields });
  }

  #log(level: LogLevel, message: string, fields: LogFields | undefined): void {
    if (!this.#winston.isLevelEnabled(level)) return;
    // Under one key, because winston appends a top-level `message` field to the message itself.
    this.#winston.log(level, message, { fields: { ...this.#fields, ...fields } });
  }
}

interface Line {
  readonly time: string;
  readonly level: string;
  readonly message: string;
  readonly fields: LogFields;
}

const jsonLine = (): ReturnType<typeof format.printf> =>
  format.printf((info) => {
    const { time, level, message, fields } = info as unknown as Line;
    return stringify({ ...fields, time, level, message });
  });

const textLine = (): ReturnType<typeof format.printf> =>
  format.printf((info) => {
    const { time, level, message, fields } = info as unknown as Line;
    const parts = Object.entries(fields).map(([key, value]) => ` ${key}=${asText(value)}`);
    return `${time} ${level.toUpperCase().padEnd(5)} ${message}${parts.join('')}`;
  });

function asText(value: unknown): string {
  if (typeof value === 'string') return /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value);
  return value instanceof Error ? JSON.stringify(describeError(value)) : stringify(value);
}

function stringify(value: unknown): string {
  try {
    return JSON.stringify(value, plain) ?? 'undefined';
  } catch (error) {
    // A line must never be the reason why a process fails.
    return JSON.stringify(`not loggable: ${describeError(error)}`);
  }
}

function plain(_key: string, value: unknown): unknown {
  if (value instanceof Error) {
    return { name: value.name, message: value.message, stack: value.stack, cause: value.cause };
  }
  return typeof value === 'bigint' ? value.toString() : value;
}

/** `name: message`, and those of the causes; for people. */
export function describeError(error: unknown): string {
  const parts: string[] = [];
  for (let current = error; current !== undefined && parts.length < 5;) {
    if (!(current instanceof Error)) {
      parts.push(typeof current === 'string' ? current : stringify(current));
      break;
    }
    parts.push(`${current.name}: ${current.message}`);
    current = current.cause;
  }
  return parts.join(', caused by ');
}
