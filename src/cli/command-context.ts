import type { Clock } from '../base/clock.ts';
import type { Random } from '../base/random.ts';
import type { Interruption } from './interruption.ts';

/** A stream to write to, which may be a terminal. */
export type OutputStream = NodeJS.WritableStream & {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
};

/** A terminal that keys come from. */
export type InputStream = Pick<NodeJS.ReadStream, 'setRawMode' | 'on' | 'off' | 'pause'>;

/** What a command has of the process it runs in. */
export interface CommandContext {
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  /** Undefined where it is no terminal. */
  readonly keyboard: InputStream | undefined;
  /** Reads standard input to its end, as text. */
  readonly readInput: () => Promise<string>;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly interruption: Interruption;
  readonly clock: Clock;
  readonly random: Random;
  /** Called when the process exits, however it does; must be synchronous. */
  readonly onExit: (callback: () => void) => void;
}
