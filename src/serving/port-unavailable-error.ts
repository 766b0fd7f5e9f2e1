import { UserError } from '../base/user-error.ts';

const notOurs = 'the address is not one of this machine';
const problems: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another process has it',
  EACCES: 'this user may not open it',
  EADDRNOTAVAIL: notOurs,
  ENOTFOUND: notOurs,
  EAI_AGAIN: notOurs,
};

/** The address and port to serve on cannot be had. The message names them and what to choose instead. */
export class PortUnavailableError extends UserError {
  override readonly name = 'PortUnavailableError';
  readonly host: string;
  readonly port: number;

  constructor(host: string, port: number, flag: string, cause: NodeJS.ErrnoException) {
    const problem = problems[cause.code ?? ''] ?? cause.message;
    const remedy =
      problem === notOurs
        ? 'Choose one that is, such as 127.0.0.1, or 0.0.0.0 for all of them'
        : `Choose another port with ${flag}`;
    super(`cannot serve on ${host}, port ${port}: ${problem}. ${remedy}`, { cause });
    this.host = host;
    this.port = port;
  }
}
