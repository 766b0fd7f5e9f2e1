import type { Socket } from 'node:net';

export interface ConnectionLimits {
  /** Maximum number of open connections. */
  readonly connections: number;
  /** Maximum number of open connections of one address. */
  readonly connectionsOfOneAddress: number;
}

interface OpenConnection {
  readonly socket: Socket;
  /** As returned by `clientOf`. */
  readonly client: string;
  readonly address: string;
  /** Whether a request is in progress. */
  isBusy: boolean;
}

/**
 * The open connections of a server, including those without a finished TLS handshake. If there is no slot for a new connection, another one
 * is closed for it: the one that has been idle longest, among those of the addresses with the most connections. So an address with few
 * connections always gets a slot, however many connections other addresses hold.
 */
export class OpenConnections implements Iterable<Socket> {
  readonly #limits: ConnectionLimits;
  /** address and port of the client -> its connection. Those that are idle or busy for the longest time come first. */
  readonly #byClient = new Map<string, OpenConnection>();
  /** address -> number of its open connections */
  readonly #counts = new Map<string, number>();

  constructor(limits: ConnectionLimits) {
    this.#limits = limits;
  }

  *[Symbol.iterator](): Iterator<Socket> {
    for (const { socket } of this.#byClient.values()) yield socket;
  }

  /** Adds a new connection until it closes. Closes it at once if its address has the most connections and all of them are busy. */
  add(socket: Socket): void {
    const { remoteAddress: address } = socket;
    if (address === undefined || !this.#freeSlotFor(address)) {
      socket.destroy();
      return;
    }
    const connection = { socket, client: clientOf(socket), address, isBusy: false };
    this.#byClient.set(connection.client, connection);
    this.#counts.set(address, this.#countOf(address) + 1);
    socket.once('close', () => this.#remove(connection));
  }

  /** Records the start or the end of a request. With TLS, the socket may also be the TLS socket of the connection. */
  setBusy(socket: Socket, isBusy: boolean): void {
    const connection = this.#byClient.get(clientOf(socket));
    if (connection === undefined) return;
    connection.isBusy = isBusy;
    this.#byClient.delete(connection.client);
    this.#byClient.set(connection.client, connection);
  }

  /** Returns whether there is a slot for a connection from this address, after it has closed another one if necessary. */
  #freeSlotFor(address: string): boolean {
    const { connections, connectionsOfOneAddress } = this.#limits;
    const own = this.#countOf(address);
    if (own < connectionsOfOneAddress && this.#byClient.size < connections) return true;
    const most = Math.max(...this.#counts.values());
    const isAmongHeaviest = own === most || own >= connectionsOfOneAddress;
    const yielding = isAmongHeaviest
      ? this.#firstOf((other) => other.address === address && !other.isBusy)
      : (this.#firstOf((other) => this.#countOf(other.address) === most && !other.isBusy) ??
        this.#firstOf((other) => this.#countOf(other.address) === most));
    if (yielding === undefined) return false;
    yielding.socket.destroy();
    this.#remove(yielding);
    return true;
  }

  #firstOf(condition: (connection: OpenConnection) => boolean): OpenConnection | undefined {
    for (const connection of this.#byClient.values()) if (condition(connection)) return connection;
    return undefined;
  }

  #remove(connection: OpenConnection): void {
    if (this.#byClient.get(connection.client) !== connection) return;
    this.#byClient.delete(connection.client);
    const left = this.#countOf(connection.address) - 1;
    if (left > 0) this.#counts.set(connection.address, left);
    else this.#counts.delete(connection.address);
  }

  #countOf(address: string): number {
    return this.#counts.get(address) ?? 0;
  }
}

/** Returns a key that a connection shares with its TLS socket. */
function clientOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
