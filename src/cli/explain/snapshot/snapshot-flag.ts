import { Option } from 'commander';

/** The flag of commands that can answer from a file. */
export interface SnapshotFlag {
  /** Path. Absent: the cluster is asked. */
  readonly snapshot?: string;
}

export function snapshotOption(): Option {
  return new Option('--snapshot <path>', 'A file that tutti snapshot has written. No cluster is asked.');
}
