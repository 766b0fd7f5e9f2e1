import process from 'node:process';

/** Prints a measurement to standard error, where the developer sees it. */
export function report(line: string): void {
  process.stderr.write(`real plane: ${line}\n`);
}
