import { Buffer } from 'node:buffer';
import { monotonicNow } from '../monotonic-now.ts';

/** As much of a watch event as matters here. */
interface PodEvent {
  readonly type: string;
  readonly object: {
    readonly metadata?: { readonly name: string; readonly resourceVersion: string };
    readonly spec?: { readonly nodeName?: string };
    readonly message?: string;
  };
}

interface SeenPod {
  readonly createdAt: number;
  boundAt: number | undefined;
}

const newline = 0x0a;

/** Opens a watch of the pods from this resource version on, and gives its body. */
export type OpenPodWatch = (resourceVersion: string) => Promise<AsyncIterable<Uint8Array>>;

/** What a watch of pods has told, each time being when the event came in. */
export class PodWatch {
  /** pod name -> when it was first seen, and first seen bound */
  readonly #pods = new Map<string, SeenPod>();
  #bound = 0;
  #lastBindAt: number | undefined;
  #restarts = 0;

  /**
   * Reads until something fails, and rejects with that. A watch that ends is resumed where it ended: an API server drops the
   * ones that it cannot write to fast enough, and what happened meanwhile is told at once.
   */
  async follow(open: OpenPodWatch, resourceVersion: string): Promise<never> {
    for (let from = resourceVersion; ; this.#restarts++) from = await this.#read(await open(from), from);
  }

  /** Answers the resource version of the last event. */
  async #read(body: AsyncIterable<Uint8Array>, from: string): Promise<string> {
    let last = from;
    let rest: Uint8Array = new Uint8Array();
    for await (const chunk of body) {
      const arrivedAt = monotonicNow();
      const data = rest.length === 0 ? Buffer.from(chunk) : Buffer.concat([rest, chunk]);
      let start = 0;
      for (let end = data.indexOf(newline); end !== -1; end = data.indexOf(newline, start)) {
        last = this.#take(JSON.parse(data.toString('utf8', start, end)) as PodEvent, arrivedAt);
        start = end + 1;
      }
      rest = data.subarray(start);
    }
    return last;
  }

  #take({ type, object }: PodEvent, at: number): string {
    if (type === 'ERROR' || object.metadata === undefined) {
      throw new Error(`the watch of the pods failed: ${object.message}`);
    }
    const { name, resourceVersion } = object.metadata;
    let pod = this.#pods.get(name);
    if (pod === undefined) this.#pods.set(name, (pod = { createdAt: at, boundAt: undefined }));
    if (pod.boundAt === undefined && object.spec?.nodeName !== undefined) {
      pod.boundAt = at;
      this.#lastBindAt = at;
      this.#bound++;
    }
    return resourceVersion;
  }

  /** How often the watch ended and was resumed. */
  get restarts(): number {
    return this.#restarts;
  }

  get seen(): number {
    return this.#pods.size;
  }

  get bound(): number {
    return this.#bound;
  }

  get lastBindAt(): number | undefined {
    return this.#lastBindAt;
  }

  /** Undefined for a pod that has not been seen. */
  timesOf(name: string): { readonly createdAt: number; readonly boundAt: number | undefined } | undefined {
    return this.#pods.get(name);
  }
}
