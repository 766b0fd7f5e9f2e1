import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { TestProcess } from '../../src/cli/testing/test-process.ts';
import { selectedSpecs, specResult } from './spec-report.ts';
import type { SpecResult } from './spec-report.ts';

/** Kubernetes' end-to-end specs of scheduling, as the program `e2e-scheduling`. */
export class SpecProgram {
  readonly #path: string;
  readonly #folder: string;

  /** `folder` receives the report and the output of each run. */
  constructor(path: string, folder: string) {
    this.#path = path;
    this.#folder = folder;
  }

  /** Returns the full names of the specs that match a regular expression of Go, sorted. */
  async list(focus: string): Promise<string[]> {
    const { report, output } = await this.#run('list', ['--ginkgo.dry-run', `--ginkgo.focus=${focus}`]);
    if (report === undefined) throw new Error(`cannot list the specs: ${output}`);
    return selectedSpecs(report);
  }

  /** Runs one spec on the cluster. `label` names its files. After the timeout, the spec is interrupted, cleans up and has failed. */
  async run(name: string, options: RunOptions): Promise<SpecResult> {
    const { label, kubeconfig, timeoutMs } = options;
    const { report, output } = await this.#run(label, [
      `--kubeconfig=${kubeconfig}`,
      '--provider=skeleton',
      // These ask kubelets, and nodes without a kubelet do not answer.
      '--dump-logs-on-failure=false',
      `--ginkgo.focus=${escaped(name)}$`,
      `--ginkgo.timeout=${timeoutMs}ms`,
      '--ginkgo.v',
    ]);
    if (report === undefined) return { name, state: 'failed', seconds: 0, reason: `no report; see ${output}` };
    return specResult(report, name);
  }

  /** Runs the program. Without a report, it ended early: its output says why. */
  async #run(label: string, flags: readonly string[]): Promise<{ readonly report?: string; readonly output: string }> {
    const report = join(this.#folder, `${label}.json`);
    const output = join(this.#folder, `${label}.log`);
    const child = new TestProcess([...flags, `--ginkgo.json-report=${report}`, '--ginkgo.no-color'], {
      program: [this.#path],
      stdoutTo: output,
      stderrTo: `${output}.stderr`,
    });
    await child.ended();
    const text = await readFile(report, 'utf8').catch(() => undefined);
    return { ...(text !== undefined && { report: text }), output };
  }
}

interface RunOptions {
  readonly label: string;
  readonly kubeconfig: string;
  readonly timeoutMs: number;
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
