import type { KubeClient } from '../../client/kube-client.ts';

type Client = Pick<KubeClient, 'list' | 'watch'>;

/** A reflector's client that knows whether it is being used: where it is not, the reflector waits out a back-off. */
export class ObservedClient implements Client {
  readonly #client: Client;
  #underWay = 0;
  #chunks = 0;

  constructor(client: Client) {
    this.#client = client;
  }

  /** Lists that are not answered and watches that have not ended. */
  get underWay(): number {
    return this.#underWay;
  }

  /** Pieces of watches that the reflector was given. */
  get chunks(): number {
    return this.#chunks;
  }

  async list(...parameters: Parameters<Client['list']>): ReturnType<Client['list']> {
    this.#underWay++;
    try {
      return await this.#client.list(...parameters);
    } finally {
      this.#underWay--;
    }
  }

  async watch(...parameters: Parameters<Client['watch']>): ReturnType<Client['watch']> {
    this.#underWay++;
    try {
      return this.#observe(await this.#client.watch(...parameters));
    } catch (error) {
      this.#underWay--;
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
      this.#underWay--;
    }
  }
}
