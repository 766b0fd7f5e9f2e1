import { readFile } from 'node:fs/promises';

/** Clock tick of /proc: Linux always uses hundredths of a second there. */
const msPerTick = 10;

/** Resource usage of a process from the kernel. Linux only. */
export interface ProcessUsage {
  /** User and system CPU time of all threads since the start. */
  readonly cpuMs: number;
  /** Peak resident memory (VmHWM), in MB of 2^20 bytes. */
  readonly peakMb: number;
}

/** Rejects if the process does not exist. */
export async function processUsage(pid: number): Promise<ProcessUsage> {
  const [stat, status] = await Promise.all([
    readFile(`/proc/${pid}/stat`, 'utf8'),
    readFile(`/proc/${pid}/status`, 'utf8'),
  ]);
  return { cpuMs: parseCpuTicks(stat) * msPerTick, peakMb: parsePeakKb(status) / 1024 };
}

/** Parses utime + stime of /proc/PID/stat. The name in parentheses can contain anything, so fields count from the last parenthesis. */
export function parseCpuTicks(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(fields[11]) + Number(fields[12]);
}

function parsePeakKb(status: string): number {
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]);
}
