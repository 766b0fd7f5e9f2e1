import { UserError } from './user-error.ts';

const unknownAddress = 'this machine does not have the address';
const problems: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is in use',
  EACCES: 'this user may not open the port',
  EADDRNOTAVAIL: unknownAddress,
  ENOTFOUND: unknownAddress,
  EAI_AGAIN: unknownAddress,
};

/** The address and port to serve on are unavailable. The message names them and a remedy. */
export class PortUnavailableError extends UserError {
  override readonly name = 'PortUnavailableError';
  readonly host: string;
  readonly port: number;

  constructor(host: string, port: number, flag: string, cause: NodeJS.ErrnoException) {
    const problem = problems[cause.code ?? ''] ?? cause.message;
    const remedy =
      problem === unknownAddress
        ? 'Choose an address of this machine, such as 127.0.0.1, or 0.0.0.0 for all addresses'
        : `Choose another port with ${flag}`;
    super(`cannot serve on ${host}, port ${port}: ${problem}. ${remedy}`, { cause });
    this.host = host;
    this.port = port;
  }
}
