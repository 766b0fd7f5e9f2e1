import type { LogFields, Logger, LogLevel } from '../../src/observability/logger.ts';
import { poll } from '../planes/poll.ts';
import { hangsMs } from '../planes/patience.ts';

export interface LogLine {
  readonly level: LogLevel;
  readonly message: string;
  readonly fields: LogFields;
}

/** A logger that keeps its lines, so that a test can read what an operator would. */
export class LogLines implements Logger {
  readonly lines: LogLine[] = [];
  /** Messages of errors that the scenario causes on purpose. */
  readonly expected: string[] = [];

  /** Resolves with the first line, past or future, for which `matches` holds. */
  async until(matches: (line: LogLine) => boolean, withinMs: number = hangsMs): Promise<void> {
    const check = async (): Promise<string | undefined> =>
      this.lines.some(matches) ? undefined : `the last of ${this.lines.length} is ${JSON.stringify(this.lines.at(-1))}`;
    await poll(check, 'a log line', withinMs);
  }

  /** Returns lines logged as errors, except about an unreachable API server, or as failures of one of our own handlers. */
  internalErrors(): string[] {
    const isInternal = ({ level, message, fields }: LogLine): boolean =>
      (level === 'error' && !message.startsWith('cannot reach the API server')) || fields.kind === 'handler';
    const isUnexpected = ({ message }: LogLine): boolean => !this.expected.some((start) => message.startsWith(start));
    return this.lines
      .filter((line) => isInternal(line) && isUnexpected(line))
      .map((line) => `logged: ${JSON.stringify(line)}`);
  }

  debug(message: string, fields: LogFields = {}): void {
    this.lines.push({ level: 'debug', message, fields });
  }

  info(message: string, fields: LogFields = {}): void {
    this.lines.push({ level: 'info', message, fields });
  }

  warn(message: string, fields: LogFields = {}): void {
    this.lines.push({ level: 'warn', message, fields });
  }

  error(message: string, fields: LogFields = {}): void {
    this.lines.push({ level: 'error', message, fields });
  }

  child(): Logger {
    return this;
  }
}
