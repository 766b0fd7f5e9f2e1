import { readFile } from 'node:fs/promises';
import { Agent, request } from 'undici';

/** In MB of 2^20 bytes; the heap includes garbage. */
export interface MemoryReading {
  readonly residentMb: number;
  readonly heapMb: number;
}

/** Memory of a scheduler over time. Linux only. */
export class MemoryReadings {
  readonly #pid: number;
  readonly #url: string;
  readonly #agent = new Agent({ connect: { rejectUnauthorized: false } });
  readonly all: MemoryReading[] = [];

  constructor(pid: number, port: number) {
    this.#pid = pid;
    this.#url = `https://127.0.0.1:${port}/metrics`;
  }

  async read(): Promise<MemoryReading> {
    const status = await readFile(`/proc/${this.#pid}/status`, 'utf8');
    const residentMb = Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1024;
    const { body, statusCode } = await request(this.#url, { dispatcher: this.#agent });
    const text = await body.text();
    if (statusCode !== 200) throw new Error(`GET /metrics: ${statusCode} ${text.slice(0, 200)}`);
    const heapMb = Number(/^nodejs_heap_size_used_bytes (\S+)$/m.exec(text)?.[1]) / 2 ** 20;
    this.all.push({ residentMb, heapMb });
    return { residentMb, heapMb };
  }
}
