import { Buffer } from 'node:buffer';
import { monotonicNow } from '../monotonic-now.ts';

/** The fields of a watch event that the benchmark reads. */
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

/** Opens a watch of the pods from a resource version, and returns its body. */
export type OpenPodWatch = (resourceVersion: string) => Promise<AsyncIterable<Uint8Array>>;

/** Records when the watch events of pods arrived. */
export class PodWatch {
  /** pod name -> times of its first event, and of its first event as a bound pod */
  readonly #pods = new Map<string, SeenPod>();
  /** names of deleted pods */
  readonly #deleted = new Set<string>();
  #bound = 0;
  #lastBindAt: number | undefined;
  #restarts = 0;

  /**
   * Reads watches until an error occurs, and rejects with it. Resumes a watch that ends: an API server closes watches that are too slow, and
   * then sends the missed events at once.
   */
  async follow(open: OpenPodWatch, resourceVersion: string): Promise<never> {
    for (let from = resourceVersion; ; this.#restarts++) from = await this.#read(await open(from), from);
  }

  /** Reads a watch to its end. Resolves to the resource version of the last event. */
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
    if (type === 'DELETED') this.#deleted.add(name);
    let pod = this.#pods.get(name);
    if (pod === undefined) this.#pods.set(name, (pod = { createdAt: at, boundAt: undefined }));
    if (pod.boundAt === undefined && object.spec?.nodeName !== undefined) {
      pod.boundAt = at;
      this.#lastBindAt = at;
      this.#bound++;
    }
    return resourceVersion;
  }

  /** Number of times that the watch ended and was resumed. */
  get restarts(): number {
    return this.#restarts;
  }

  get seen(): number {
    return this.#pods.size;
  }

  get bound(): number {
    return this.#bound;
  }

  /** Returns the names of the pods that have been deleted. */
  get deleted(): ReadonlySet<string> {
    return this.#deleted;
  }

  get lastBindAt(): number | undefined {
    return this.#lastBindAt;
  }

  /** Returns the times of a pod, or undefined if it has no event yet. */
  timesOf(name: string): { readonly createdAt: number; readonly boundAt: number | undefined } | undefined {
    return this.#pods.get(name);
  }
}
