import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { deferred } from '../../../src/base/deferred.ts';
import { hangsMs } from '../../planes/patience.ts';

/** A process that runs until it is ended. */
export interface Following {
  /** Its output so far. */
  readonly stdout: string;
  /** Resolves to the match once the output matches; rejects after ten seconds, or when the process ends first. */
  until(pattern: RegExp): Promise<RegExpExecArray>;
  /** Resolves to its exit code; null when the signal killed it. */
  end(signal?: NodeJS.Signals): Promise<number | null>;
}

export function followProcess(path: string, args: readonly string[], env: NodeJS.ProcessEnv): Following {
  const child = spawn(path, args, { env });
  const closed = once(child, 'close') as Promise<[number | null]>;
  let stdout = '';
  let changed = deferred();
  const notice = (): void => {
    changed.resolve();
    changed = deferred();
  };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    notice();
  });
  child.stderr.resume();
  child.on('close', notice);
  return {
    get stdout() {
      return stdout;
    },
    async until(pattern) {
      let late = false;
      const alarm = setTimeout(() => {
        late = true;
        notice();
      }, hangsMs);
      try {
        for (;;) {
          const match = pattern.exec(stdout);
          if (match !== null) return match;
          if (late || child.exitCode !== null) {
            throw new Error(`${[path, ...args].join(' ')} did not print ${String(pattern)} but:\n${stdout}`);
          }
          await changed.promise;
        }
      } finally {
        clearTimeout(alarm);
      }
    },
    async end(signal = 'SIGTERM') {
      child.kill(signal);
      const [code] = await closed;
      return code;
    },
  };
}
