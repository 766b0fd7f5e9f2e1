import { createLogger as createWinston, format, transports } from 'winston';
import type { Logger as WinstonLogger } from 'winston';
import { redactedText, safeText } from '../base/safe-text.ts';

export const logLevels = ['error', 'warn', 'info', 'debug'] as const;
export type LogLevel = (typeof logLevels)[number];

export const logFormats = ['text', 'json'] as const;
export type LogFormat = (typeof logFormats)[number];

/** Fields of a line: JSON values, or Errors (logged with name, message, stack and cause). */
export type LogFields = Readonly<Record<string, unknown>> & {
  readonly time?: never;
  readonly level?: never;
  readonly message?: never;
};

/**
 * A structured logger. The message is constant text and everything variable is a field, so that lines can be found and counted.
 * `time`, `level` and `message` are reserved. Every line passes through `safeText`, and long texts in fields are cut. Fields named `…Ms` are
 * rounded to whole milliseconds.
 */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** Returns a logger whose lines also carry these fields; the fields of a line take precedence. */
  child(fields: LogFields): Logger;
}

export interface LoggerOptions {
  readonly level: LogLevel;
  /** text: one line for people; json: one object per line. */
  readonly format: LogFormat;
  /** Output stream: process.stderr in a process, so that standard output belongs to the command. */
  readonly destination: NodeJS.WritableStream;
}

/** Creates a logger based on winston. */
export function createLogger(options: LoggerOptions): Logger {
  const toLine = options.format === 'json' ? jsonLine : textLine;
  const winston = createWinston({
    level: options.level,
    levels: Object.fromEntries(logLevels.map((level, severity) => [level, severity])),
    // A single format: each additional one copies or rescans every line.
    format: format.printf((info) => toLine(info as unknown as Line)),
    transports: [new transports.Stream({ stream: options.destination, eol: '\n' })],
  });
  return new LeveledLogger(winston, logLevels.indexOf(options.level), {});
}

class LeveledLogger implements Logger {
  readonly #winston: WinstonLogger;
  /** Index of the last enabled level; asking winston would check each of its transports. */
  readonly #last: number;
  readonly #fields: LogFields;

  constructor(winston: WinstonLogger, last: number, fields: LogFields) {
    this.#winston = winston;
    this.#last = last;
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
    return new LeveledLogger(this.#winston, this.#last, { ...this.#fields, ...fields });
  }

  #log(level: LogLevel, message: string, fields: LogFields | undefined): void {
    if (logLevels.indexOf(level) > this.#last) return;
    const line: Line = { level, message, fields: { ...this.#fields, ...fields } };
    this.#winston.log(line);
  }
}

/** The record that passes through winston. The fields have their own key, so that none replaces what winston reads. */
interface Line {
  readonly level: LogLevel;
  readonly message: string;
  readonly fields: LogFields;
}

function jsonLine({ level, message, fields }: Line): string {
  return safeText(stringify({ ...fields, time: now(), level, message }));
}

function textLine({ level, message, fields }: Line): string {
  let text = `${now()} ${level.toUpperCase().padEnd(5)} ${message}`;
  for (const [key, value] of Object.entries(fields)) text += ` ${key}=${asText(key, value)}`;
  return safeText(text);
}

function now(): string {
  return new Date().toISOString();
}

function asText(key: string, value: unknown): string {
  if (value instanceof Error) return JSON.stringify(describeError(value));
  const shown = plain(key, value);
  return typeof value === 'string' && /^[^\s"=]+$/.test(value) ? String(shown) : stringify(shown);
}

function stringify(value: unknown): string {
  try {
    return JSON.stringify(value, plain) ?? 'undefined';
  } catch (error) {
    // A log line must never make a process fail.
    return JSON.stringify(`not loggable: ${describeError(error)}`);
  }
}

function plain(key: string, value: unknown): unknown {
  if (value instanceof Error) return plainError(value);
  if (typeof value === 'string') return redactedText(value, maxTextLength);
  if (typeof value === 'number' && /ms$/i.test(key)) return Math.round(value);
  return typeof value === 'bigint' ? value.toString() : value;
}

/** Converts an error to an object for JSON; the stack does not repeat the message. */
function plainError(error: Error): unknown {
  return linksOf(error).reduceRight<unknown>((cause, { error: link, text }) => {
    if (!(link instanceof Error)) return text;
    // The stack begins with the message, which can contain lines that look like frames.
    const frames = link.stack
      ?.replace(link.message, '')
      .split('\n')
      .filter((line) => /^\s+at /.test(line));
    return { name: link.name, message: text, stack: frames?.join('\n'), ...(cause !== undefined && { cause }) };
  }, undefined);
}

/** Returns `name: message` of an error and of those causes that add information; for people. */
export function describeError(error: unknown): string {
  return linksOf(error)
    .map(({ error: link, text }) => (link instanceof Error ? `${link.name}: ${text}` : text))
    .join(', caused by ');
}

/** An error of a chain of causes, and its message. */
interface Link {
  readonly error: unknown;
  readonly text: string;
}

const maxChainLength = 8;
/** Maximum length of a text in a field. Users of the cluster can make names and messages as long as an object. */
const maxTextLength = 4_096;

/** Returns the error and those of its causes that add information: many errors only repeat the message of their cause. */
function linksOf(error: unknown): readonly Link[] {
  const links: Link[] = [];
  let current = error;
  for (let depth = 0; current !== undefined && depth < maxChainLength; depth++) {
    const isError = current instanceof Error;
    const full = isError ? (current as Error).message : typeof current === 'string' ? current : stringify(current);
    const text = redactedText(full, maxTextLength);
    const isNew = text !== '' && !links.some((link) => link.text.includes(text));
    if (links.length === 0 || isNew) links.push({ error: current, text });
    if (!isError) break;
    // After several addresses failed, the first failure represents all.
    const { cause } = current as Error;
    current = cause ?? (current instanceof AggregateError ? (current.errors as unknown[])[0] : undefined);
  }
  return links;
}
