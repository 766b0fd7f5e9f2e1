import { Buffer } from 'node:buffer';
import { monotonicNow } from '../monotonic-now.ts';

/** As much of a watch event as matters here. */
interface PodEvent {
  readonly type: string;
  readonly object: {
    readonly metadata?: { readonly name: string };
    readonly spec?: { readonly nodeName?: string };
    readonly message?: string;
  };
}

interface SeenPod {
  readonly createdAt: number;
  boundAt: number | undefined;
}

const newline = 0x0a;

/** What one watch of pods has told, each time being when the event came in. */
export class PodWatch {
  /** pod name -> when it was first seen, and first seen bound */
  readonly #pods = new Map<string, SeenPod>();
  #bound = 0;
  #lastBindAt: number | undefined;

  /** Reads the body of a watch to its end. Rejects for an event that is not a pod's, and when the body ends. */
  async read(body: AsyncIterable<Uint8Array>): Promise<never> {
    let rest: Uint8Array = new Uint8Array();
    for await (const chunk of body) {
      const arrivedAt = monotonicNow();
      const data = rest.length === 0 ? Buffer.from(chunk) : Buffer.concat([rest, chunk]);
      let start = 0;
      for (let end = data.indexOf(newline); end !== -1; end = data.indexOf(newline, start)) {
        this.#take(JSON.parse(data.toString('utf8', start, end)) as PodEvent, arrivedAt);
        start = end + 1;
      }
      rest = data.subarray(start);
    }
    throw new Error('the watch of the pods ended');
  }

  #take({ type, object }: PodEvent, at: number): void {
    if (type === 'BOOKMARK') return;
    const name = object.metadata?.name;
    if (type === 'ERROR' || name === undefined) throw new Error(`the watch of the pods failed: ${object.message}`);
    let pod = this.#pods.get(name);
    if (pod === undefined) this.#pods.set(name, (pod = { createdAt: at, boundAt: undefined }));
    if (pod.boundAt !== undefined || object.spec?.nodeName === undefined) return;
    pod.boundAt = at;
    this.#lastBindAt = at;
    this.#bound++;
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
