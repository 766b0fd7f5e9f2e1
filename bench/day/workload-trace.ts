import { clusterGpus } from './job.ts';
import type { Job, SizeClass } from './job.ts';

/** Field of a line in the Standard Workload Format, from 0. */
const field = { submitted: 1, runtime: 3, allocated: 4, requested: 7, declared: 8 } as const;

export interface Trace {
  readonly jobs: readonly Job[];
  /** Lines of jobs that never ran, or that need more processors than the cluster has GPUs. */
  readonly skipped: number;
}

/**
 * Parses a trace in the Standard Workload Format (https://www.cs.huji.ac.il/labs/parallel/workload/swf.html): each processor is a member with one
 * GPU, and the time of the first job is 0. Throws with the line number if a line is no job.
 */
export function parseTrace(text: string): Trace {
  const jobs: Job[] = [];
  let skipped = 0;
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '' || line.trimStart().startsWith(';')) continue;
    const fields = line.trim().split(/\s+/).map(Number);
    if (fields.length < 18 || fields.some(Number.isNaN)) {
      throw new Error(
        `line ${index + 1}: a job must have 18 numbers in the Standard Workload Format (got "${line.trim()}")`,
      );
    }
    const runtimeMs = fields[field.runtime]! * 1000;
    const members = Math.max(fields[field.allocated]!, fields[field.requested]!);
    if (runtimeMs <= 0 || members <= 0 || members > clusterGpus) {
      skipped++;
      continue;
    }
    const declared = fields[field.declared]!;
    jobs.push({
      id: jobs.length,
      class: classOf(members),
      submittedAt: fields[field.submitted]! * 1000,
      members,
      gpus: 1,
      runtimeMs,
      declaredMs: declared > 0 ? declared * 1000 : runtimeMs,
    });
  }
  jobs.sort((a, b) => a.submittedAt - b.submittedAt);
  const [first] = jobs;
  return { jobs: jobs.map((job) => ({ ...job, submittedAt: job.submittedAt - first!.submittedAt })), skipped };
}

function classOf(members: number): SizeClass {
  return members <= 8 ? 'small' : members < 128 ? 'medium' : 'large';
}
