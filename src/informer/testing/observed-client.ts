import type { KubeClient } from '../../client/kube-client.ts';

type Client = Pick<KubeClient, 'list' | 'watch'>;

/** A reflector's client that counts its calls. Without a call in flight, the reflector waits out a backoff. */
export class ObservedClient implements Client {
  readonly #client: Client;
  #inFlight = 0;
  #chunks = 0;

  constructor(client: Client) {
    this.#client = client;
  }

  /** Number of lists and watches in flight. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** Number of watch chunks that the reflector received. */
  get chunks(): number {
    return this.#chunks;
  }

  async list(...parameters: Parameters<Client['list']>): ReturnType<Client['list']> {
    this.#inFlight++;
    try {
      return await this.#client.list(...parameters);
    } finally {
      this.#inFlight--;
    }
  }

  async watch(...parameters: Parameters<Client['watch']>): ReturnType<Client['watch']> {
    this.#inFlight++;
    try {
      return this.#observe(await this.#client.watch(...parameters));
    } catch (error) {
      this.#inFlight--;
      throw error;
    }
  }

  async *#observe(body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
    try {
      for await (const chunk of body) {
        this.#chunks++;
        yield chunk;
      }
    } finally {
      this.#inFlight--;
    }
  }
}
