import { spawn } from 'node:child_process';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { setPriority } from 'node:os';
import { createInterface } from 'node:readline';
import type { Answer, Question } from './question.ts';

interface Waiting {
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: Error) => void;
}

/**
 * kube-scheduler's own plugins, in the program of test/planes/real/modules/fidelity. It reads a line of JSON for each question and writes
 * one for each answer, in the same order.
 */
export class Oracle implements AsyncDisposable {
  readonly #child: ChildProcessWithoutNullStreams;
  /** Unanswered questions, in order. */
  readonly #waiting: Waiting[] = [];
  readonly #ended: Promise<void>;
  #output = '';

  /** Starts the program at `path` at a low priority; dispose of it to end it. */
  constructor(path: string) {
    this.#child = spawn(path, { stdio: 'pipe' });
    if (this.#child.pid !== undefined) setPriority(this.#child.pid, 10);
    this.#child.stderr.on('data', (chunk: unknown) => (this.#output = `${this.#output}${String(chunk)}`.slice(-4000)));
    createInterface({ input: this.#child.stdout }).on('line', (line) => {
      this.#waiting.shift()?.resolve(JSON.parse(line) as Answer);
    });
    // The end of the process reports write failures.
    this.#child.stdin.on('error', () => undefined);
    this.#ended = new Promise((resolve) => {
      this.#child.once('error', (error) => (this.#output += String(error)));
      this.#child.once('close', (code) => {
        const error = new Error(`kube-scheduler's plugins ended with ${code}: ${this.#output.trim()}`);
        for (const { reject } of this.#waiting.splice(0)) reject(error);
        resolve();
      });
    });
  }

  /** Rejects when the program ends first. */
  ask(question: Question): Promise<Answer> {
    return new Promise<Answer>((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      this.#child.stdin.write(`${JSON.stringify(question)}\n`);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.stdin.end();
    await this.#ended;
  }
}
