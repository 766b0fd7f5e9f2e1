const problems: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another process has it',
  EACCES: 'this user may not open it',
  EADDRNOTAVAIL: 'the address is not one of this machine',
};

/** The port to serve on cannot be had. The message names it and the flag that chooses another. */
export class PortUnavailableError extends Error {
  override readonly name = 'PortUnavailableError';
  readonly host: string;
  readonly port: number;

  constructor(host: string, port: number, flag: string, cause: NodeJS.ErrnoException) {
    const problem = problems[cause.code ?? ''] ?? cause.message;
    super(`cannot serve on ${host}, port ${port}: ${problem}. Choose another port with ${flag} (0 for any free one)`, {
      cause,
    });
    this.host = host;
    this.port = port;
  }
}
