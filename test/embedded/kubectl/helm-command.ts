import { execFile } from 'node:child_process';
import { join } from 'node:path';
import process from 'node:process';
import { hangsMs } from '../../planes/patience.ts';

/** The real Helm with a kubeconfig and a home of its own, and nothing of the user's. */
export class Helm {
  readonly #path: string;
  readonly #environment: NodeJS.ProcessEnv;

  constructor(path: string, kubeconfigPath: string, folder: string) {
    this.#path = path;
    this.#environment = { PATH: process.env.PATH, HOME: join(folder, 'helm'), KUBECONFIG: kubeconfigPath };
  }

  /** Runs it and gives what it printed. Rejects unless the exit code is 0. */
  async ok(words: string, ...rest: string[]): Promise<string> {
    const { code, text } = await this.#run([...words.split(' '), ...rest]);
    if (code !== 0) throw new Error(`helm ${[words, ...rest].join(' ')} exited with ${code}: ${text}`);
    return text;
  }

  /** Runs it and gives what it complained of. Rejects unless it failed. */
  async fails(words: string, ...rest: string[]): Promise<string> {
    const { code, text } = await this.#run([...words.split(' '), ...rest]);
    if (code === 0) throw new Error(`helm ${[words, ...rest].join(' ')} did not fail: ${text}`);
    return text;
  }

  #run(words: readonly string[]): Promise<{ code: number; text: string }> {
    return new Promise((resolve) => {
      execFile(
        this.#path,
        [...words],
        { env: this.#environment, maxBuffer: 2 ** 24, timeout: hangsMs },
        (error, stdout, stderr) => {
          const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
          resolve({ code, text: code === 0 ? stdout : `${stderr}${stdout}` });
        },
      );
    });
  }
}
