import type { Clock } from '../base/clock.ts';
import type { Random } from '../base/random.ts';
import type { Interruption } from './interruption.ts';

/** An output stream, which can be a terminal. */
export type OutputStream = NodeJS.WritableStream & {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
};

/** A terminal that keys are read from. */
export type InputStream = Pick<NodeJS.ReadStream, 'setRawMode' | 'on' | 'off' | 'pause'>;

/** The parts of the process that a command uses. */
export interface CommandContext {
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  /** Undefined if standard input is not a terminal. */
  readonly keyboard: InputStream | undefined;
  /** Reads standard input to its end, as text. */
  readonly readInput: () => Promise<string>;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly interruption: Interruption;
  readonly clock: Clock;
  readonly random: Random;
  /** Registers a callback that runs however the process exits. It must be synchronous. */
  readonly onExit: (callback: () => void) => void;
}
